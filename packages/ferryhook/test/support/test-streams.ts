/** The stream route on its own store, with a controlled clock. */
import { OpenAPIHono } from '@hono/zod-openapi'
import { createCursors } from '@strongroom/kit/cursor'
import { createApp } from '@strongroom/kit/http/app'
import type { AppEnv } from '@strongroom/kit/http/env'
import { silentLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { createOperators } from '@strongroom/kit/operators'
import type { TestStore } from '@strongroom/kit/testing/stores'
import { createPermissions } from '../../src/http/permissions.ts'
import { createAuthenticate } from '../../src/accounts/authentication.ts'
import type { CreateEventInput } from '../../src/events/event-insert.ts'
import type { Event } from '../../src/events/item.ts'
import { createLiveService, createSubscriptions, type LiveService } from '../../src/live/service.ts'
import { liveRoutes } from '../../src/live/routes.ts'
import { eventInput, openWorkbench, type Workbench } from './test-stores.ts'
import { type SteppedTimers, steppedTimers } from './stepped-timers.ts'
import { type Frame, readFrames } from './sse-frames.ts'

export interface LiveBench extends Workbench {
  timers: SteppedTimers
  live: LiveService
  /** Of all open streams. */
  subscriptionCount(): number
  newSource(): Promise<LiveSource>
}

export interface LiveSource {
  sourceId: string
  userId: string
  keyId: string
  key: string
  receive(given?: Partial<CreateEventInput>): Promise<Event>
  /** `env` is what Node's server provides: request and response. */
  request(headers?: Record<string, string>, env?: object, query?: string): Promise<Response>
  /** Another source of the same user. */
  addSource(name: string): Promise<string>
  /** The stream of all sources of the user, after it has sent `ready`. */
  openAccount(lastEventId?: string): Promise<LiveStream>
  /** A stream that has sent `ready`. */
  open(lastEventId?: string, query?: string): Promise<LiveStream>
}

interface LiveStream {
  ready: Frame
  /** The next frame that is not a comment, letting time pass until it arrives. */
  next(): Promise<Frame>
  /** The ids of the next events, in order of arrival. */
  ids(count: number): Promise<string[]>
  /** The next frame of any kind. */
  any(): Promise<Frame>
  /** The same without letting time pass. */
  atOnce(): Promise<Frame>
  leave(): Promise<void>
}

export async function openLiveBench(store: TestStore): Promise<LiveBench> {
  const bench = await openWorkbench({ store })
  const { stores, clock, db } = bench
  const timers = steppedTimers(clock)
  const tokens = {
    issue: () => Promise.reject(new Error('No sessions here')),
    verify: async () => undefined,
  }
  const authenticate = createAuthenticate({ stores, tokens, clock })
  const operators = createOperators({ db, clock })
  const permit = createPermissions({ authenticate, stores, operators })
  const cursors = { ...createCursors(new Uint8Array(32).fill(7)), refresh: async () => {} }
  const subscriptions = createSubscriptions()
  let subscribed = 0
  const live = createLiveService({
    subscriptions: {
      ...subscriptions,
      subscribe(sourceId, call) {
        subscribed += 1
        const leave = subscriptions.subscribe(sourceId, call)
        return () => {
          subscribed -= 1
          leave()
        }
      },
    },
    stores,
    authenticate,
    clock,
    startTimer: timers.start,
    cursors,
    log: silentLog,
  })
  const app = createApp({ log: silentLog, metrics: createMetrics() })
  app.route('/', new OpenAPIHono<AppEnv>().route('/', liveRoutes({ permit, live })))
  let people = 0

  async function follow(answer: Response): Promise<LiveStream> {
    if (!answer.ok || !answer.body) throw new Error(await answer.text())
    const frames = readFrames(answer.body)
    const any = () => timers.until(frames.next())
    const next = async () => {
      for (;;) {
        const frame = await any()
        if (frame.event !== 'comment') return frame
      }
    }
    const ids = async (count: number) => {
      const found: string[] = []
      while (found.length < count) found.push(((await next()).data as { id: string }).id)
      return found
    }
    const { next: atOnce, leave } = frames
    return { ready: await next(), next, ids, any, atOnce, leave }
  }

  return {
    ...bench,
    timers,
    live,
    subscriptionCount: () => subscribed,
    async newSource() {
      const email = `live-${++people}@example.com`
      const { userId } = await stores.users.create({ email, name: 'Ada', plan: 'team' })
      const { sourceId } = await stores.sources.create({ userId, name: 'Shop', provider: 'custom' })
      const { key, apiKey } = await stores.apiKeys.create(userId, {
        name: 'listen',
        permissions: 'read',
      })
      const request = async (headers: Record<string, string> = {}, env: object = {}, query = '') =>
        app.request(
          `/v1/sources/${sourceId}/stream${query}`,
          { headers: { authorization: `Bearer ${key}`, ...headers } },
          env,
        )
      return {
        sourceId,
        userId,
        keyId: apiKey.keyId,
        key,
        receive: (given = {}) =>
          stores.events.create(eventInput({ sourceId, userId, plan: 'team', ...given })),
        request,
        async addSource(name) {
          const added = await stores.sources.create({ userId, name, provider: 'custom' })
          return added.sourceId
        },
        async openAccount(lastEventId) {
          const headers = {
            authorization: `Bearer ${key}`,
            ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
          }
          return follow(await app.request('/v1/events/stream', { headers }))
        },
        async open(lastEventId, query) {
          const answer = await request(
            lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
            {},
            query,
          )
          return follow(answer)
        },
      }
    },
  }
}
