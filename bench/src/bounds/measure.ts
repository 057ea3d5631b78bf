// Runs attacks alone and together, and measures what other tenants notice.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Attack, dryRunOf, scriptOf } from './attacks.ts'
import { type Figure, isWithin } from './figures.ts'
import type { Target } from './target.ts'

const MAX_EVENT_LOOP_DELAY_MS = 100
/**
 * All attacks together, with the attackers on the same cores. The largest field map alone takes half of
 * the 100 ms, and several turns and garbage collections add up here.
 */
const MAX_MIX_DELAY_MS = 300
/** From the moment that a tenant's event is sent until its first delivery arrives. */
const MAX_DELIVERY_MS = 5_000
/** From the request for a dry run until its result, for a script that takes no time itself. */
const MAX_SCRIPT_MS = 1_000

/** What an event leaves to do after its response. */
const SETTLE_MS = 2_000
const ROUNDS_ALONE = 3

/** A timer of an idle process is hardly ever later than this, unless other programs occupy the machine. */
export const MAX_IDLE_DELAY_MS = 30

/** What the machine itself adds to every figure. */
export async function measureIdle(target: Target): Promise<number> {
  // The first account loads what later ones share.
  await target.account()
  await target.eventLoopDelay()
  await sleep(SETTLE_MS)
  return target.eventLoopDelay()
}

/** Another program may delay the server once; what an attack causes itself exceeds the bound every time. */
const MAX_MEASUREMENTS = 3

export async function measureSteadily(attack: Attack, target: Target) {
  for (let count = 1; ; count++) {
    // oxlint-disable-next-line no-await-in-loop -- only if the one before exceeded a bound
    const measured = await measureAlone(attack, target)
    if (count === MAX_MEASUREMENTS || measured.figures.every(isWithin)) return measured
  }
}

async function measureAlone(attack: Attack, target: Target) {
  await target.eventLoopDelay()
  const round = await attack.prepare(target)
  const victim = attack.delaysScripts ? await createVictim(target) : undefined
  const delays = [await target.eventLoopDelay()]
  // An attack that the server rejects for another reason than its cost would measure nothing.
  await round()
  for (let count = 0; count < ROUNDS_ALONE; count++) {
    // oxlint-disable-next-line no-await-in-loop -- the rounds are parallel in themselves
    await Promise.all([
      ...Array.from({ length: attack.parallel }, () => attempt(round)),
      victim?.runScript(),
    ])
  }
  await sleep(SETTLE_MS)
  delays.push(await target.eventLoopDelay())
  const figures: Figure[] = [
    {
      name: attack.name,
      value: Math.max(...delays),
      unit: 'ms',
      max: MAX_EVENT_LOOP_DELAY_MS,
    },
  ]
  if (victim) {
    const name = 'slowest script of another tenant during that'
    figures.push({ name, value: victim.slowestScript(), unit: 'ms', max: MAX_SCRIPT_MS })
  }
  return { round, figures }
}

export async function runMix(
  prepared: readonly { attack: Attack; round: () => Promise<unknown> }[],
  target: Target,
  { seconds, progress }: { seconds: number; progress: (text: string) => void },
): Promise<Figure[]> {
  const victim = await createVictim(target)
  await target.eventLoopDelay()
  const endsAt = performance.now() + seconds * 1000
  const attacking = prepared.flatMap(({ attack, round }) =>
    Array.from({ length: attack.parallel }, () => repeatUntil(endsAt, attack.pauseMs, round)),
  )
  let delay = 0
  const watching = repeatUntil(endsAt, 5_000, async () => {
    const current = await target.eventLoopDelay()
    delay = Math.max(delay, current)
    const left = Math.max(0, Math.round((endsAt - performance.now()) / 1000))
    progress(`  ${left} s left, event-loop delay ${Math.round(current)} ms`)
  })
  const living = repeatUntil(endsAt, 250, victim.sendEvent)
  await Promise.all([...attacking, living, watching])
  await sleep(MAX_DELIVERY_MS)
  delay = Math.max(delay, await target.eventLoopDelay())
  const mix = 'mix: '
  return [
    { name: `${mix}event-loop delay`, value: delay, unit: 'ms', max: MAX_MIX_DELAY_MS },
    {
      name: `${mix}slowest delivery of another tenant`,
      value: victim.slowestDelivery(),
      unit: 'ms',
      max: MAX_DELIVERY_MS,
    },
    {
      name: `${mix}events of another tenant that were not delivered`,
      value: victim.lostEvents(),
      unit: 'events',
      max: 0,
    },
  ]
}

/** A tenant who does nothing unusual. */
async function createVictim(target: Target) {
  const { sink, url, account } = target
  const owner = await account()
  const id = await owner.source({}, [{ destinationUrl: sink.url('/victim') }])
  const script = await dryRunOf(owner, scriptOf('const transform = () => ({})'))
  const sent = new Map<string, number>()
  const scripts: number[] = []
  return {
    async sendEvent() {
      const event = String(sent.size)
      sent.set(event, performance.now())
      const response = await fetch(`${url}/in/${id}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id: event }),
      })
      if (!response.ok) throw new Error(`An event of the victim got ${response.status}`)
      await response.arrayBuffer()
    },
    async runScript() {
      const from = performance.now()
      await script()
      scripts.push(performance.now() - from)
    },
    slowestScript: () => Math.max(0, ...scripts),
    lostEvents: () => sent.size - sink.arrivals('/victim').size,
    slowestDelivery() {
      const arrivals = sink.arrivals('/victim')
      const times = [...sent].map(([event, at]) => (arrivals.get(event) ?? at) - at)
      return Math.max(0, ...times)
    },
  }
}

async function repeatUntil(
  endsAt: number,
  pauseMs: number,
  round: () => Promise<unknown>,
): Promise<void> {
  while (performance.now() < endsAt) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other is the point
    await attempt(round)
    // oxlint-disable-next-line no-await-in-loop -- one after the other is the point
    await sleep(pauseMs)
  }
}

/** An attack may be rejected, by a rate limit for example: that is a defence, not a failure. */
async function attempt(round: () => Promise<unknown>): Promise<void> {
  try {
    await round()
  } catch {
    // The figures show whether anybody noticed.
  }
}
