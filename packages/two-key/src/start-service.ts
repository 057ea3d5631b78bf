/** Puts the service together: what is stored, the routes, and what runs each minute. */
import { OpenAPIHono } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { operatorOnly } from '@strongroom/kit/http/operator-only'
import { createOperators } from '@strongroom/kit/operators'
import { createSafeFetch } from '@strongroom/kit/safe-fetch'
import { type StartTimer, startTimer as systemTimer } from '@strongroom/kit/safe-fetch/deadline'
import { SafeFetchError } from '@strongroom/kit/safe-fetch/error'
import type { RunningService, ServiceDeps } from '@strongroom/kit/service'
import { twoKeyError } from './errors.ts'
import { createSlackApi, type SlackApiOptions } from './existence/slack-api.ts'
import type { TwoKeyNeeds } from './service-definition.ts'
import { createAppRuntime } from './service/app-runtime.ts'
import { appRoutes } from './service/app-routes.ts'
import { createDeadlines } from './existence/deadlines.ts'
import { createApps } from './service/apps.ts'
import { createTwoKeyMetrics } from './service/metrics.ts'
import type { OperatorDeps } from './service/operator-deps.ts'
import { createReceiver } from './service/receive.ts'
import { slackRoutes } from './service/slack-routes.ts'
import { tokenRoutes } from './service/token-routes.ts'
import { createUpstream } from './service/upstream.ts'
import { upstreamPolicy } from './settings.ts'
import { createTwoKeyStore } from './store.ts'
import { listTokens } from './tokens/list-tokens.ts'

export interface StartOptions {
  /** Tests have a Slack of their own, and move time. */
  fetch?: SlackApiOptions['fetch']
  startTimer?: StartTimer
}

const MINUTE_MS = 60_000

export function startTwoKey(
  deps: ServiceDeps & TwoKeyNeeds,
  { fetch, startTimer = systemTimer }: StartOptions = {},
): RunningService {
  const { db, clock, log, config, secretBox: box } = deps
  const metrics = createTwoKeyMetrics(deps.metrics)
  const safeFetch = createSafeFetch({ ...upstreamPolicy(config), startTimer })
  const apps = createApps({ db, clock, box })
  const slack = { ...(fetch && { fetch }) }
  const runtime = createAppRuntime({ ...deps, box, apps, metrics, startTimer, ...slack })
  const send = createUpstream(safeFetch)
  const deadlines = createDeadlines({ clock, startTimer })
  const operatorDeps: OperatorDeps = {
    db,
    apps,
    runtime,
    slackApi: createSlackApi({ clock, baseUrl: config.TWO_KEY_SLACK_API_URL, ...slack }),
    forOperators: {
      tags: ['Two-key'],
      security: [{ operator: [] }],
      middleware: operatorOnly(createOperators(deps)),
    },
    publicUrl: deps.publicUrl,
    checkUpstream(url) {
      try {
        safeFetch.check(url)
      } catch (error) {
        if (!(error instanceof SafeFetchError)) throw error
        const details = [{ path: 'body.upstream.url', message: error.message }]
        throw twoKeyError('invalid_upstream', { details })
      }
    },
    async removeTokens({ SK, isFirst }) {
      const app = isFirst ? {} : { app: SK }
      const { tokens } = createTwoKeyStore({ db, clock, ...app })
      for (const { team } of await listTokens(db, isFirst ? undefined : SK)) {
        await tokens.delete(team)
      }
    },
  }

  let stopTimer: (() => void) | undefined
  let isClosed = false
  const eachMinute = () => {
    if (isClosed) return
    stopTimer = startTimer(MINUTE_MS, () => void runtime.maintain().finally(eachMinute))
  }
  eachMinute()

  return {
    routes: new OpenAPIHono<AppEnv>()
      .route('/', slackRoutes(createReceiver({ clock, log, runtime, send, metrics, deadlines })))
      .route('/', appRoutes(operatorDeps))
      .route('/', tokenRoutes(operatorDeps)),
    async close() {
      isClosed = true
      stopTimer?.()
      await runtime.close()
      await safeFetch.close()
    },
  }
}
