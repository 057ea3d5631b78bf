// Runs attacks alone and together, and measures what other tenants notice.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Attacker } from './attacker-process.ts'
import type { Attack } from './attacks.ts'
import { type Figure, isWithin } from './figures.ts'
import type { TargetServer } from './target.ts'
import type { Victim } from './victim.ts'

export const MAX_EVENT_LOOP_DELAY_MS = 100
/** From the moment that a tenant's event is sent until its first delivery arrives. */
const MAX_DELIVERY_MS = 2_000
/** From the request for a dry run until its result, for a script that takes no time itself. */
const MAX_SCRIPT_MS = 1_000

/** What an event leaves to do after its response. */
const SETTLE_MS = 2_000
const ROUNDS_ALONE = 3
const EVENT_INTERVAL_MS = 125
const REPORT_INTERVAL_MS = 5_000

/** A timer of an idle process is hardly ever later than this, unless other programs occupy the machine. */
export const MAX_IDLE_DELAY_MS = 20

export interface Parties {
  target: TargetServer
  attacker: Attacker
  victim: Victim
}

/** What the machine itself adds to every figure. */
export async function measureIdle(target: TargetServer): Promise<number> {
  await target.eventLoopDelay()
  await sleep(SETTLE_MS)
  return target.eventLoopDelay()
}

/** Another program may delay the server once; what an attack causes itself exceeds the bound every time. */
const MAX_MEASUREMENTS = 5

export async function measureSteadily(
  measure: () => Promise<Figure[]>,
  onRepeat: (figures: readonly Figure[]) => void,
): Promise<Figure[]> {
  for (let count = 1; ; count++) {
    // oxlint-disable-next-line no-await-in-loop -- only if the one before exceeded a bound
    const figures = await measure()
    if (count === MAX_MEASUREMENTS || figures.every(isWithin)) return figures
    onRepeat(figures)
  }
}

export async function measureAlone(
  { name, delaysScripts }: Attack,
  { target, attacker, victim }: Parties,
): Promise<Figure[]> {
  await target.eventLoopDelay()
  await attacker.prepare(name)
  const delays = [await target.eventLoopDelay()]
  await attacker.check(name)
  victim.takeFigures()
  for (let count = 0; count < ROUNDS_ALONE; count++) {
    // oxlint-disable-next-line no-await-in-loop -- the rounds are parallel in themselves
    await Promise.all([attacker.attack(name), delaysScripts && victim.runScript()])
  }
  await sleep(SETTLE_MS)
  delays.push(await target.eventLoopDelay())
  const figures: Figure[] = [
    { name, value: Math.max(...delays), unit: 'ms', max: MAX_EVENT_LOOP_DELAY_MS },
  ]
  if (delaysScripts) {
    const { scriptMs } = victim.takeFigures()
    const script = 'slowest script of another tenant during that'
    figures.push({ name: script, value: scriptMs, unit: 'ms', max: MAX_SCRIPT_MS })
  }
  return figures
}

/** All attacks that are prepared. */
export async function measureMix(
  { seconds, maxDelayMs }: { seconds: number; maxDelayMs: number },
  { target, attacker, victim }: Parties,
  progress: (text: string) => void,
): Promise<Figure[]> {
  victim.takeFigures()
  await target.eventLoopDelay()
  const endsAt = performance.now() + seconds * 1000
  let delay = 0
  async function watch(): Promise<void> {
    const current = await target.eventLoopDelay()
    delay = Math.max(delay, current)
    const left = Math.max(0, Math.round((endsAt - performance.now()) / 1000))
    progress(`  ${left} s left, event-loop delay ${Math.round(current)} ms`)
  }
  await Promise.all([
    attacker.mix(seconds),
    every(EVENT_INTERVAL_MS, endsAt, victim.sendEvent),
    every(REPORT_INTERVAL_MS, endsAt, watch),
  ])
  await sleep(MAX_DELIVERY_MS)
  await watch()
  const { deliveryMs, lostEvents } = victim.takeFigures()
  return [
    { name: 'mix: event-loop delay', value: delay, unit: 'ms', max: maxDelayMs },
    {
      name: 'mix: slowest delivery of another tenant',
      value: deliveryMs,
      unit: 'ms',
      max: MAX_DELIVERY_MS,
    },
    {
      name: 'mix: events of another tenant that were not delivered',
      value: lostEvents,
      unit: 'events',
      max: 0,
    },
  ]
}

/** At a steady rate, whether or not earlier calls have finished. */
async function every(intervalMs: number, endsAt: number, work: () => Promise<void>): Promise<void> {
  const started: Promise<void>[] = []
  for (let at = performance.now(); at < endsAt; at += intervalMs) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other is the point
    await sleep(Math.max(0, at - performance.now()))
    started.push(work())
  }
  await Promise.all(started)
}
