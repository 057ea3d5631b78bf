/** Stretches of time, and texts, that events are asked for by. */
import { z } from '@hono/zod-openapi'

/** Before this there were no events, and keys sort by thirteen digits. */
const EARLIEST = 1_000_000_000_000

/** Milliseconds since the epoch, once it is read. */
export const TimeOfReceipt = z.iso
  .datetime({ offset: true })
  .transform((text) => Math.max(Date.parse(text), EARLIEST))
  .openapi({ type: 'string', format: 'date-time', example: '2026-01-31T12:00:00Z' })

export const SearchText = z.string().min(1).max(200)

export function inTimeRange(
  { from, to }: { from?: number | undefined; to?: number | undefined },
  context: z.RefinementCtx,
): void {
  if (from === undefined || to === undefined || from <= to) return
  context.addIssue({ code: 'custom', path: ['to'], message: 'Is before from' })
}
