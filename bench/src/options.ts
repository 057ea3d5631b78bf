// The command line of the benchmark.

import { parseArgs } from 'node:util'

/** In the order in which they run and their targets are listed. */
const SECTIONS = [
  'relay',
  'sealed-peer',
  'overload',
  'start',
  'stored-events',
  'http',
  'ferryhook',
  'sealed',
  'key-store',
  'two-key',
  'form-bridge',
  'engine',
  'dynalite',
  'open',
  'growth',
  'peers',
] as const
export type Section = (typeof SECTIONS)[number]

export interface Options {
  sections: readonly Section[]
  /** Measuring time per figure, over all rounds. */
  seconds: number
  /** How often sections with main targets are measured; their results are medians. */
  runs: number
  /** The number of delivered events in the section `stored-events`. */
  events: number
  /** Also measure the engine with a million items. */
  large: boolean
  json: boolean
  /** Write docs/performance.md and its charts. */
  write: boolean
}

export const USAGE = `npm run bench -- [--only <section,…>] [--seconds <n>] [--runs <n>] [--events <n>]
                   [--large] [--json] [--write]

  --only      sections: ${SECTIONS.join(', ')}
  --seconds   measuring time per figure, over all rounds (default 1; 0.3 for a quick look)
  --runs      how often to measure main targets; results are medians (default 1, with --write 3)
  --events    stored events of the section stored-events (default 1,000,000, written once to a cache)
  --large     also measure the engine with a million items: several minutes, 5 GB of disk
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
      runs: { type: 'string' },
      events: { type: 'string', default: '1000000' },
      large: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return undefined
  const seconds = Number(values.seconds)
  if (!(seconds > 0)) throw new Error(`--seconds must be a positive number, not ${values.seconds}`)
  const runs = wholeNumber('runs', values.runs ?? (values.write ? '3' : '1'))
  const events = wholeNumber('events', values.events)
  const wanted = values.only?.flatMap((names) => names.split(','))
  const unknown = wanted?.find((name) => !SECTIONS.includes(name as Section))
  if (unknown !== undefined) {
    throw new Error(`Unknown section "${unknown}". Choose from ${SECTIONS.join(', ')}`)
  }
  const sections = wanted ? SECTIONS.filter((name) => wanted.includes(name)) : SECTIONS
  const { large, json, write } = values
  return { sections, seconds, runs, events, large, json, write }
}

export function wholeNumber(name: string, text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new Error(`--${name} must be a positive whole number, not ${text}`)
}
