/** Looks for text in the headers or the body of events, upper and lower case being the same. */
import type { DataLayer } from '../db/data-layer.ts'
import type { Search } from '../db/live-page.ts'
import type { Event } from '../items/event.ts'
import type { HeaderFields } from '../delivery/outgoing-headers.ts'

export interface SearchedText {
  /** Is in a header, written as `name: value`. */
  header?: string | undefined
  /** Is in the body. */
  body?: string | undefined
}

/** So much is looked at for one page; then its cursor goes on. */
const MOST_EVENTS = 2_000
const MOST_BODY_BYTES = 8 * 1024 * 1024

/** Undefined if nothing is searched for. */
export function searchFor(
  text: SearchedText,
  events: Pick<DataLayer['events'], 'getBody'>,
): Search<Event> | undefined {
  const header = text.header?.toLowerCase()
  const body = text.body?.toLowerCase()
  if (header === undefined && body === undefined) return undefined
  let examined = 0
  let bodyBytes = 0

  async function bodyHas(event: Event, wanted: string): Promise<boolean> {
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
    isSpent: () => examined >= MOST_EVENTS || bodyBytes >= MOST_BODY_BYTES,
  }
}

function hasHeader({ headers }: Pick<Event, 'headers'>, wanted: string): boolean {
  return Object.entries(JSON.parse(headers) as HeaderFields).some(([name, value]) =>
    [value].flat().some((single) => `${name}: ${single}`.toLowerCase().includes(wanted)),
  )
}
