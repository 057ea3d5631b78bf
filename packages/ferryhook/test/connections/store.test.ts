import { ItemMismatch } from '@strongroom/kit/db-errors'
import { newId } from '@strongroom/kit/ids'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ConnectionChanges } from '../../src/connections/store.ts'
import {
  connectionInput,
  storesOn,
  openWorkbench,
  outcomes,
  times,
  type Workbench,
} from '../support/test-stores.ts'

describe.each(serviceStores())('connections on $name', (store) => {
  let bench: Workbench
  let connections: Workbench['stores']['connections']

  beforeAll(async () => {
    bench = await openWorkbench({ store })
    connections = bench.stores.connections
  })
  afterAll(() => bench.close())

  test('a connection is stored attribute for attribute as the specification shows', async () => {
    const given = connectionInput({
      filters: '[{"path":"$.type","operator":"equals","value":"paid"}]',
      transform: '{"type":"passthrough"}',
      retryConfig: '[0,30,120]',
    })
    const { connectionId } = await connections.create(given)
    const key = { PK: `SRC#${given.sourceId}`, SK: `CONN#${connectionId}` }
    expect(connectionId).toMatch(/^conn_[\w-]{16}$/)
    expect(await bench.stored('ferryhook-main', key)).toEqual({
      ...key,
      ...given,
      GSI3PK: `CONNID#${connectionId}`,
      GSI3SK: 'CONN',
      connectionId,
      status: 'active',
      deliveryCount: 0,
      failureCount: 0,
      createdAt: '2100-01-01T00:00:00.000Z',
      updatedAt: '2100-01-01T00:00:00.000Z',
      rev: 0,
    })
  })

  test('optional attributes of a connection that are not given are not stored', async () => {
    const { connectionId, sourceId } = await connections.create(connectionInput())
    const key = { PK: `SRC#${sourceId}`, SK: `CONN#${connectionId}` }
    const stored = await bench.stored('ferryhook-main', key)
    for (const name of ['filters', 'transform', 'retryConfig', 'statusReason']) {
      expect(stored).not.toHaveProperty(name)
    }
  })

  test('the connections of a source are listed, without the deleted ones', async () => {
    const given = connectionInput()
    const [first, second] = [await connections.create(given), await connections.create(given)]
    await connections.create(connectionInput())
    await connections.delete(first.connectionId)
    expect(await connections.listBySource(given.sourceId)).toEqual([second])
    expect(await connections.listBySource(given.sourceId, { includeDeleted: true })).toHaveLength(2)
  })

  test('a connection is changed and deleted by its id alone', async () => {
    const made = await connections.create(connectionInput({ transform: '{"type":"passthrough"}' }))
    const { connectionId, sourceId } = made
    bench.clock.advance({ seconds: 1 })
    const changed = await connections.update(connectionId, { name: 'New', transform: undefined })
    const { transform: _gone, ...rest } = made
    const updatedAt = new Date(bench.clock.now()).toISOString()
    expect(changed).toEqual({ ...rest, name: 'New', rev: 1, updatedAt })
    expect(await connections.getById(connectionId)).toEqual(changed)
    await connections.delete(connectionId)
    expect(await connections.getById(connectionId)).toBeNull()
    expect(await connections.get(connectionId, sourceId)).toMatchObject({
      status: 'deleted',
      rev: 2,
    })
    expect(await outcomes([connections.update(connectionId, { status: 'active' })])).toEqual([
      'not_found',
    ])
    expect(await outcomes([connections.update(newId('conn'), { name: 'x' })])).toEqual([
      'not_found',
    ])
  })

  test('with its source id, a connection can be changed before the index contains it', async () => {
    const stale = storesOn(bench.db, bench.clock, { seed: 1, staleIndex: 1 }).connections
    const { connectionId, sourceId } = await stale.create(connectionInput())
    expect(await outcomes([stale.update(connectionId, { name: 'x' })])).toEqual(['not_found'])
    const changed = await stale.update(connectionId, { name: 'x' }, { sourceId })
    expect(changed).toMatchObject({ name: 'x', rev: 1 })
  })

  test('each of many concurrent changes increments the revision', async () => {
    const { connectionId } = await connections.create(connectionInput())
    await Promise.all(times(10, (n) => connections.update(connectionId, { name: `name ${n}` })))
    expect(await connections.getById(connectionId)).toMatchObject({ rev: 10 })
  })

  test('an invalid connection is rejected before it reaches the store', async () => {
    const wrong = [
      { destinationUrl: 'ftp://files.example' },
      { filters: '{}' },
      { filters: 'not json' },
      { transform: '[]' },
      { retryConfig: '[0,1,2,3,4,5,6,7,8]' },
      { retryConfig: '["soon"]' },
      { status: 'broken' },
      { rev: 3 },
      { signingSecret: 'whsec_plain' },
    ]
    const made = await connections.create(connectionInput())
    for (const change of wrong as ConnectionChanges[]) {
      const error = await connections
        .update(made.connectionId, change)
        .catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(ItemMismatch)
      expect(error).toMatchObject({ attributes: Object.keys(change) })
    }
    await expect(connections.create(connectionInput({ filters: '7' }))).rejects.toThrow(
      ItemMismatch,
    )
    expect(await connections.getById(made.connectionId)).toEqual(made)
  })
})
