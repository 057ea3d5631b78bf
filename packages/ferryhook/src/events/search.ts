/** Searching events by receipt time and by text in headers or body, ignoring case. */
import { z } from '@hono/zod-openapi'
import type { Stores } from '../stores.ts'
import type { Search } from '../storage/paging.ts'
import { MAX_EVENT_TYPE_CHARACTERS } from './event-type.ts'
import { type Event } from './item.ts'
import { eventStatuses } from './values.ts'
import type { HeaderFields } from '../outbound/headers.ts'

/** Keys sort by thirteen digits; no event is older. */
const MIN_RECEIVED_MS = 1_000_000_000_000

/** Parsed to milliseconds since the epoch. */
export const ReceivedTime = z.iso
  .datetime({ offset: true })
  .transform((text) => Math.max(Date.parse(text), MIN_RECEIVED_MS))
  .openapi({ type: 'string', format: 'date-time', example: '2026-01-31T12:00:00Z' })

export const EventTypeFilter = z.string().min(1).max(MAX_EVENT_TYPE_CHARACTERS).openapi({
  description: 'A type of events, or the beginning of types and an asterisk: `invoice.*`',
  example: 'invoice.paid',
})

/** Parsed to a list without repetitions. */
export const StatusFilter = z
  .string()
  .max(200)
  .transform((text) => [...new Set(text.split(','))])
  .pipe(z.array(z.enum(eventStatuses)))
  .openapi({
    type: 'array',
    items: { type: 'string', enum: [...eventStatuses] },
    param: { style: 'form', explode: false },
    description: 'One status, or several with commas between them',
    example: ['failed', 'retrying'],
  })

export const SearchText = z.string().min(1).max(200)

export function checkTimeRange(
  { from, to }: { from?: number | undefined; to?: number | undefined },
  context: z.RefinementCtx,
): void {
  if (from === undefined || to === undefined || from <= to) return
  context.addIssue({ code: 'custom', path: ['to'], message: 'Is before from' })
}

/** A text is searched in every event, so a search needs a beginning. */
export function checkSearchRange(
  { from, header, body }: { from?: number | undefined } & TextQuery,
  context: z.RefinementCtx,
): void {
  if (from !== undefined || (header === undefined && body === undefined)) return
  context.addIssue({ code: 'custom', path: ['from'], message: 'Is required to search for text' })
}

export interface TextQuery {
  /** Text in a header, written as `name: value`. */
  header?: string | undefined
  /** Text in the body. */
  body?: string | undefined
}

/** Limits of one page; its cursor continues the search. */
const MAX_EVENTS_PER_PAGE = 2_000
const MAX_BODY_BYTES_PER_PAGE = 8 * 1024 * 1024
/** Each needs a read. */
const MAX_BODIES_PER_PAGE = 1_000

/** Undefined if the query contains no text. */
export function createTextSearch(
  text: TextQuery,
  events: Pick<Stores['events'], 'getBody'>,
): Search<Event> | undefined {
  const header = text.header?.toLowerCase()
  const body = text.body?.toLowerCase()
  if (header === undefined && body === undefined) return undefined
  let examined = 0
  let [bodies, bodyBytes] = [0, 0]

  async function bodyHas(event: Event, wanted: string): Promise<boolean> {
    bodies += 1
    bodyBytes += event.bodyBytes
    const bytes = await events.getBody(event)
    return bytes !== null && Buffer.from(bytes).toString().toLowerCase().includes(wanted)
  }

  return {
    id: JSON.stringify([header ?? null, body ?? null]),
    async matches(event) {
      examined += 1
      if (header !== undefined && !hasHeader(event, header)) return false
      return body === undefined || bodyHas(event, body)
    },
    isSpent: () =>
      examined >= MAX_EVENTS_PER_PAGE ||
      bodies >= MAX_BODIES_PER_PAGE ||
      bodyBytes >= MAX_BODY_BYTES_PER_PAGE,
  }
}

function hasHeader({ headers }: Pick<Event, 'headers'>, wanted: string): boolean {
  return Object.entries(JSON.parse(headers) as HeaderFields).some(([name, value]) =>
    [value].flat().some((single) => `${name}: ${single}`.toLowerCase().includes(wanted)),
  )
}
