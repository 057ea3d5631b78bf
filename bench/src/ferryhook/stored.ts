// Adds stored events without sending requests: copies of a received event, each with its own id, written
// into the table of the running server.

import { randomBytes } from 'node:crypto'
import { type Engine, openEngine } from '@strongroom/engine/engine'
import { inParallel } from '../parallel.ts'

const TABLE = 'ferryhook-events'
const AT_ONCE = 32
/** A batch has at most 25 items, and an event has two. */
const EVENTS_PER_BATCH = 12

type Item = NonNullable<Awaited<ReturnType<Engine['getItem']>>['Item']>

export async function addEvents(directory: string, sourceId: string, count: number): Promise<void> {
  const engine = await openEngine({ directory, sweepIntervalMs: 0 })
  try {
    const { event, body } = await oneEvent(engine, sourceId)
    await inParallel(Math.ceil(count / EVENTS_PER_BATCH), AT_ONCE, async () => {
      const puts = Array.from({ length: EVENTS_PER_BATCH }, () => copies(event, body)).flat()
      const requests = puts.map((Put) => ({ PutRequest: { Item: Put } }))
      await engine.batchWriteItem({ RequestItems: { [TABLE]: requests } })
    })
  } finally {
    await engine.close()
  }
}

async function oneEvent(engine: Engine, sourceId: string): Promise<{ event: Item; body: Item }> {
  const { Items: [event] = [] } = await engine.query({
    TableName: TABLE,
    KeyConditionExpression: 'PK = :source AND begins_with(SK, :event)',
    ExpressionAttributeValues: { ':source': `SRC#${sourceId}`, ':event': 'EVT#' },
    Limit: 1,
  })
  if (!event) throw new Error('There is no event to copy')
  const Key = { PK: `EVT#${idOf(event)}`, SK: 'BODY' }
  const { Item: body } = await engine.getItem({ TableName: TABLE, Key })
  if (!body) throw new Error('The event has no body')
  return { event, body }
}

function copies(event: Item, body: Item): Item[] {
  const old = idOf(event)
  const eventId = `evt_${randomBytes(12).toString('base64url')}`
  return [event, body].map((item) => {
    const renamed = ['PK', 'SK', 'GSI1PK'].flatMap((name) => {
      const value = item[name]
      return typeof value === 'string' ? [[name, value.replace(old, eventId)]] : []
    })
    return { ...item, ...Object.fromEntries(renamed), eventId } as Item
  })
}

function idOf({ eventId }: Item): string {
  if (typeof eventId !== 'string') throw new Error('An event has no id')
  return eventId
}
