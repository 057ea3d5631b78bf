import type { TableAction } from '@strongroom/kit/data-model'
import type { Db, TransactWriteItem } from '@strongroom/kit/db'
import { newId } from '@strongroom/kit/ids'
import { testStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { dataModel } from '../src/data-model.ts'
import {
  attemptResult,
  connectionInput,
  deliveryTasksOf,
  eventInput,
  storesOn,
  openWorkbench,
  required,
  routeTaskOf,
  targetsOf,
  times,
} from './support/test-stores.ts'

/** About eighty HTTP requests, on a machine that may be busy. */
const PATIENCE_MS = 30_000

describe('the data model', () => {
  test('has a key template for every key attribute of an entity, and no other', () => {
    for (const { keys, schema, name } of dataModel.entities) {
      const attributes = Object.keys(schema.shape).filter((attribute) =>
        /^(GSI\d)?[PS]K$/.test(attribute),
      )
      expect(Object.keys(keys).toSorted(), name).toEqual(attributes.toSorted())
    }
  })
})

describe.each(testStores())('the functions of the data model on $name', (store) => {
  test(
    'each function works with exactly the permissions it declares',
    async () => {
      const bench = await openWorkbench({ store })
      const used = new Map<string, Set<string>>()
      const layerOf = (name: string) => {
        const seen = new Set<string>()
        used.set(name, seen)
        return storesOn(
          observed(bench.db, (what) => seen.add(what)),
          bench.clock,
        )
      }
      const [ingest, worker, api] = [layerOf('ingest'), layerOf('worker'), layerOf('api')]
      const clockResult = attemptResult(bench.clock)

      const user = await api.users.create({ email: 'model@example.com', name: 'Ada', plan: 'pro' })
      const { userId } = user
      await api.users.getByEmail(user.email)
      await api.userListing.list()
      const shop = { userId, name: 'Shop', provider: 'shopify' } as const
      const source = await api.sources.create(shop, { enforcePlanLimit: true })
      const { sourceId } = source
      const input = connectionInput({ userId, sourceId })
      const made = await api.connections.create(input, { enforcePlanLimit: true })
      const { connectionId } = made
      const { apiKey } = await api.apiKeys.create(userId, { name: 'CI', permissions: 'read' })
      await api.apiKeys.getByHash(apiKey.keyHash)
      await api.apiKeys.updateLastUsed(apiKey.keyId)
      await api.apiKeys.delete(apiKey.keyId, userId)
      const connection = await api.connections.update(connectionId, { status: 'active' })
      const signIn = { familyKey: 'k'.repeat(43), tokenHash: '0'.repeat(64) }
      const session = await api.sessions.create({ ...signIn, userId })
      await api.sessions.revoke(userId, session.familyId)
      await api.audit.add({ userId, actor: userId, action: 'account.exported' })

      const found = required(await ingest.sources.getById(sourceId))
      const owner = required(await ingest.users.getById(found.userId))
      const event = await ingest.events.create(
        eventInput({
          sourceId,
          userId,
          plan: owner.plan,
          body: Buffer.alloc(5_000),
          dedupKey: 'x',
          quota: { month: '2100-01-01', limit: 10 },
        }),
      )
      await worker.retention.extendOverdue()
      // Ingest sends alerts about limits.
      const choice = { kinds: ['limit.reached' as const], email: true }
      await api.alertSettings.put(userId, choice, { expected: null })
      const alerts = required(await ingest.alertSettings.get(userId))
      await ingest.alertSettings.recordResult(alerts, 'status 500')
      await ingest.rateLimits.take('mail', userId)

      await worker.connections.listBySource(sourceId)
      // More than one routing transaction takes, so that the task is also checked without completing.
      const others = times(40, () => newId('conn'))
      await worker.routing.route(
        await routeTaskOf(worker, event.eventId),
        targetsOf([...others, connectionId]),
      )
      const taskOf = async () => {
        const due = await deliveryTasksOf(worker, event.eventId)
        return required(due.find((each) => each.connectionId === connectionId))
      }
      const task = await taskOf()
      const leased = required(await worker.queue.claim(task, bench.clock.now() + 25_000))
      await worker.parking.park(leased, connection, { reason: 'limit', wakeAt: bench.clock.now() })
      bench.clock.advance({ seconds: 5 })
      const shard = await worker.shards.shardFor(connectionId)
      const { tasks } = await worker.queue.listDue(shard)
      for (const wake of tasks) {
        if (wake.kind === 'wake')
          await worker.wakeUps.wakeUp(wake, { limit: 1, nextWakeAt: bench.clock.now() })
      }
      const again = await taskOf()
      const second = required(await worker.queue.claim(again, bench.clock.now() + 25_000))
      await worker.settlement.settle(second, {
        state: 'failed',
        attempt: clockResult,
        reason: 'exhausted',
      })
      await worker.connectionHealth.add(connection, { succeeded: false, failedAttempts: 1 })
      // For a replay job.
      await worker.events.getById(event.eventId)
      await worker.metering.plan(source)
      await worker.metering.advance(source, { until: bench.clock.now() + 1, events: 1 })

      await api.events.getById(event.eventId)
      await api.events.listBySource(sourceId)
      await api.deliveries.replay(event.eventId, connectionId)
      // No worker has claimed it yet.
      const received = await ingest.events.create(eventInput({ sourceId, userId }))
      // A replay job looks up whether one has.
      await worker.events.listForward(sourceId, { receivedAt: 0 }, { limit: 10 })
      await api.deliveries.replay(received.eventId, connectionId)
      await api.sources.delete(sourceId, userId)
      // A worker resumes a purge whose process stopped.
      await api.apiKeys.create(userId, { name: 'CI', permissions: 'read' })
      await api.sessions.create({ ...signIn, userId })
      const purge = await api.accountPurge.begin(user)
      expect(await worker.accountPurge.finish(purge)).toEqual([sourceId])

      // The others only read; the tests of packages/lambda compare them with their calls.
      for (const { name, allows } of dataModel.functions.filter((each) => used.has(each.name))) {
        const allowed = allows.flatMap(({ table, actions, indexes = [] }) => [
          ...actions.map((action) => `${table.name} ${action}`),
          ...indexes.map((index) => `${table.name} Query ${index}`),
        ])
        expect([...(used.get(name) ?? [])].toSorted(), name).toEqual(allowed.toSorted())
      }
      await bench.close()
    },
    PATIENCE_MS,
  )
})

/** Records which permissions IAM would require. */
function observed(db: Db, tell: (what: string) => void): Db {
  const ask = (table: string, action: TableAction, index?: string) => {
    // An index is a resource of its own.
    tell([table, action, ...(index === undefined ? [] : [index])].join(' '))
  }
  const parts = {
    Put: 'PutItem',
    Update: 'UpdateItem',
    Delete: 'DeleteItem',
    ConditionCheck: 'ConditionCheckItem',
  } as const
  return {
    ...db,
    getItem: (input) => (ask(input.TableName, 'GetItem'), db.getItem(input)),
    batchGetItem(input) {
      for (const table of Object.keys(input.RequestItems)) ask(table, 'BatchGetItem')
      return db.batchGetItem(input)
    },
    putItem: (input) => (ask(input.TableName, 'PutItem'), db.putItem(input)),
    updateItem: (input) => (ask(input.TableName, 'UpdateItem'), db.updateItem(input)),
    deleteItem: (input) => (ask(input.TableName, 'DeleteItem'), db.deleteItem(input)),
    query: (input) => (ask(input.TableName, 'Query', input.IndexName), db.query(input)),
    scan: (input) => (ask(input.TableName, 'Scan', input.IndexName), db.scan(input)),
    transactWriteItems(input) {
      for (const item of input.TransactItems) {
        for (const [kind, part] of Object.entries(item) as [
          keyof TransactWriteItem,
          { TableName: string },
        ][]) {
          ask(part.TableName, parts[kind])
        }
      }
      return db.transactWriteItems(input)
    },
  }
}
