/** Stores on a database of their own, and test data for them. */
import { createTables } from '@strongroom/kit/tables'
import { createCursors } from '@strongroom/kit/cursor'
import type { Db, Item } from '@strongroom/kit/db'
import { newId } from '@strongroom/kit/ids'
import { retryingDb } from '@strongroom/kit/retrying-db'
import { hostileDb, type Hostility } from '@strongroom/kit/testing/hostile-db'
import { testStores, type TestStore } from '@strongroom/kit/testing/stores'
import { type TestClock, testClock } from '@strongroom/kit/testing/test-clock'
import { type Stores, createStores } from '../../src/stores.ts'
import type { CreateEventInput } from '../../src/events/event-insert.ts'
import type { Connection } from '../../src/connections/item.ts'
import type { DeliveryTask, DueTask, LeasedTask, RouteTask } from '../../src/queue/tasks.ts'
import { tables } from '../../src/tables.ts'

export { times } from '@strongroom/kit/testing/test-timers'

export interface World {
  name: string
  store: TestStore
  hostility?: Hostility
}

/** The stores, and one of them with the failures that AWS may have. */
export function testWorlds(): World[] {
  const hostility = { seed: 7, conflict: 0.15, throttle: 0.1 }
  const stores = testStores()
  return [
    ...stores.map((store) => ({ name: store.name, store })),
    ...stores
      .slice(0, 1)
      .map((store) => ({ name: `${store.name} on a bad day`, store, hostility })),
  ]
}

/** Like `serviceStores`: the others only with SLOW=1. */
export function serviceWorlds(): World[] {
  const [embedded] = testStores()
  return testWorlds().filter(({ store }) => process.env['SLOW'] || store === embedded)
}

export interface Workbench {
  db: Db
  clock: TestClock
  stores: Stores
  close(): Promise<void>
  /** The item exactly as stored. */
  stored(table: string, key: { PK: string; SK: string }): Promise<Item | undefined>
}

export async function openWorkbench(world: Pick<World, 'store' | 'hostility'>): Promise<Workbench> {
  const { db, close } = await world.store.open()
  await createTables(db, tables)
  const clock = testClock()
  return {
    db,
    clock,
    stores: storesOn(db, clock, world.hostility),
    close,
    stored: async (TableName, Key) =>
      (await db.getItem({ TableName, Key, ConsistentRead: true })).Item,
  }
}

/** The stores as another process opens them. */
export function storesOn(db: Db, clock: TestClock, hostility?: Hostility): Stores {
  const given = hostility ? hostileDb(db, hostility) : db
  const pause = () => new Promise((resolve) => setImmediate(resolve))
  const cursors = createCursors(new Uint8Array(32).fill(1))
  return createStores({ db: retryingDb(given, { attempts: 200, pause }), clock, cursors })
}

/** A store that loses the responses of the first transactions. */
export function losingAnswers(db: Db, lost: number): Db {
  let left = lost
  return {
    ...db,
    async transactWriteItems(input) {
      if (left-- <= 0) return db.transactWriteItems(input)
      await Promise.allSettled([db.transactWriteItems(input)])
      throw Object.assign(new Error('The answer got lost'), { name: 'TimeoutError' })
    },
  }
}

const ids = () => ({ userId: newId('usr'), sourceId: newId('src') })

export function eventInput(given: Partial<CreateEventInput> = {}): CreateEventInput {
  return {
    ...ids(),
    plan: 'pro',
    headers: '{"content-type":"application/json"}',
    body: new TextEncoder().encode('{"type":"invoice.paid"}'),
    sourceIp: '203.0.113.9',
    contentType: 'application/json',
    method: 'POST',
    ...given,
  }
}

/** Every task that is due now, in all shards. */
export async function allDue({ shards, queue }: Stores): Promise<DueTask[]> {
  const numbers = Array.from({ length: await shards.count() }, (_, shard) => shard)
  const due = await Promise.all(numbers.map((shard) => queue.listDue(shard, { limit: 100_000 })))
  return due.flatMap(({ tasks }) => tasks)
}

export async function routeTaskOf(stores: Stores, eventId: string): Promise<RouteTask> {
  const tasks = (await allDue(stores)).filter((task) => task.kind === 'route')
  return required(tasks.find((task) => task.eventId === eventId))
}

export async function deliveryTasksOf(stores: Stores, eventId: string): Promise<DeliveryTask[]> {
  const tasks = await allDue(stores)
  return tasks.filter((task) => task.kind === 'deliver').filter((task) => task.eventId === eventId)
}

export const targetsOf = (connectionIds: readonly string[]) =>
  connectionIds.map((connectionId) => ({ connectionId }))

/** An event with a leased delivery to each of several connections. */
export async function leasedEvent(
  { stores, clock }: Pick<Workbench, 'stores' | 'clock'>,
  { connections = 1, ...given }: Partial<CreateEventInput> & { connections?: number } = {},
) {
  const event = await stores.events.create(eventInput(given))
  const connectionIds = Array.from({ length: connections }, () => newId('conn'))
  const { tasks } = await stores.routing.route(
    await routeTaskOf(stores, event.eventId),
    targetsOf(connectionIds),
    { leaseUntil: clock.now() + 25_000 },
  )
  return { event, connectionIds, tasks: tasks as LeasedTask[] }
}

/** A connection as stored, with one leased delivery to it. */
export async function leasedConnection(
  bench: Pick<Workbench, 'stores' | 'clock'>,
  given: Partial<CreateEventInput> = {},
) {
  const { stores, clock } = bench
  const connection = await stores.connections.create(connectionInput())
  const lease = async () => {
    const event = await stores.events.create(
      eventInput({ sourceId: connection.sourceId, userId: connection.userId, ...given }),
    )
    const { tasks } = await stores.routing.route(
      await routeTaskOf(stores, event.eventId),
      targetsOf([connection.connectionId]),
      { leaseUntil: clock.now() + 25_000 },
    )
    return { event, task: required(tasks[0]) as LeasedTask }
  }
  return { connection, lease, ...(await lease()) }
}

/** Has the format of a sealed secret, but no content. */
export const sealedText = (secret: string) => `AgR4${Buffer.from(secret).toString('base64')}`

export function connectionInput(given: Partial<Connection> = {}) {
  return {
    ...ids(),
    name: 'To the shop',
    destinationUrl: 'https://shop.example/hooks',
    signingSecret: sealedText('whsec'),
    ...given,
  }
}

export function attemptResult(
  clock: TestClock,
  given: { statusCode?: number; [attribute: string]: unknown } = {},
) {
  const isDelivered = (given.statusCode ?? 200) < 300
  return {
    destinationUrl: 'https://shop.example/hooks',
    statusCode: 200,
    responseBody: 'ok',
    latencyMs: 12,
    attemptedAt: clock.now(),
    end: isDelivered ? ('delivered' as const) : ('http_error' as const),
    maxAttempts: 8,
    ...given,
  }
}

export function required<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error('Expected something to be there')
  return value
}

/** The result of each call, or the reason or name of its error. */
export async function outcomes<T>(calls: Promise<T>[]): Promise<(T | string)[]> {
  const settled = await Promise.allSettled(calls)
  return settled.map((each) => {
    if (each.status === 'fulfilled') return each.value
    const { reason, name } = each.reason as { reason?: string; name: string }
    return reason ?? name
  })
}
