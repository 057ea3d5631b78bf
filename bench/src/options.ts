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
  'ferryhook',
  'two-key',
  'form-bridge',
] as const
export type Section = (typeof SECTIONS)[number]

export interface Options {
  sections: readonly Section[]
  /** For each cell of a table, over all rounds. */
  seconds: number
  /** Also with a million items. */
  large: boolean
  json: boolean
  /** Write docs/performance.md and its charts. */
  write: boolean
}

export const USAGE = `npm run bench -- [--only <section,…>] [--seconds <n>] [--large] [--json] [--write]

  --only      of: ${SECTIONS.join(', ')}
  --seconds   for each figure, all rounds together (default 1; 0.3 for a quick look)
  --large     growth and memory up to a million items: some minutes, 2 GB of disk
  --json      for machines
  --write     docs/performance.md and its charts, of what was run
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
    throw new Error(`There is no section "${unknown}": choose of ${SECTIONS.join(', ')}`)
  }
  const sections = wanted ? SECTIONS.filter((name) => wanted.includes(name)) : SECTIONS
  return { sections, seconds, large: values.large, json: values.json, write: values.write }
}
