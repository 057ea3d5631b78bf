/**
 * Follows the events of a source, or of all sources of an account. Events are stored slightly out of order: most within milliseconds
 * of their receipt, the last after half a minute. So every poll looks back a little, periodically
 * further, and the follower remembers which events it has returned.
 */
import type { Clock } from '@strongroom/platform/clock'
import type { EventPosition } from '../events/store.ts'
import type { Event } from '../events/item.ts'

/** The position of a client: at the latest event it received, or before the first of a time. */
export interface StreamPosition extends EventPosition {
  /** `given` events since the time `since` were returned, up to the latest. */
  since: number
  given: number
}

/** No event is stored later than this after its receipt, allowing for clock skew. */
const MAX_STORE_DELAY_MS = 45_000
/** How far each poll looks back, and how often one looks back all the way. */
const LOOK_BACK_MS = 250
const FULL_LOOK_BACK_INTERVAL_MS = 5_000
/** How far the clock of another server may be behind. */
const SKEW_MS = 2_000
const PAGE_SIZE = 50
const FORGET_BATCH = 1_000

/** Events after a position, oldest first. `next` is set if there may be more. */
export type ForwardListing = (
  position: EventPosition,
  options: { to?: number; limit: number },
) => Promise<{ items: Event[]; next: EventPosition | undefined }>

export interface FollowedEvent {
  event: Event
  /** False for a change of an event that was returned before, and is younger than 45 seconds. */
  isNew: boolean
}

export interface Follower {
  /** The events since the last poll, and changes that it happens to find, page by page. */
  poll(): AsyncGenerator<FollowedEvent>
  /** As of the last returned event. */
  position(): StreamPosition
}

type ReturnedEvent = Pick<Event, 'receivedAt' | 'eventId' | 'rev'>

export async function createFollower(
  list: ForwardListing,
  after: StreamPosition | undefined,
  { clock }: { clock: Clock },
): Promise<Follower> {
  let start = after?.since ?? clock.now() - SKEW_MS
  /** Returned events, sorted by time of receipt. */
  let returned: ReturnedEvent[] = []
  /** The revision that was returned last, by id. */
  const revisions = new Map<string, number>()
  let latest: EventPosition = after ?? { receivedAt: start }
  let backAt = clock.now() + FULL_LOOK_BACK_INTERVAL_MS
  let seenAt = clock.now()
  /** Set if the clock was set back: from this time on, times of receipt repeat. */
  let repeatsFrom = seenAt + SKEW_MS < latest.receivedAt ? seenAt - MAX_STORE_DELAY_MS : undefined
  await restore()

  /** Marks earlier events as returned, unless a late one was stored in between. */
  async function restore(): Promise<void> {
    const before: ReturnedEvent[] = []
    const to = after?.receivedAt
    for await (const event of from({ receivedAt: start }, to)) {
      if (!after || !isAfter(event, after)) before.push(event)
    }
    if (!after || before.length === after.given) return before.forEach(note)
    // It is unknown which event is the late one, so return all of them again rather than lose it.
    latest = { receivedAt: start }
  }

  function checkClock(): number {
    const now = clock.now()
    if (now < seenAt) repeatsFrom = Math.min(repeatsFrom ?? now, now - SKEW_MS)
    seenAt = now
    return now
  }

  /** New events have earlier times now. Events already stored at those times are not new. */
  async function goBackTo(earlier: number): Promise<void> {
    const now = clock.now()
    const known = Math.max(start, latest.receivedAt - MAX_STORE_DELAY_MS)
    // First, or `note` would forget them as old.
    start = Math.min(start, earlier)
    for await (const event of from({ receivedAt: now + 1 }, known - 1)) {
      if (!revisions.has(event.eventId)) note(event)
    }
    backAt = now
  }

  async function* from(position: EventPosition, to?: number): AsyncGenerator<Event> {
    for (let at: EventPosition | undefined = position; at;) {
      const page = await list(at, {
        limit: PAGE_SIZE,
        ...(to !== undefined && { to }),
      })
      yield* page.items
      at = page.next
    }
  }

  function note({ receivedAt, eventId, rev }: ReturnedEvent): void {
    const event = { receivedAt, eventId, rev }
    revisions.set(eventId, rev)
    const place = returned.findLastIndex((other) => other.receivedAt <= receivedAt) + 1
    returned.splice(place, 0, event)
    if (isAfter(event, latest)) latest = event
    const old = settledCount()
    if (old < FORGET_BATCH) return
    for (const forgotten of returned.slice(0, old)) revisions.delete(forgotten.eventId)
    returned = returned.slice(old)
  }

  /** How many returned events are too old for a new event before them. */
  function settledCount(): number {
    const since = earliestOpen()
    const first = returned.findIndex(({ receivedAt }) => receivedAt >= since)
    return first === -1 ? returned.length : first
  }

  function earliestOpen(): number {
    return Math.max(start, Math.min(latest.receivedAt, clock.now()) - MAX_STORE_DELAY_MS)
  }

  return {
    async *poll() {
      const now = checkClock()
      if (repeatsFrom !== undefined) await goBackTo(repeatsFrom)
      repeatsFrom = undefined
      let back = latest.receivedAt - LOOK_BACK_MS
      if (now >= backAt) {
        backAt = now + FULL_LOOK_BACK_INTERVAL_MS
        back = Math.min(back, now - MAX_STORE_DELAY_MS)
      }
      for await (const event of from({ receivedAt: Math.max(back, earliestOpen()) })) {
        const seen = revisions.get(event.eventId)
        if (seen === event.rev) continue
        if (seen === undefined) note(event)
        else revisions.set(event.eventId, event.rev)
        yield { event, isNew: seen === undefined }
        checkClock()
      }
    },

    position: () => ({ ...latest, since: earliestOpen(), given: returned.length - settledCount() }),
  }
}

/** In the order of a listing; a position without an id is before all events of its time. */
export function isAfter(event: EventPosition, position: EventPosition): boolean {
  if (event.receivedAt !== position.receivedAt) return event.receivedAt > position.receivedAt
  return position.eventId === undefined || (event.eventId ?? '') > position.eventId
}
