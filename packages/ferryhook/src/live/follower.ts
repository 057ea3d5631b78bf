/**
 * Follows the events of a source as they come. Events are stored a little out of the order of their
 * receipt: most within milliseconds, the last after half a minute. So it always looks back a little,
 * now and then further, and remembers what it has given.
 */
import type { Clock } from '@strongroom/kit/clock'
import type { DataLayer } from '../db/data-layer.ts'
import type { EventPosition } from '../db/events.ts'
import type { Event } from '../items/event.ts'

/** Where somebody who follows is: at the latest event given, or before the first of a time. */
export interface FollowPosition extends EventPosition {
  /** How many were given of those received since then, up to the latest. */
  since: number
  given: number
}

/** None is stored later than this after its receipt; a second more for clocks that disagree. */
const LATEST_MS = 45_000
/** How far each look goes back, and how often one goes back all the way. */
const BACK_MS = 250
const ALL_THE_WAY_EVERY_MS = 5_000
/** What a clock that is behind ours may call its now. */
const SKEW_MS = 2_000
const PAGE = 50
const FORGOTTEN_AT_ONCE = 1_000

export interface Follower {
  /** Those that came since the last look, one page after the other. */
  look(): AsyncGenerator<Event>
  /** As of the event that was given last. */
  position(): FollowPosition
}

type Given = Pick<Event, 'receivedAt' | 'eventId'>

export async function createFollower(
  sourceId: string,
  after: FollowPosition | undefined,
  { events, clock }: { events: Pick<DataLayer['events'], 'listFrom'>; clock: Clock },
): Promise<Follower> {
  let start = after?.since ?? clock.now() - SKEW_MS
  /** Sorted by receipt. */
  let given: Given[] = []
  const ids = new Set<string>()
  let latest: EventPosition = after ?? { receivedAt: start }
  let backAt = clock.now() + ALL_THE_WAY_EVERY_MS
  let seenAt = clock.now()
  /** Since when events have times that were before: the clock was set back. */
  let againFrom = seenAt + SKEW_MS < latest.receivedAt ? seenAt - LATEST_MS : undefined
  await remember()

  /** What was given before: all that is there, unless a late one has come meanwhile. */
  async function remember(): Promise<void> {
    const before: Given[] = []
    const to = after?.receivedAt
    for await (const event of from({ receivedAt: start }, to)) {
      if (!after || !isAfter(event, after)) before.push(event)
    }
    if (!after || before.length === after.given) return before.forEach(note)
    // Which of them is the late one nobody knows: they are given again rather than it lost.
    latest = { receivedAt: start }
  }

  function watchClock(): number {
    const now = clock.now()
    if (now < seenAt) againFrom = Math.min(againFrom ?? now, now - SKEW_MS)
    seenAt = now
    return now
  }

  /** What comes from now on has earlier times; what lies there already was not asked for. */
  async function goBackTo(earlier: number): Promise<void> {
    const now = clock.now()
    const known = Math.max(start, latest.receivedAt - LATEST_MS)
    // First, or they would be forgotten as old ones.
    start = Math.min(start, earlier)
    for await (const event of from({ receivedAt: now + 1 }, known - 1)) {
      if (!ids.has(event.eventId)) note(event)
    }
    backAt = now
  }

  async function* from(position: EventPosition, to?: number): AsyncGenerator<Event> {
    for (let at: EventPosition | undefined = position; at;) {
      const page = await events.listFrom(sourceId, at, {
        limit: PAGE,
        ...(to !== undefined && { to }),
      })
      yield* page.items
      at = page.next
    }
  }

  function note({ receivedAt, eventId }: Given): void {
    const event = { receivedAt, eventId }
    ids.add(eventId)
    const place = given.findLastIndex((other) => other.receivedAt <= receivedAt) + 1
    given.splice(place, 0, event)
    if (isAfter(event, latest)) latest = event
    const old = oldOnes()
    if (old < FORGOTTEN_AT_ONCE) return
    for (const forgotten of given.slice(0, old)) ids.delete(forgotten.eventId)
    given = given.slice(old)
  }

  /** How many of those given are so old that nothing new can come before them. */
  function oldOnes(): number {
    const since = sinceNow()
    const first = given.findIndex(({ receivedAt }) => receivedAt >= since)
    return first === -1 ? given.length : first
  }

  function sinceNow(): number {
    return Math.max(start, Math.min(latest.receivedAt, clock.now()) - LATEST_MS)
  }

  return {
    async *look() {
      const now = watchClock()
      if (againFrom !== undefined) await goBackTo(againFrom)
      againFrom = undefined
      let back = latest.receivedAt - BACK_MS
      if (now >= backAt) {
        backAt = now + ALL_THE_WAY_EVERY_MS
        back = Math.min(back, now - LATEST_MS)
      }
      for await (const event of from({ receivedAt: Math.max(back, sinceNow()) })) {
        if (ids.has(event.eventId)) continue
        note(event)
        yield event
        watchClock()
      }
    },

    position: () => ({ ...latest, since: sinceNow(), given: given.length - oldOnes() }),
  }
}

function isAfter(event: Given, position: EventPosition): boolean {
  if (event.receivedAt !== position.receivedAt) return event.receivedAt > position.receivedAt
  return position.eventId === undefined || event.eventId > position.eventId
}
