// `npm run bounds`: attacks a real server and checks that other tenants do not notice.

import { parseArgs } from 'node:util'
import { attacks } from './attacks.ts'
import { measureConsole } from './console.ts'
import { type Figure, isWithin, report } from './figures.ts'
import { startAttacker } from './attacker-process.ts'
import {
  MAX_EVENT_LOOP_DELAY_MS,
  MAX_IDLE_DELAY_MS,
  measureAlone,
  measureIdle,
  measureMix,
  measureSteadily,
  type Parties,
} from './measure.ts'
import { startTarget } from './target.ts'
import { createVictim } from './victim.ts'

const USAGE = `npm run bounds -- [--seconds <n>] [--no-mix | --mix-only] [--only <text>] [--max-mix-delay <ms>] [--json]

  --seconds   length of the hostile mix (default 60)
  --no-mix    each attack alone, without the hostile mix
  --mix-only  only the hostile mix
  --only      only attacks whose name contains the text, and no mix; "console" for its pages
  --max-mix-delay  bound of the event-loop delay in the mix, in ms (default ${MAX_EVENT_LOOP_DELAY_MS})
  --json      print the figures as JSON; progress is on standard error
`

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    only: { type: 'string' },
    'max-mix-delay': { type: 'string', default: String(MAX_EVENT_LOOP_DELAY_MS) },
    'no-mix': { type: 'boolean', default: false },
    'mix-only': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

if (values.help) {
  process.stdout.write(USAGE)
} else {
  const progress = (text: string) => void process.stderr.write(`${text}\n`)
  const target = await startTarget()
  const attacker = await startAttacker(target.url)
  const victim = await createVictim(target.url, progress)
  const close = () => Promise.all([attacker.close(), victim.close(), target.close()])
  // Otherwise the server would outlive an interrupted run.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void close().then(() => process.exit(130)))
  }
  let figures: Figure[]
  try {
    figures = await measureAll({ target, attacker, victim }, progress)
  } finally {
    await close()
  }
  process.stdout.write(values.json ? `${JSON.stringify(figures)}\n` : report(figures))
  process.exitCode = figures.every(isWithin) ? 0 : 1
}

async function measureAll(parties: Parties, progress: (text: string) => void): Promise<Figure[]> {
  const idleDelay = await measureIdle(parties.target)
  progress(`Event-loop delay of the idle server: ${Math.round(idleDelay)} ms`)
  if (idleDelay > MAX_IDLE_DELAY_MS) {
    progress('Other programs occupy the machine, so the figures are too high. Stop them first.')
  }
  const repeated = (measured: readonly Figure[]) =>
    progress(`Exceeded, measuring again:\n${report(measured)}`)
  const figures: Figure[] = []
  if (!values['mix-only'] && 'console'.includes(values.only ?? '')) {
    figures.push(...(await measureConsole(parties.target.url, progress, repeated)))
  }
  for (const attack of attacks.filter(({ name }) => name.includes(values.only ?? ''))) {
    progress(`Preparing: ${attack.name}`)
    if (values['mix-only']) {
      // oxlint-disable-next-line no-await-in-loop -- the server limits requests
      await parties.attacker.prepare(attack.name)
    } else {
      // oxlint-disable-next-line no-await-in-loop -- one after the other, so that the figures are its own
      figures.push(...(await measureSteadily(() => measureAlone(attack, parties), repeated)))
    }
  }
  if (values.only !== undefined || values['no-mix']) return figures
  const seconds = Number(values.seconds)
  const maxDelayMs = Number(values['max-mix-delay'])
  progress(`Hostile mix: ${attacks.length} attacks for ${seconds} seconds`)
  const mix = await measureSteadily(
    () => measureMix({ seconds, maxDelayMs }, parties, progress),
    repeated,
  )
  return [...figures, ...mix]
}
