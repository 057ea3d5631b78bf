/** Connections that fail or are paused, of all accounts, and how many deliveries wait for them. */
import type { Db, Item } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { expr, Placeholders } from '@strongroom/kit/expression'
import { type Clock, isRecent } from '@strongroom/platform/clock'
import type { z } from 'zod'
import { parkedTaskKey } from '../queue/tasks.ts'
import { eventsTable, mainTable } from '../tables.ts'
import { ConnectionItem } from './item.ts'

/** A scan of a large table is expensive, and neither failing nor waiting changes quickly. */
const CACHE_MS = 300_000
const ITEMS_PER_READ = 1_000
const MAX_READS = 10
/** Connections whose waiting deliveries are counted, and the number counted for each. */
const MAX_COUNTED = 50
const MAX_WAITING = 1_000

/** What a scan reads of each. */
const Troubled = ConnectionItem.pick({ connectionId: true, failingSince: true, status: true })

export interface TroubledConnections {
  failing: number
  failingSince: number | undefined
  paused: number
  waiting: number
  /** Whether all connections and waiting deliveries were read. */
  isComplete: boolean
}

export function createTroubledConnections({ db, clock }: { db: Db; clock: Clock }) {
  const connections = entity(db, mainTable, ConnectionItem)
  let cached: { found: Promise<TroubledConnections>; readAt: number } | undefined

  async function scan(): Promise<{ items: z.infer<typeof Troubled>[]; isComplete: boolean }> {
    const { attr } = connections
    const placeholders = new Placeholders()
    const isTroubled = expr`attribute_exists(${attr('connectionId')}) AND (attribute_exists(${attr('failingSince')}) OR ${attr('status')} = ${'paused'})`
    const projected = expr`${attr('connectionId')}, ${attr('failingSince')}, ${attr('status')}`
    const request = {
      TableName: mainTable.name,
      FilterExpression: placeholders.render(isTroubled),
      ProjectionExpression: placeholders.render(projected),
      ...placeholders.parameters(),
      Limit: ITEMS_PER_READ,
    }
    const items: z.infer<typeof Troubled>[] = []
    let after: Item | undefined
    for (let reads = 0; reads < MAX_READS; reads++) {
      const page = await db.scan({ ...request, ...(after && { ExclusiveStartKey: after }) })
      items.push(...(page.Items ?? []).map((item) => Troubled.parse(item)))
      after = page.LastEvaluatedKey
      if (!after) break
    }
    return { items, isComplete: after === undefined }
  }

  async function countWaiting(
    connectionId: string,
  ): Promise<{ count: number; isComplete: boolean }> {
    const { PK } = parkedTaskKey.of({ connectionId, parkedAt: '', eventId: '' })
    const { Count = 0, LastEvaluatedKey } = await db.query({
      TableName: eventsTable.name,
      KeyConditionExpression: 'PK = :pk',
      ExpressionAttributeValues: { ':pk': PK },
      Select: 'COUNT',
      Limit: MAX_WAITING,
    })
    return { count: Count, isComplete: LastEvaluatedKey === undefined }
  }

  async function read(): Promise<TroubledConnections> {
    const { items, isComplete } = await scan()
    const since = items.flatMap(({ status, failingSince }) =>
      status === 'active' && failingSince !== undefined ? Date.parse(failingSince) : [],
    )
    const waiting = await Promise.all(
      items.slice(0, MAX_COUNTED).map(({ connectionId }) => countWaiting(connectionId)),
    )
    return {
      failing: since.length,
      failingSince: since.length === 0 ? undefined : Math.min(...since),
      paused: items.length - since.length,
      waiting: waiting.reduce((sum, { count }) => sum + count, 0),
      isComplete:
        isComplete && items.length <= MAX_COUNTED && waiting.every((each) => each.isComplete),
    }
  }

  return (): Promise<TroubledConnections> => {
    if (!cached || !isRecent(clock, cached.readAt, CACHE_MS)) {
      const found = read()
      cached = { found, readAt: clock.now() }
      found.catch(() => (cached = undefined))
    }
    return cached.found
  }
}
