/**
 * Lists the events of several sources as one, newest first. Sources are read down to about the same
 * position, and the one that was read least far is read next. So one position continues all of them,
 * and no event is skipped or repeated, however much a filter excludes.
 */
import { setImmediate } from 'node:timers/promises'
import { Expression, expr, Placeholders } from '@strongroom/kit/expression'
import { entity } from '@strongroom/kit/entity'
import type { TaskQueue } from '../queue/store.ts'
import type { Search } from '../storage/paging.ts'
import { isUnexpired } from '../storage/time.ts'
import type { StoreDeps } from '../stores.ts'
import { eventsTable } from '../tables.ts'
import { createCurrentStatus, type StatusSelection } from './current-status.ts'
import { type EventFilter, eventFilter, eventRange } from './event-filter.ts'
import { type Event, EventItem, eventKey } from './item.ts'

/** Headers and bodies are read only if they are searched. */
const Listed = EventItem.omit({ headers: true, body: true, GSI1PK: true, GSI1SK: true })
export type ListedEvent = Pick<Event, keyof typeof Listed.shape> & Partial<Event>

export interface MergedQuery extends EventFilter {
  /** At most 200. */
  sourceIds: readonly string[]
  /** Receipt times in milliseconds, inclusive. */
  from?: number | undefined
  to?: number | undefined
  search?: Search<Event> | undefined
  /** A condition that the store cannot decide. */
  accepts?: ((event: ListedEvent) => Promise<boolean>) | undefined
}

export interface MergedOptions {
  /** Continues after this sort key of an event. */
  after?: string | undefined
  /** Ends when this many events are found. */
  limit: number
  /** Ends soon after this many events were read. */
  maxExamined: number
  /** Ends soon after the claims of this many events were looked up to filter them. */
  maxLookups: number
}

export interface MergedEvents {
  /** Newest first; all matching events between `after` and `position`. */
  items: ListedEvent[]
  /** The sort key to continue after; undefined if there are no more events. */
  position: string | undefined
}

/** Reads of several sources run in parallel, but each is short, so that other requests take turns. */
const READ_CONCURRENCY = 8
const MAX_READ_SIZE = 100
const MIN_READ_SIZE = 10

interface Reading {
  sourceId: string
  /** All events after this sort key were examined; undefined if all events were. */
  position: string | undefined
}

export function createMergedListing({
  db,
  clock,
  queue,
}: Pick<StoreDeps, 'db' | 'clock'> & { queue: Pick<TaskQueue, 'listClaimed'> }) {
  const currentStatus = createCurrentStatus(queue)
  const events = entity(db, eventsTable, EventItem)
  const attributes = Object.keys(Listed.shape) as (keyof typeof Listed.shape)[]
  const projection = new Expression(
    ['', ...attributes.slice(1).map(() => ', '), ''],
    attributes.map((name) => events.attr(name)),
  )

  /** Events up to a sort key, newest first. */
  async function read(
    sourceId: string,
    upTo: string,
    query: MergedQuery,
    { Limit, selection }: { Limit: number; selection: StatusSelection | undefined },
  ) {
    const { PK } = eventKey.of({ sourceId, receivedAt: '', eventId: '' })
    const [partition, sort] = [events.attr('PK'), events.attr('SK')]
    const { first } = eventRange(query)
    const filter = eventFilter(query)
    const placeholders = new Placeholders()
    const range = expr`${partition} = ${PK} AND ${sort} BETWEEN ${first} AND ${upTo}`
    const { Items = [], LastEvaluatedKey } = await db.query({
      TableName: eventsTable.name,
      KeyConditionExpression: placeholders.render(range),
      ...(filter && { FilterExpression: placeholders.render(filter) }),
      ...(!query.search && { ProjectionExpression: placeholders.render(projection) }),
      ...placeholders.parameters(),
      ConsistentRead: true,
      ScanIndexForward: false,
      Limit,
    })
    const parse = query.search ? events.parse : (item: unknown) => Listed.parse(item)
    const items: ListedEvent[] = Items.map(parse)
    return {
      items: selection ? await selection.select(items) : items,
      next: LastEvaluatedKey?.['SK'] as string | undefined,
    }
  }

  return async function mergeEvents(
    query: MergedQuery,
    { after, limit, maxExamined, maxLookups }: MergedOptions,
  ): Promise<MergedEvents> {
    const { sourceIds, search, accepts } = query
    const start = after ?? eventRange(query).last
    const readings = sourceIds.map((sourceId): Reading => ({ sourceId, position: start }))
    const found: ListedEvent[] = []
    // Half of the work is left for the sources with the newest events.
    const fairShare = Math.floor(maxExamined / 2 / Math.max(sourceIds.length, 1))
    const readSize = Math.min(Math.max(fairShare, MIN_READ_SIZE), MAX_READ_SIZE)
    // Without a condition on the status, only that of the events that are found is looked up.
    const selection =
      query.status || accepts ? currentStatus.selection(query.status, maxLookups) : undefined
    let examined = 0

    async function matches(event: ListedEvent): Promise<boolean> {
      if (!isUnexpired(clock, event)) return false
      if (search && !(await search.matches(event as Event))) return false
      return !accepts || accepts(event)
    }

    async function readMore(reading: Reading): Promise<void> {
      const upTo = reading.position
      if (upTo === undefined) return
      // At least one event of each source, or a page could end where it began.
      const size = search?.isSpent() ? 1 : readSize
      // One more, because the range includes the event at the position itself.
      const page = await read(reading.sourceId, upTo, query, { Limit: size + 1, selection })
      examined += size
      reading.position = page.next
      for (const event of page.items) {
        if (event.SK === upTo) continue
        if (await matches(event)) found.push(event)
        if (!search?.isSpent() || event === page.items.at(-1)) continue
        reading.position = event.SK
        return
      }
    }

    for (;;) {
      const open = readings.filter(({ position }) => position !== undefined)
      const least = open.toSorted(byPosition).slice(0, READ_CONCURRENCY)
      const frontier = least[0]?.position
      const isBegun = frontier !== start
      const certain = found.filter(({ SK }) => frontier === undefined || SK > frontier)
      const isSpent =
        examined >= maxExamined || [search, selection].some((each) => each?.isSpent() ?? false)
      if (frontier === undefined || (isBegun && (certain.length >= limit || isSpent))) {
        const items = certain.toSorted(newestFirst).slice(0, limit)
        const isCut = certain.length > limit
        return {
          items: selection ? items : await currentStatus.withStatus(items),
          position: isCut ? items.at(-1)?.SK : frontier,
        }
      }
      await Promise.all(least.map(readMore))
      await setImmediate()
    }
  }
}

export type MergedListing = ReturnType<typeof createMergedListing>

/** The one that was read least far first. */
function byPosition({ position: a = '' }: Reading, { position: b = '' }: Reading): number {
  return a < b ? 1 : a > b ? -1 : 0
}

function newestFirst(a: ListedEvent, b: ListedEvent): number {
  return a.SK < b.SK ? 1 : -1
}
