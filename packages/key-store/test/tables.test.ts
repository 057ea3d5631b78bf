import { createTables } from '@strongroom/kit/tables'
import { createTableInput } from '@strongroom/kit/table'
import { testStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { branchKeysTable, LOGICAL_KEY_STORE_NAME } from '../src/tables.ts'

describe('the table of branch keys', () => {
  // KS-60
  test('has branch-key-id and type as its keys, both strings, and nothing else', () => {
    expect(createTableInput(branchKeysTable)).toEqual({
      TableName: 'strongroom-branch-keys',
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: 'branch-key-id', KeyType: 'HASH' },
        { AttributeName: 'type', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: [
        { AttributeName: 'branch-key-id', AttributeType: 'S' },
        { AttributeName: 'type', AttributeType: 'S' },
      ],
    })
    expect(branchKeysTable.ttl).toBeUndefined()
  })

  test('can be restored to any second: point-in-time recovery is on', () => {
    expect(branchKeysTable.pointInTimeRecovery).toBe(true)
  })

  test('has a logical name that no prefix changes', () => {
    expect(LOGICAL_KEY_STORE_NAME).toBe('strongroom-branch-keys')
  })

  test.each(testStores())('is made on $name as declared', async (store) => {
    const { db, close } = await store.open()
    await createTables(db, [branchKeysTable])
    const { Table } = await db.describeTable({ TableName: 'strongroom-branch-keys' })
    const { KeySchema, AttributeDefinitions } = createTableInput(branchKeysTable)
    expect(Table).toMatchObject({ KeySchema, TableStatus: 'ACTIVE' })
    expect(Table?.AttributeDefinitions).toEqual(expect.arrayContaining(AttributeDefinitions))
    await close()
  })
})
