// The command line of the benchmark.

import { parseArgs } from 'node:util'

const SECTIONS = [
  'engine',
  'dynalite',
  'open',
  'growth',
  'peers',
  'http',
  'key-store',
  'sealed',
  'sealed-peer',
  'ferryhook',
  'relay',
  'two-key',
  'form-bridge',
  'start',
] as const
export type Section = (typeof SECTIONS)[number]

export interface Options {
  sections: readonly Section[]
  /** Measuring time per figure, over all rounds. */
  seconds: number
  /** Also measure a million items. */
  large: boolean
  json: boolean
  /** Write docs/performance.md and its charts. */
  write: boolean
}

export const USAGE = `npm run bench -- [--only <section,…>] [--seconds <n>] [--large] [--json] [--write]

  --only      sections: ${SECTIONS.join(', ')}
  --seconds   measuring time per figure, over all rounds (default 1; 0.3 for a quick look)
  --large     also measure a million items: several minutes, 5 GB of disk
  --json      print the results as JSON
  --write     write docs/performance.md and its charts
`

/** Throws a message for the user. */
export function readOptions(parameters: string[]): Options | undefined {
  const { values } = parseArgs({
    args: parameters,
    options: {
      only: { type: 'string', multiple: true },
      seconds: { type: 'string', default: '1' },
      large: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return undefined
  const seconds = Number(values.seconds)
  if (!(seconds > 0)) throw new Error(`--seconds must be a positive number, not ${values.seconds}`)
  const wanted = values.only?.flatMap((names) => names.split(','))
  const unknown = wanted?.find((name) => !SECTIONS.includes(name as Section))
  if (unknown !== undefined) {
    throw new Error(`Unknown section "${unknown}". Choose from ${SECTIONS.join(', ')}`)
  }
  const sections = wanted ? SECTIONS.filter((name) => wanted.includes(name)) : SECTIONS
  return { sections, seconds, large: values.large, json: values.json, write: values.write }
}
