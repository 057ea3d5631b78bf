/** A real Bolt app with listeners for everything, on the fake Slack, behind key two. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { testClock } from '@strongroom/kit/testing/test-clock'
import {
  App,
  AwsLambdaReceiver,
  HTTPReceiver,
  type Logger,
  LogLevel,
  type Receiver,
} from '@slack/bolt'
import { onTestFinished } from 'vitest'
import { existenceCheck, type ExistenceCheckOptions } from '../../src/adapters/bolt.ts'
import { createFakeSlack, type FakeSlackOptions } from '../../src/fake-slack/fake-slack.ts'
import { sampleTeam } from '../../src/fake-slack/fixtures.ts'
import { official, type Signed } from './signed.ts'
import { testTimers } from '@strongroom/kit/testing/test-timers'

/** Bolt responds after this time if no listener acknowledges; longer than any test. */
const NEVER_MS = 600_000

export interface BoltOptions extends ExistenceCheckOptions {
  slack?: FakeSlackOptions
  /** Before the request reaches Bolt. */
  lambda?: boolean
}

export function openBolt({ slack: slackOptions, lambda = false, ...options }: BoltOptions = {}) {
  const clock = testClock()
  const timers = testTimers(clock)
  const slack = createFakeSlack({ clock, ...slackOptions })
  const lines: string[] = []
  const logger = recordingLogger(lines)
  const { processBeforeResponse = false } = options
  const http = new HTTPReceiver({
    signingSecret: official.secret,
    processBeforeResponse,
    unhandledRequestTimeoutMillis: NEVER_MS,
    logger,
  })
  const aws = new AwsLambdaReceiver({
    signingSecret: official.secret,
    unhandledRequestTimeoutMillis: NEVER_MS,
    logger,
  })
  const receiver: Receiver = lambda ? aws : http
  const errors: unknown[] = []
  const handled: string[] = []
  const contexts: unknown[] = []
  const app = new App({
    receiver,
    logger,
    // Like an installation store that has a token for every team.
    authorize: async () => ({
      botToken: sampleTeam.token,
      botId: 'B0000SELF',
      botUserId: 'U0000BOT1',
    }),
    clientOptions: { fetch: slack.fetch },
  })
  app.use(existenceCheck({ clock, startTimer: timers.start, fetch: slack.fetch, ...options }))
  const record = (name: string, context: object) => {
    handled.push(name)
    contexts.push('twoKey' in context ? context.twoKey : undefined)
  }
  app.event('message', async ({ context }) => record('message', context))
  app.event('app_mention', async ({ context }) => record('app_mention', context))
  app.event('app_uninstalled', async ({ context }) => record('app_uninstalled', context))
  app.command('/deploy', async ({ ack, context }) => {
    record('command', context)
    await ack('deploying')
  })
  app.action('approve', async ({ ack, context }) => {
    record('block_actions', context)
    await ack()
  })
  app.shortcut('archive', async ({ ack, context }) => {
    record('message_action', context)
    await ack()
  })
  app.shortcut('new-ticket', async ({ ack, context }) => {
    record('shortcut', context)
    await ack()
  })
  app.view('ticket', async ({ ack, context }) => {
    record('view_submission', context)
    await ack({ response_action: 'clear' })
  })
  app.view({ callback_id: 'ticket', type: 'view_closed' }, async ({ ack, context }) => {
    record('view_closed', context)
    await ack()
  })
  app.options('choose', async ({ ack, context }) => {
    record('block_suggestion', context)
    await ack({ options: [] })
  })
  app.error(async (error) => {
    errors.push(error)
    throw error
  })

  async function overHttp({ rawBody, headers }: Signed) {
    const server = createServer((req, res) => http.requestListener(req, res)).listen(0, '127.0.0.1')
    onTestFinished(() => {
      server.close().closeAllConnections()
    })
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const response = await fetch(`http://127.0.0.1:${port}/slack/events`, {
      method: 'POST',
      headers,
      body: rawBody,
    })
    return { status: response.status, body: await response.text() }
  }

  async function onLambda({ rawBody, headers }: Signed) {
    const handler = aws.toHandler()
    const event: unknown = {
      headers: { ...headers, 'Content-Type': headers['content-type'] },
      body: rawBody.toString(),
    }
    const { statusCode, body } = await handler(event as Parameters<typeof handler>[0], {})
    return { status: statusCode, body: typeof body === 'string' ? body : '' }
  }

  // Bolt responds to events before it processes them.
  const processing: Promise<void>[] = []
  const process = app.processEvent.bind(app)
  app.processEvent = async (event) => {
    const processed = process(event)
    processing.push(processed)
    return processed
  }
  const response = lambda ? onLambda : overHttp
  const settled = async () => Promise.allSettled(processing)

  return {
    app,
    slack,
    clock,
    timers,
    handled,
    contexts,
    errors,
    lines,
    /** Only the response; Bolt may still be processing the request. */
    response,
    settled,
    async send(request: Signed) {
      const answered = await response(request)
      await settled()
      return answered
    },
  }
}

function recordingLogger(lines: string[]): Logger {
  const write = (...parts: unknown[]) =>
    void lines.push(
      parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).join(' '),
    )
  return {
    debug: () => {},
    info: write,
    warn: write,
    error: write,
    setLevel: () => {},
    getLevel: () => LogLevel.INFO,
    setName: () => {},
  }
}

/** Bolt takes no clock, so requests to it are signed with the current time. */
export const now = () => ({ timestamp: Math.floor(Date.now() / 1000) })
