import { createTables } from '@strongroom/kit/tables'
import { testStores } from '@strongroom/kit/testing/stores'
import { createTableInput } from '@strongroom/kit/table'
import { describe, expect, test } from 'vitest'
import { tables } from '../src/tables.ts'

const key = (name: string) => [
  { AttributeName: `${name}PK`, KeyType: 'HASH' },
  { AttributeName: `${name}SK`, KeyType: 'RANGE' },
]
const [main, events] = tables

describe('the tables', () => {
  test('ferryhook-main has the key, indexes, billing mode and recovery of the specification', () => {
    expect(createTableInput(main)).toMatchObject({
      TableName: 'ferryhook-main',
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: key(''),
      GlobalSecondaryIndexes: ['GSI1', 'GSI2', 'GSI3'].map((IndexName) => ({
        IndexName,
        KeySchema: key(IndexName),
        Projection: { ProjectionType: 'ALL' },
      })),
      Tags: [
        { Key: 'Project', Value: 'ferryhook' },
        { Key: 'Environment', Value: 'production' },
      ],
    })
    expect(main.pointInTimeRecovery).toBe(true)
    expect(main.ttl).toBeUndefined()
  })

  test('ferryhook-events has the key, index, TTL, billing mode and recovery of the specification', () => {
    expect(createTableInput(events)).toMatchObject({
      TableName: 'ferryhook-events',
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: key(''),
      GlobalSecondaryIndexes: [
        { IndexName: 'GSI1', KeySchema: key('GSI1'), Projection: { ProjectionType: 'KEYS_ONLY' } },
      ],
    })
    expect(events.pointInTimeRecovery).toBe(true)
    expect(events.ttl).toBe('expiresAt')
  })

  test.each(testStores())('are created on $name with the TTL attribute enabled', async (store) => {
    const { db, close } = await store.open()
    await createTables(db, tables)
    const { TimeToLiveDescription } = await db.describeTimeToLive({ TableName: events.name })
    expect(TimeToLiveDescription).toMatchObject({ AttributeName: 'expiresAt' })
    const { Table } = await db.describeTable({ TableName: main.name })
    expect(Table?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName).toSorted()).toEqual([
      'GSI1',
      'GSI2',
      'GSI3',
    ])
    await close()
  })
})
