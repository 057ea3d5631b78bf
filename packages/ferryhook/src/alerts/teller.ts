/**
 * Tells users what they want to know. The first alert of its kind goes out at once, what follows
 * within minutes goes out together. Kept in memory: whoever misses one still finds everything in the
 * API, and no event waits for an alert.
 */
import type { Clock } from '@strongroom/kit/clock'
import type { Log } from '@strongroom/kit/log'
import type { DataLayer } from '../db/data-layer.ts'
import type { Timers } from '../delivery/timers.ts'
import type { AlertSettings } from '../items/alert-settings.ts'
import type { Alert, Alerts } from './alert.ts'
import type { Channels } from './channels.ts'
import { groupOf, type Telling, tellingOf } from './telling.ts'

const TOGETHER_MS = 300_000
/** Before each further try. */
const PAUSES_MS = [10_000, 60_000, 300_000]
const AT_ONCE = 20
const MOST_GROUPS = 10_000
const MOST_WAITING = 10_000

/** Another try would end the same. */
const final: ReadonlySet<string> = new Set(['blocked_address', 'invalid_url', 'invalid_request'])

interface Group {
  last: Alert
  at: number
  count: number
}

export interface TellerDeps {
  layer: Pick<DataLayer, 'alertSettings'>
  channels: Channels
  clock: Clock
  timers: Timers
  log: Log
}

export interface Teller extends Alerts {
  /** Resolves when nothing is under way; what is collected or tried later may be still to come. */
  settled(): Promise<void>
  /** Tells what was collected, once, and resolves when all that is under way has ended. */
  close(): Promise<void>
}

export function createTeller(deps: TellerDeps): Teller {
  const { layer, channels, clock, timers, log } = deps
  const groups = new Map<string, Group>()
  const cancels = new Set<() => void>()
  const waiting: (() => Promise<void>)[] = []
  const underWay = new Set<Promise<void>>()
  let isClosed = false

  /** So many at once; whoever has a slow webhook holds up the others' alerts only for a moment. */
  function enqueue(work: () => Promise<void>): void {
    if (waiting.length >= MOST_WAITING) return log.warn('Too many alerts wait: one is left out')
    waiting.push(work)
    next()
  }

  function next(): void {
    if (underWay.size >= AT_ONCE) return
    const work = waiting.shift()
    if (!work) return
    const done = work()
      .catch((error: unknown) => log.warn('An alert could not be told', { error }))
      .finally(() => {
        underWay.delete(done)
        next()
      })
    underWay.add(done)
  }

  function after(ms: number, call: () => void): void {
    const cancel = timers.after(ms, () => {
      cancels.delete(cancel)
      call()
    })
    cancels.add(cancel)
  }

  async function tell(telling: Telling): Promise<void> {
    const settings = await settingsFor(telling)
    if (settings?.email) enqueue(() => mail(settings, telling, 0))
    await notify(telling, 0, settings)
  }

  /** Undefined if the user does not want to hear of it. */
  async function settingsFor({ userId, kind }: Telling): Promise<AlertSettings | undefined> {
    const settings = await layer.alertSettings.get(userId)
    return settings?.kinds.some((wanted) => wanted === kind) ? settings : undefined
  }

  async function notify(
    telling: Telling,
    tried: number,
    settings: AlertSettings | undefined,
  ): Promise<void> {
    const made = settings && (await channels.webhook(settings, telling))
    if (!made) return
    if (made.end === 'delivered') {
      if (settings.failedAt !== undefined) await layer.alertSettings.note(settings, undefined)
      return
    }
    // Asked again each time: the user may have corrected the address meanwhile.
    const retry = async (more: number) => notify(telling, more, await settingsFor(telling))
    if (!final.has(made.end) && again(tried, retry)) return
    const { statusCode } = made.attempt
    await layer.alertSettings.note(settings, statusCode > 0 ? `http_${statusCode}` : made.end)
  }

  async function mail(settings: AlertSettings, telling: Telling, tried: number): Promise<void> {
    try {
      await channels.mail(settings, telling)
    } catch (error) {
      if (!again(tried, (more) => mail(settings, telling, more))) throw error
    }
  }

  /** False if there will be no other try. */
  function again(tried: number, work: (tried: number) => Promise<void>): boolean {
    const pause = PAUSES_MS[tried]
    if (pause === undefined || isClosed) return false
    after(pause, () => enqueue(() => work(tried + 1)))
    return true
  }

  function raise(alert: Alert): void {
    const name = groupOf(alert)
    const group = groups.get(name)
    if (group) {
      groups.set(name, { last: alert, at: clock.now(), count: group.count + 1 })
      return
    }
    enqueue(() => tell(tellingOf(alert, { at: clock.now(), count: 1 })))
    if (groups.size >= MOST_GROUPS || isClosed) return
    groups.set(name, { last: alert, at: clock.now(), count: 0 })
    after(TOGETHER_MS, () => tellGroup(name))
  }

  function tellGroup(name: string): void {
    const group = groups.get(name)
    groups.delete(name)
    if (!group || group.count === 0) return
    const { last, at, count } = group
    enqueue(() => tell(tellingOf(last, { at, count })))
    if (isClosed) return
    groups.set(name, { ...group, count: 0 })
    after(TOGETHER_MS, () => tellGroup(name))
  }

  async function settled(): Promise<void> {
    while (underWay.size > 0) await Promise.allSettled(underWay)
  }

  return {
    raise,
    settled,
    async close() {
      isClosed = true
      for (const cancel of cancels) cancel()
      for (const name of groups.keys()) tellGroup(name)
      await settled()
    },
  }
}
