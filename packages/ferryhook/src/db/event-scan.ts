/** Reads what is to be counted of events, without their headers and bodies. */
import type { Item } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { Expression, expr, Placeholders } from '@strongroom/kit/expression'
import { EventItem, eventKey } from '../items/event.ts'
import { eventsTable } from '../table.ts'
import type { DataLayerDeps } from './deps.ts'
import { addEvent, type Figures, noFigures } from './figures.ts'

export interface Scanned {
  figures: Figures
  /** When the first of them expires, in seconds since the epoch. */
  firstExpiry: number | undefined
  events: number
  /** False if there are more than were to be read. */
  isComplete: boolean
}

const READ_AT_ONCE = 1_000

const Counted = EventItem.pick({
  status: true,
  counts: true,
  receivedAt: true,
  deliveredAt: true,
  replayedAt: true,
  expiresAt: true,
})

export function createEventScan({ db }: Pick<DataLayerDeps, 'db'>) {
  const events = entity(db, eventsTable, EventItem)
  const attributes = Object.keys(Counted.shape) as (keyof typeof Counted.shape)[]
  const projection = new Expression(
    ['', ...attributes.slice(1).map(() => ', '), ''],
    attributes.map((name) => events.attr(name)),
  )

  async function read(sourceId: string, from: number, until: number, limit: number, after?: Item) {
    // The mark of those who count may be in a time to come, if the clock was set back.
    if (until <= from) return { items: [], next: undefined }
    const { PK } = eventKey.of({ sourceId, receivedAt: '', eventId: '' })
    const placeholders = new Placeholders()
    const [partition, sort] = [events.attr('PK'), events.attr('SK')]
    // Whatever was received at `until` itself has that and an id behind it, and so comes after.
    const range = expr`${partition} = ${PK} AND ${sort} BETWEEN ${keyAt(from)} AND ${keyAt(until)}`
    const KeyConditionExpression = placeholders.render(range)
    const ProjectionExpression = placeholders.render(projection)
    const page = await db.query({
      TableName: eventsTable.name,
      KeyConditionExpression,
      ProjectionExpression,
      ...placeholders.parameters(),
      ConsistentRead: true,
      Limit: limit,
      ...(after && { ExclusiveStartKey: after }),
    })
    const items = (page.Items ?? []).map((item) => Counted.parse(item))
    return { items, next: page.LastEvaluatedKey }
  }

  return {
    /** Counts those received from one time up to before another, `most` of them unless all. */
    async count(
      { sourceId, from, until }: { sourceId: string; from: number; until: number },
      most = Number.POSITIVE_INFINITY,
    ): Promise<Scanned> {
      const figures = noFigures()
      let firstExpiry: number | undefined
      let counted = 0
      let next: Item | undefined
      do {
        const limit = Math.min(READ_AT_ONCE, most - counted)
        const page = await read(sourceId, from, until, limit, next)
        for (const event of page.items) {
          addEvent(figures, event)
          firstExpiry = Math.min(firstExpiry ?? event.expiresAt, event.expiresAt)
        }
        counted += page.items.length
        next = page.next
      } while (next && counted < most)
      return { figures, firstExpiry, events: counted, isComplete: next === undefined }
    },

    /** The first that was received at a time or after it, and before another. */
    async first(sourceId: string, from: number, until: number): Promise<number | undefined> {
      const { items } = await read(sourceId, from, until, 1)
      return items[0]?.receivedAt
    },
  }
}

export type EventScan = ReturnType<typeof createEventScan>

function keyAt(ms: number): string {
  return `EVT#${String(Math.max(ms, 0)).padStart(13, '0')}`
}
