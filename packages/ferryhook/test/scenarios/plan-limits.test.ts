import { testStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  connectionInput,
  storesOn,
  openWorkbench,
  outcomes,
  serviceWorlds,
  times,
  type Workbench,
} from '../support/test-stores.ts'

let people = 0

async function userOn({ stores }: Workbench, plan: 'free' | 'starter' = 'free') {
  const { userId } = await stores.users.create({
    email: `limited-${++people}@example.com`,
    name: 'Ada',
    plan,
  })
  const source = { userId, name: 'Shop', provider: 'custom' as const }
  return {
    userId,
    makeSource: () => stores.sources.create(source, { enforcePlanLimit: true }),
    makeConnection: (sourceId: string) =>
      stores.connections.create(connectionInput({ userId, sourceId }), { enforcePlanLimit: true }),
  }
}

const refusals = (ends: unknown[], reason = 'plan_limit') =>
  ends.filter((end) => end === reason).length

describe.each(serviceWorlds())('plan limits on $name', (world) => {
  let bench: Workbench
  beforeAll(async () => {
    bench = await openWorkbench(world)
  })
  afterAll(() => bench.close())

  test('three of ten concurrently created sources are stored if the plan allows three', async () => {
    const { userId, makeSource } = await userOn(bench)
    const ends = await outcomes(times(10, makeSource))
    expect(refusals(ends)).toBe(7)
    expect(await bench.stores.sources.listByUser(userId)).toHaveLength(3)
  })

  test('two of ten concurrently created connections are stored if the plan allows two', async () => {
    const { makeSource, makeConnection } = await userOn(bench)
    const { sourceId } = await makeSource()
    const ends = await outcomes(times(10, () => makeConnection(sourceId)))
    expect(refusals(ends)).toBe(8)
    expect(await bench.stores.connections.listBySource(sourceId)).toHaveLength(2)
  })

  test('a deletion makes room for a new source or connection', async () => {
    const { userId, makeSource, makeConnection } = await userOn(bench)
    const [source] = await Promise.all(times(3, makeSource))
    const { sourceId } = source ?? { sourceId: '' }
    const [connection] = await Promise.all(times(2, () => makeConnection(sourceId)))
    await bench.stores.connections.delete(connection?.connectionId ?? '', { sourceId })
    expect(refusals(await outcomes(times(2, () => makeConnection(sourceId))))).toBe(1)
    await bench.stores.sources.delete(sourceId, userId)
    expect(refusals(await outcomes(times(2, makeSource)))).toBe(1)
  })

  test('a connection is never created for a source that is deleted concurrently', async () => {
    const { userId, makeSource, makeConnection } = await userOn(bench, 'starter')
    const { sourceId } = await makeSource()
    const making = outcomes(times(5, () => makeConnection(sourceId)))
    await bench.stores.sources.delete(sourceId, userId)
    await making
    expect(await bench.stores.connections.listBySource(sourceId)).toEqual([])
    expect(refusals(await outcomes([makeConnection(sourceId)]), 'not_found')).toBe(1)
  })

  test('a smaller plan keeps existing resources and allows no new ones', async () => {
    const { userId, makeSource } = await userOn(bench, 'starter')
    await Promise.all(times(5, makeSource))
    await bench.stores.users.update(userId, { plan: 'free' })
    expect(await outcomes([makeSource()])).toEqual(['plan_limit'])
    expect(await bench.stores.sources.listByUser(userId)).toHaveLength(5)
  })
})

describe.each(testStores())('lookups by owners and operators on $name', (store) => {
  let bench: Workbench
  beforeAll(async () => {
    bench = await openWorkbench({ store })
  })
  afterAll(() => bench.close())

  test('a connection is visible to its owner before the index contains it, and to no other user', async () => {
    const { userId, makeSource, makeConnection } = await userOn(bench)
    const { sourceId } = await makeSource()
    const connection = await makeConnection(sourceId)
    const { connectionId } = connection
    const stale = storesOn(bench.db, bench.clock, { seed: 1, staleIndex: 1 }).connections
    const stranger = await userOn(bench)
    for (const connections of [bench.stores.connections, stale]) {
      expect(await connections.getOwned(connectionId, userId)).toEqual(connection)
      expect(await connections.getOwned(connectionId, stranger.userId)).toBeNull()
    }
    await bench.stores.connections.delete(connectionId, { sourceId })
    expect(await bench.stores.connections.getOwned(connectionId, userId)).toBeNull()
  })

  test('all users are listed page by page, each once', async () => {
    const { userListing } = bench.stores
    const made = await Promise.all(times(7, () => userOn(bench)))
    await made[0]?.makeSource()
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await userListing.list({ limit: 3, cursor })
      expect(page.items.length).toBeLessThanOrEqual(3)
      seen.push(...page.items.map(({ userId }) => userId))
      cursor = page.cursor ?? undefined
    } while (cursor !== undefined)
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen).toEqual(expect.arrayContaining(made.map(({ userId }) => userId)))
  })
})
