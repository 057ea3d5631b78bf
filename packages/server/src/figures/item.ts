/** One process's figures of one hour, as they are stored. */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import * as z from 'zod'

/** A day and the hour that it began in. */
export const RETENTION_SECONDS = 25 * 3_600
export const MINUTES_PER_HOUR = 60
/** Series of one process; what exceeds it is dropped and counted. */
export const MAX_SERIES = 300
/** Of the compressed values, so that an item is written with few capacity units; DynamoDB allows 400 KB. */
export const MAX_FIGURES_BYTES = 64 * 1024
/** Of the values before compression, so that a forged item cannot fill the memory of a reader. */
const MAX_TEXT_BYTES = 2 * 1024 * 1024

export const processRoles = ['server', 'worker'] as const

export const FiguresItem = z.object({
  PK: z.literal('FIGURES'),
  /** `{hour}#{process}`, such as `2030-01-01T12#01J…`. */
  SK: z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}#[A-Za-z0-9_-]{1,64}$/),
  role: z.enum(processRoles),
  host: z.string().max(253),
  pid: z.number().int(),
  version: z.string(),
  startedAt: z.string(),
  writtenAt: z.string(),
  /** Set by a process that ended as intended; one that crashed has none. */
  endedAt: z.string().optional(),
  /** Series that did not fit. */
  dropped: z.number().int().min(0),
  /** Deflated JSON: `{ counts: { name: [60 numbers] }, gauges: { name: [60 numbers or nulls] } }`. */
  figures: z.instanceof(Uint8Array),
  expiresAt: z.number().int(),
})
export type FiguresItem = z.infer<typeof FiguresItem>

/** The values of each series by minute of the hour: counts are 0 and gauges null where nothing was seen. */
export interface HourValues {
  counts: Record<string, number[]>
  gauges: Record<string, (number | null)[]>
}

const HourValues = z.object({
  counts: z.record(z.string(), z.array(z.number()).length(MINUTES_PER_HOUR)),
  gauges: z.record(z.string(), z.array(z.number().nullable()).length(MINUTES_PER_HOUR)),
})

/** Drops the last series until the rest fits. */
export function encodeHour(values: HourValues): {
  figures: Uint8Array<ArrayBuffer>
  dropped: number
} {
  let { counts, gauges } = values
  for (let dropped = 0; ;) {
    const figures = deflateRawSync(JSON.stringify({ counts, gauges }))
    if (figures.length <= MAX_FIGURES_BYTES) return { figures: Uint8Array.from(figures), dropped }
    const names = Object.keys(counts)
    const remaining = Math.floor(names.length * 0.9)
    dropped += names.length - remaining
    counts = Object.fromEntries(names.slice(0, remaining).map((name) => [name, counts[name] ?? []]))
    if (remaining === 0) gauges = {}
  }
}

export function decodeHour({ figures }: Pick<FiguresItem, 'figures'>): HourValues {
  const text = inflateRawSync(figures, { maxOutputLength: MAX_TEXT_BYTES }).toString('utf8')
  return HourValues.parse(JSON.parse(text))
}

export function hourOf(time: number): string {
  return new Date(time).toISOString().slice(0, 13)
}
