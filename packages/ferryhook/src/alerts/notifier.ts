/**
 * Sends alerts to users. The first alert of a group is sent immediately; those that follow within
 * minutes are sent as one message. Everything is in memory: an alert that is lost can still be found
 * through the API, and no event waits for an alert.
 */
import { createInFlight } from '@strongroom/kit/in-flight'
import type { Log } from '@strongroom/kit/log'
import type { Clock } from '@strongroom/platform/clock'
import pLimit from 'p-limit'
import { permanentFailures } from '../outbound/exchange.ts'
import type { Stores } from '../stores.ts'
import type { StartTimer } from '@strongroom/platform/timers'
import { type Alert, type AlertMessage, type Alerts, groupKey, toAlertMessage } from './alert.ts'
import type { Channels } from './channels.ts'
import type { AlertSettings } from './item.ts'

const GROUP_MS = 300_000
/** Delays before each retry. */
const RETRY_DELAYS_MS = [10_000, 60_000, 300_000]
/** High enough that a slow webhook delays the alerts of others only briefly. */
const SEND_CONCURRENCY = 20
const MAX_GROUPS = 10_000
const MAX_QUEUED = 10_000

interface Group {
  last: Alert
  at: number
  count: number
}

export interface AlertNotifierDeps {
  stores: Pick<Stores, 'alertSettings' | 'sources'>
  channels: Channels
  clock: Clock
  startTimer: StartTimer
  log: Log
}

export interface AlertNotifier extends Alerts {
  /** Resolves when no message is queued or being sent; groups and retries may still follow. */
  settled(): Promise<void>
  /** Sends the open groups, without retries, and resolves when everything is sent. */
  close(): Promise<void>
}

export function createAlertNotifier(deps: AlertNotifierDeps): AlertNotifier {
  const { stores, channels, clock, startTimer, log } = deps
  const groups = new Map<string, Group>()
  const cancelTimers = new Set<() => void>()
  const limit = pLimit(SEND_CONCURRENCY)
  const inFlight = createInFlight()
  let isClosed = false

  function enqueue(work: () => Promise<void>): void {
    if (limit.pendingCount >= MAX_QUEUED) return log.warn('alert dropped, the queue is full')
    void inFlight.track(
      limit(work).catch((error: unknown) => log.warn('alert delivery failed', { error })),
    )
  }

  function after(ms: number, call: () => void): void {
    const cancel = startTimer(ms, () => {
      cancelTimers.delete(cancel)
      call()
    })
    cancelTimers.add(cancel)
  }

  async function send(alert: Alert, { at, count }: Omit<Group, 'last'>): Promise<void> {
    const message = toAlertMessage(alert, { at, count, sourceName: await sourceNameOf(alert) })
    const settings = await settingsFor(message)
    if (settings?.email) enqueue(() => sendMail(settings, message, 0))
    await sendWebhook(settings, message, 0)
  }

  async function sourceNameOf({ userId, sourceId }: Alert): Promise<string | undefined> {
    if (sourceId === undefined) return undefined
    const source = await stores.sources.getOwned(sourceId, userId, { includeDeleted: true })
    return source?.name
  }

  /** Undefined if the user does not subscribe to this kind of alert. */
  async function settingsFor({ userId, kind }: AlertMessage): Promise<AlertSettings | undefined> {
    const settings = await stores.alertSettings.get(userId)
    return settings?.kinds.some((wanted) => wanted === kind) ? settings : undefined
  }

  async function sendWebhook(
    settings: AlertSettings | undefined,
    message: AlertMessage,
    retries: number,
  ): Promise<void> {
    const result = settings && (await channels.webhook(settings, message))
    if (!result) return
    if (result.end === 'delivered') {
      if (settings.failedAt === undefined) return
      return stores.alertSettings.recordResult(settings, undefined)
    }
    // Read the settings again, because the user may have corrected the address.
    const isRetried =
      !permanentFailures.has(result.end) &&
      retryLater(retries, async (count) => sendWebhook(await settingsFor(message), message, count))
    if (isRetried) return
    const { statusCode } = result.attempt
    const failure = statusCode > 0 ? `http_${statusCode}` : result.end
    await stores.alertSettings.recordResult(settings, failure)
  }

  async function sendMail(
    settings: AlertSettings,
    message: AlertMessage,
    retries: number,
  ): Promise<void> {
    const result = await channels.mail(settings, message)
    if (result?.kind !== 'failed') return
    if (retryLater(retries, (count) => sendMail(settings, message, count))) return
    log.warn('alert delivery failed', { reason: result.reason })
  }

  /** Returns false if there are no retries left. */
  function retryLater(retries: number, attempt: (retries: number) => Promise<void>): boolean {
    const delayMs = RETRY_DELAYS_MS[retries]
    if (delayMs === undefined || isClosed) return false
    after(delayMs, () => enqueue(() => attempt(retries + 1)))
    return true
  }

  function raise(alert: Alert): void {
    const key = groupKey(alert)
    const group = groups.get(key)
    if (group) {
      groups.set(key, { last: alert, at: clock.now(), count: group.count + 1 })
      return
    }
    const at = clock.now()
    enqueue(() => send(alert, { at, count: 1 }))
    if (groups.size >= MAX_GROUPS || isClosed) return
    groups.set(key, { last: alert, at, count: 0 })
    after(GROUP_MS, () => sendGroup(key))
  }

  function sendGroup(key: string): void {
    const group = groups.get(key)
    groups.delete(key)
    if (!group || group.count === 0) return
    const { last, at, count } = group
    enqueue(() => send(last, { at, count }))
    if (isClosed) return
    groups.set(key, { ...group, count: 0 })
    after(GROUP_MS, () => sendGroup(key))
  }

  return {
    raise,
    settled: inFlight.settled,
    async close() {
      isClosed = true
      for (const cancel of cancelTimers) cancel()
      for (const key of groups.keys()) sendGroup(key)
      await inFlight.settled()
    },
  }
}
