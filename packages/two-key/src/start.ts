/** Composes the service: stores, routes and the task that runs every minute. */
import { createAuditLog } from '@strongroom/kit/audit-log'
import { createOperators } from '@strongroom/kit/operators'
import { createSafeFetch } from '@strongroom/kit/safe-fetch'
import type { RunningService, ServiceDeps } from '@strongroom/kit/service'
import { isRecent } from '@strongroom/platform/clock'
import { type StartTimer, startTimer as systemTimer } from '@strongroom/platform/timers'
import { createAuditedChanges } from './apps/audited.ts'
import { createAppRegistry } from './apps/registry.ts'
import { createAppService } from './apps/service.ts'
import { createTwoKeyStatus } from './apps/status.ts'
import { createDeadlines } from './deadlines.ts'
import { createSlackApi, type SlackApiOptions } from './existence/slack-api.ts'
import { createInstallationService } from './installations/service.ts'
import { createInstallationStates } from './installations/state.ts'
import { createTwoKeyMetrics } from './metrics.ts'
import { createRequestService } from './requests/service.ts'
import { createUpstream } from './requests/upstream.ts'
import type { TwoKeyNeeds } from './service.ts'
import { upstreamPolicy } from './settings.ts'

/** For tests. */
export interface StartOptions {
  fetch?: SlackApiOptions['fetch']
  startTimer?: StartTimer
}

const MAINTENANCE_MS = 60_000
/** Who deletes the token of an uninstalled app, in the audit log. No operator can have this name. */
const UNINSTALLER = 'slack:uninstallation'

export function startTwoKey(
  deps: ServiceDeps & TwoKeyNeeds,
  { fetch, startTimer = systemTimer }: StartOptions = {},
): RunningService {
  const { db, clock, log, config, publicUrl, secretBox: box } = deps
  const slack = { ...(fetch && { fetch }) }
  const metrics = createTwoKeyMetrics(deps.metrics)
  const safeFetch = createSafeFetch({ ...upstreamPolicy(config), clock, startTimer })
  const checkUrl = (url: string) => safeFetch.check(url)
  const apps = createAppService({ db, clock, box, checkUrl })
  const audited = createAuditedChanges({
    auditLog: createAuditLog(deps),
    appsOn: (on, tokenDb) => createAppService({ db: on, tokenDb, clock, box, checkUrl }),
  })
  const registry = createAppRegistry({
    ...deps,
    box,
    apps,
    metrics,
    startTimer,
    ...slack,
    uninstallDb: (app, team) => audited.tokenDb({ actor: UNINSTALLER }, 'deleted', app, team),
  })
  const requests = createRequestService({
    clock,
    log,
    registry,
    metrics,
    send: createUpstream(safeFetch),
    startDeadline: createDeadlines({ clock, startTimer }),
  })
  const slackApi = createSlackApi({ clock, baseUrl: config.TWO_KEY_SLACK_API_URL, ...slack })
  const installations = createInstallationService({
    apps,
    registry,
    slackApi,
    slackApiUrl: config.TWO_KEY_SLACK_API_URL,
    states: createInstallationStates(deps),
    tokenDb: (by, app, team) => audited.tokenDb(by, 'set', app, team),
    clock,
    log,
  })
  const operators = createOperators(deps)

  let stopTimer: (() => void) | undefined
  let isClosed = false
  const scheduleMaintenance = () => {
    if (isClosed) return
    stopTimer = startTimer(
      MAINTENANCE_MS,
      () => void registry.maintain().finally(scheduleMaintenance),
    )
  }
  if (deps.runsContinuously !== false) scheduleMaintenance()

  let maintainedAt: number | undefined
  async function flush(): Promise<void> {
    await Promise.all([registry.idle(), operators.settled()])
    // An instance may be removed at any time, so the first request already saves.
    if (maintainedAt !== undefined && isRecent(clock, maintainedAt, MAINTENANCE_MS)) return
    maintainedAt = clock.now()
    await registry.maintain()
  }

  return {
    flush,
    async loadRoutes() {
      const { twoKeyRoutes } = await import('./routes.ts')
      const routes = twoKeyRoutes({
        requests,
        installations,
        apps,
        audited,
        registry,
        slackApi,
        operators,
        publicUrl,
        clock,
      })
      return { routes }
    },
    status: createTwoKeyStatus({ registry, apps }),
    async close() {
      isClosed = true
      stopTimer?.()
      await registry.close()
      await safeFetch.close()
    },
  }
}
