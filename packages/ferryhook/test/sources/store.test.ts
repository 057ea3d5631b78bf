import { ItemMismatch } from '@strongroom/kit/db-errors'
import { newId } from '@strongroom/kit/ids'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SourceChanges } from '../../src/sources/store.ts'
import {
  connectionInput,
  storesOn,
  openWorkbench,
  outcomes,
  sealedText,
  type Workbench,
} from '../support/test-stores.ts'

describe.each(serviceStores())('sources on $name', (store) => {
  let bench: Workbench
  let sources: Workbench['stores']['sources']

  beforeAll(async () => {
    bench = await openWorkbench({ store })
    sources = bench.stores.sources
  })
  afterAll(() => bench.close())

  const input = (userId = newId('usr')) => ({
    userId,
    name: 'Stripe Prod',
    provider: 'stripe' as const,
  })

  test('a source is stored attribute for attribute as the specification shows', async () => {
    const { userId, sourceId } = await sources.create({
      ...input(),
      signingSecret: sealedText('secret'),
      signingAlgorithm: 'hmac-sha256',
    })
    const key = { PK: `USER#${userId}`, SK: `SRC#${sourceId}` }
    expect(sourceId).toMatch(/^src_[\w-]{16}$/)
    expect(await bench.stored('ferryhook-main', key)).toEqual({
      ...key,
      GSI3PK: `SRCID#${sourceId}`,
      GSI3SK: 'SOURCE',
      sourceId,
      userId,
      name: 'Stripe Prod',
      provider: 'stripe',
      signingSecret: sealedText('secret'),
      signingAlgorithm: 'hmac-sha256',
      status: 'active',
      eventCount: 0,
      createdAt: '2100-01-01T00:00:00.000Z',
    })
  })

  test('optional attributes of a source that are not given are not stored', async () => {
    const { userId, sourceId } = await sources.create(input())
    const stored = await bench.stored('ferryhook-main', {
      PK: `USER#${userId}`,
      SK: `SRC#${sourceId}`,
    })
    for (const name of ['signingSecret', 'signingAlgorithm', 'lastEventAt', 'countedUntil']) {
      expect(stored).not.toHaveProperty(name)
    }
  })

  test('a source is found by its id alone, and by its owner as it was last written', async () => {
    const source = await sources.create(input())
    expect(await sources.getById(source.sourceId)).toEqual(source)
    expect(await sources.getOwned(source.sourceId, source.userId)).toEqual(source)
    expect(await sources.getOwned(source.sourceId, newId('usr'))).toBeNull()
    expect(await sources.getById(newId('src'))).toBeNull()
    const stale = storesOn(bench.db, bench.clock, { seed: 1, staleIndex: 1 }).sources
    expect(await stale.getById(source.sourceId)).toBeNull()
    expect(await stale.getOwned(source.sourceId, source.userId)).toEqual(source)
  })

  test('only the sources of the user are listed', async () => {
    const userId = newId('usr')
    const mine = [await sources.create(input(userId)), await sources.create(input(userId))]
    await sources.create(input())
    await bench.stores.apiKeys.create(userId, { name: 'CI', permissions: 'read' })
    const listed = await sources.listByUser(userId)
    expect(listed.map(({ sourceId }) => sourceId).toSorted()).toEqual(
      mine.map(({ sourceId }) => sourceId).toSorted(),
    )
  })

  test('an update sets what is given, removes what is given as undefined and leaves the rest', async () => {
    const source = await sources.create({ ...input(), signingSecret: sealedText('one') })
    const { sourceId, userId } = source
    const paused = await sources.update(sourceId, userId, { status: 'paused', name: 'Old' })
    expect(paused).toEqual({ ...source, status: 'paused', name: 'Old' })
    const bare = await sources.update(sourceId, userId, { signingSecret: undefined })
    expect(bare).not.toHaveProperty('signingSecret')
    expect(bare.name).toBe('Old')
    expect(await outcomes([sources.update(sourceId, newId('usr'), { name: 'Mine' })])).toEqual([
      'not_found',
    ])
  })

  test('a deleted source and its connections stop, and their history stays', async () => {
    const { sourceId, userId } = await sources.create(input())
    const { connections } = bench.stores
    const connection = await connections.create(connectionInput({ sourceId, userId }))
    await sources.delete(sourceId, userId)
    await sources.delete(sourceId, userId)
    expect(await sources.getById(sourceId)).toBeNull()
    expect(await sources.getOwned(sourceId, userId)).toBeNull()
    expect(await sources.listByUser(userId)).toEqual([])
    expect(await sources.listByUser(userId, { includeDeleted: true })).toMatchObject([
      { sourceId, status: 'deleted' },
    ])
    expect(await connections.get(connection.connectionId, sourceId)).toMatchObject({
      status: 'deleted',
    })
    const late = [
      sources.update(sourceId, userId, { status: 'active' }),
      sources.delete(sourceId, newId('usr')),
    ]
    expect(await outcomes<unknown>(late)).toEqual(['not_found', 'not_found'])
  })

  test('an invalid source is rejected before it reaches the store', async () => {
    const userId = newId('usr')
    const wrong = { ...input(userId), provider: 'carrier-pigeon' as 'custom' }
    await expect(sources.create(wrong)).rejects.toThrow(ItemMismatch)
    expect(await sources.listByUser(userId)).toEqual([])
    const source = await sources.create(input(userId))
    for (const change of [
      { status: 'gone' },
      { sourceId: newId('src') },
      { name: '' },
      { signingSecret: 'whsec_plain' },
    ] as SourceChanges[]) {
      await expect(sources.update(source.sourceId, userId, change)).rejects.toThrow(ItemMismatch)
    }
    expect(await sources.getOwned(source.sourceId, userId)).toEqual(source)
  })

  test('a damaged source in the store is a typed error', async () => {
    const userId = newId('usr')
    const Item = { PK: `USER#${userId}`, SK: 'SRC#src_damaged000000000', eventCount: 'many' }
    await bench.db.putItem({ TableName: 'ferryhook-main', Item })
    await expect(sources.listByUser(userId)).rejects.toThrow(ItemMismatch)
  })
})
