// `npm run bounds`: attacks a real server and checks that other tenants do not notice.

import { parseArgs } from 'node:util'
import { attacks } from './attacks.ts'
import { type Figure, isWithin, report } from './figures.ts'
import { MAX_IDLE_DELAY_MS, measureIdle, measureSteadily, runMix } from './measure.ts'
import { startTarget } from './target.ts'

const USAGE = `npm run bounds -- [--seconds <n>] [--no-mix] [--only <text>] [--json]

  --seconds   length of the hostile mix (default 60)
  --no-mix    each attack alone, without the hostile mix
  --only      only attacks whose name contains the text, and no mix
  --json      print the figures as JSON; progress is on standard error
`

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    only: { type: 'string' },
    'no-mix': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

if (values.help) {
  process.stdout.write(USAGE)
} else {
  const progress = (text: string) => void process.stderr.write(`${text}\n`)
  const figures: Figure[] = []
  const target = await startTarget()
  // Otherwise the server would outlive an interrupted run.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void target.close().then(() => process.exit(130)))
  }
  const idleDelay = await measureIdle(target)
  progress(`Event-loop delay of the idle server: ${Math.round(idleDelay)} ms`)
  if (idleDelay > MAX_IDLE_DELAY_MS) {
    progress('Other programs occupy the machine, so the figures are too high. Stop them first.')
  }
  try {
    const chosen = attacks.filter(({ name }) => name.includes(values.only ?? ''))
    const prepared = []
    for (const attack of chosen) {
      progress(`Preparing: ${attack.name}`)
      // oxlint-disable-next-line no-await-in-loop -- one after the other, so that the figures are its own
      const { round, figures: alone } = await measureSteadily(attack, target)
      figures.push(...alone)
      prepared.push({ attack, round })
    }
    if (values.only === undefined && !values['no-mix']) {
      const seconds = Number(values.seconds)
      progress(`Hostile mix: ${chosen.length} attacks for ${seconds} seconds`)
      figures.push(...(await runMix(prepared, target, { seconds, progress })))
    }
  } finally {
    await target.close()
  }
  process.stdout.write(values.json ? `${JSON.stringify(figures)}\n` : report(figures))
  process.exitCode = figures.every(isWithin) ? 0 : 1
}
