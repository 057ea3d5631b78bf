import { createTables, verifyTables } from '@strongroom/kit/tables'
import { createTableInput } from '@strongroom/kit/table'
import { testStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { cacheTable, dedupeTable, tokensTable } from '../src/tables.ts'

describe('the tables of Two-key', () => {
  test('the cache has cache_key as its only key, on demand, with time to live by ttl', () => {
    expect(createTableInput(cacheTable)).toEqual({
      TableName: 'slack-existence-check-cache',
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'cache_key', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'cache_key', AttributeType: 'S' }],
    })
    expect(cacheTable.ttl).toBe('ttl')
  })

  test('tokens and events are in tables of their own', () => {
    expect(createTableInput(tokensTable)).toMatchObject({
      TableName: 'slack-workspace-tokens',
      KeySchema: [{ AttributeName: 'team_id', KeyType: 'HASH' }],
    })
    expect(tokensTable.ttl).toBeUndefined()
    expect(createTableInput(dedupeTable)).toMatchObject({
      TableName: 'slack-event-dedupe',
      KeySchema: [{ AttributeName: 'event_id', KeyType: 'HASH' }],
    })
    expect(dedupeTable.ttl).toBe('ttl')
  })

  test.each(testStores())('are created on $name as declared', async (store) => {
    const { db, close } = await store.open()
    const perishable = [cacheTable, dedupeTable]
    await createTables(db, [...perishable, tokensTable])
    expect(await verifyTables(db, perishable)).toEqual(
      perishable.map(({ name }) => ({ table: name, differences: [] })),
    )
    await close()
  })
})
