import { type Db, eachOperation } from '@strongroom/kit/db'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { createTableInput, type Table } from '@strongroom/kit/table'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKeyStore } from '../../src/aws/create-key-store.ts'
import { branchKeysTable } from '../../src/tables.ts'

describe.each(serviceStores())('creating a key store on $name', (store) => {
  let db: Db
  let close: () => Promise<void>

  beforeAll(async () => {
    ;({ db, close } = await store.open())
  })
  afterAll(() => close())

  const make = async (table: Table) => void (await db.createTable(createTableInput(table)))

  // KS-56, KS-59, KS-60, KS-62
  test('makes its table and returns the ARN of it, also when it is there', async () => {
    const { tableArn } = await createKeyStore({ db, tableName: 'fresh' })
    expect(tableArn).toMatch(/^arn:aws:dynamodb:.+:table\/.*fresh$/)
    const { Table: made } = await db.describeTable({ TableName: 'fresh' })
    expect(made).toMatchObject({
      TableArn: tableArn,
      TableStatus: 'ACTIVE',
      BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
      KeySchema: [
        { AttributeName: 'branch-key-id', KeyType: 'HASH' },
        { AttributeName: 'type', KeyType: 'RANGE' },
      ],
    })
    expect(made?.AttributeDefinitions?.toSorted(byName)).toEqual([
      { AttributeName: 'branch-key-id', AttributeType: 'S' },
      { AttributeName: 'type', AttributeType: 'S' },
    ])
    expect(await createKeyStore({ db, tableName: 'fresh' })).toEqual({ tableArn })
  })

  // KS-63
  test('accepts a table that has more than that', async () => {
    const partitionKey = { name: 'kms-arn', type: 'S' } as const
    const indexes = { 'by-arn': { partitionKey, projection: 'ALL' } } as const
    await make({ ...branchKeysTable, name: 'indexed', indexes })
    const { tableArn } = await createKeyStore({ db, tableName: 'indexed' })
    expect(tableArn).toMatch(/indexed$/)
  })

  // KS-58
  test.each<[what: string, change: Partial<Table>]>([
    ['another partition key', { partitionKey: { name: 'id', type: 'S' } }],
    ['a partition key of another type', { partitionKey: { name: 'branch-key-id', type: 'B' } }],
    ['another sort key', { sortKey: { name: 'kind', type: 'S' } }],
    ['a sort key of another type', { sortKey: { name: 'type', type: 'N' } }],
    [
      'its keys the other way round',
      { partitionKey: { name: 'type', type: 'S' }, sortKey: { name: 'branch-key-id', type: 'S' } },
    ],
  ])('refuses a table with %s, and leaves it as it is', async (what, change) => {
    const tableName = what.replaceAll(' ', '-')
    await make({ ...branchKeysTable, ...change, name: tableName })
    const before = await db.describeTable({ TableName: tableName })
    await expect(createKeyStore({ db, tableName })).rejects.toMatchObject({
      name: 'TableDoesNotConform',
    })
    expect(await db.describeTable({ TableName: tableName })).toEqual(before)
  })

  test('refuses a table without a sort key', async () => {
    const { sortKey: _sortKey, ...table } = branchKeysTable
    await make({ ...table, name: 'unsorted' })
    await expect(createKeyStore({ db, tableName: 'unsorted' })).rejects.toMatchObject({
      name: 'TableDoesNotConform',
    })
  })

  test('by five concurrent callers gives each the same table', async () => {
    const arns = await Promise.all(
      Array.from({ length: 5 }, () => createKeyStore({ db, tableName: 'contended' })),
    )
    const { Table: made } = await db.describeTable({ TableName: 'contended' })
    expect(arns).toEqual(arns.map(() => ({ tableArn: made?.TableArn })))
  })

  /** Reports that there is no table, and then another caller creates it. */
  function outrun(table: Table): Db {
    let isFirst = true
    return eachOperation((name) => async (input) => {
      if (name !== 'describeTable' || !isFirst) return db[name](input)
      isFirst = false
      const answer = db.describeTable(input)
      await answer.catch(() => make(table))
      return answer
    })
  }

  test('uses the table that another caller created first, if it conforms', async () => {
    const table = { ...branchKeysTable, name: 'faster' }
    const { tableArn } = await createKeyStore({ db: outrun(table), tableName: 'faster' })
    expect(tableArn).toMatch(/faster$/)
    const other = { ...table, name: 'other', sortKey: { name: 'kind', type: 'S' } as const }
    await expect(createKeyStore({ db: outrun(other), tableName: 'other' })).rejects.toMatchObject({
      name: 'TableDoesNotConform',
    })
  })

  // KS-61
  test('fails as the store does if it cannot look or cannot make', async () => {
    for (const broken of ['describeTable', 'createTable']) {
      const refusing = eachOperation((name) => async (input) => {
        if (name !== broken) return db[name](input)
        throw Object.assign(new Error('no'), { name: 'AccessDeniedException' })
      })
      await expect(createKeyStore({ db: refusing, tableName: 'refused' })).rejects.toMatchObject({
        name: 'AccessDeniedException',
      })
    }
  })

  test('waits until the table is active by default', async () => {
    let looks = 0
    const slow = eachOperation((name) => async (input) => {
      const answer = await db[name](input)
      if (name !== 'describeTable') return answer
      looks++
      const { Table: found } = answer as Awaited<ReturnType<Db['describeTable']>>
      return { Table: { ...found, TableStatus: looks > 3 ? 'ACTIVE' : 'CREATING' } }
    })
    const pauses: number[] = []
    const pause = async (ms: number) => void pauses.push(ms)
    await createKeyStore({ db: slow, tableName: 'slow', wait: false, pause })
    expect(pauses).toEqual([])
    looks = 0
    await createKeyStore({ db: slow, tableName: 'slow', pause })
    expect(pauses).toHaveLength(2)
  })

  test('needs the name of the table', async () => {
    await expect(createKeyStore({ db, tableName: '' })).rejects.toThrow('pass the tableName')
  })
})

function byName(a: { AttributeName?: string }, b: { AttributeName?: string }): number {
  return (a.AttributeName ?? '').localeCompare(b.AttributeName ?? '')
}
