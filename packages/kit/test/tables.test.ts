import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cloudFormation } from '../src/cloudformation.ts'
import { createTables, verifyTables } from '../src/tables.ts'
import type { Db } from '../src/db.ts'
import { prefixTables } from '../src/prefix-tables.ts'
import { defineTable, type Table } from '../src/table.ts'
import { testStores } from '../src/testing/stores.ts'

const letters = defineTable({
  name: 'letter-box',
  description: 'Letters',
  partitionKey: { name: 'PK', type: 'S' },
  sortKey: { name: 'SK', type: 'N' },
  indexes: {
    GSI1: { partitionKey: { name: 'to', type: 'S' }, projection: 'KEYS_ONLY' },
    GSI2: {
      partitionKey: { name: 'from', type: 'S' },
      sortKey: { name: 'SK', type: 'N' },
      projection: { include: ['subject'] },
    },
  },
  ttl: 'ttl',
  pointInTimeRecovery: false,
  tags: { Project: 'post' },
})

describe.each(testStores())('declared tables on $name', (store) => {
  let db: Db
  let close: () => Promise<void>
  let deployment = 0

  beforeAll(async () => {
    ;({ db, close } = await store.open())
  })
  afterAll(() => close())

  const empty = () => prefixTables(db, `d${++deployment}-`)
  const differences = async (on: Db, table: Table) =>
    (await verifyTables(on, [table]))[0]?.differences

  test('have secure deletion if they declare it, also those from before, where the store knows it', async () => {
    const on = empty()
    const secure = { ...letters, name: 'secure', secureDelete: true }
    await createTables(on, [letters, secure])
    await on.putItem({ TableName: 'letter-box', Item: { PK: 'a', SK: 1 } })
    await createTables(on, [{ ...letters, secureDelete: true }, secure])
    const isKnown = store.name === 'the embedded engine'
    for (const TableName of ['letter-box', 'secure']) {
      const { Table: description } = await on.describeTable({ TableName })
      expect(description?.SecureDeleteEnabled).toBe(isKnown ? true : undefined)
    }
    expect((await on.scan({ TableName: 'letter-box' })).Items).toEqual([{ PK: 'a', SK: 1 }])
    expect(JSON.stringify(cloudFormation({ tables: [secure] }))).not.toContain('SecureDelete')
  })

  test('are created as declared, which verification confirms', async () => {
    const on = empty()
    const told: string[] = []
    await createTables(on, [letters], {
      onTable: ({ name }, outcome) => told.push(`${name} ${outcome}`),
    })
    expect(told).toEqual(['letter-box created'])
    expect(await verifyTables(on, [letters])).toEqual([{ table: 'letter-box', differences: [] }])
  })

  test('are created once by concurrent starts', async () => {
    const on = empty()
    const recoverable = { ...letters, pointInTimeRecovery: true }
    const told: string[] = []
    const start = () =>
      createTables(on, [recoverable], { onTable: (_table, outcome) => told.push(outcome) })
    await Promise.all(Array.from({ length: 5 }, start))
    expect(told.toSorted()).toEqual(['created', 'exists', 'exists', 'exists', 'exists'])
    expect(await on.describeTimeToLive({ TableName: 'letter-box' })).toMatchObject({
      TimeToLiveDescription: { TimeToLiveStatus: 'ENABLED', AttributeName: 'ttl' },
    })
  })

  test('that exist are left unchanged', async () => {
    const on = empty()
    await createTables(on, [letters])
    await on.putItem({ TableName: 'letter-box', Item: { PK: 'a', SK: 1 } })
    const told: string[] = []
    await createTables(on, [letters], { onTable: (_table, outcome) => told.push(outcome) })
    expect(told).toEqual(['exists'])
    expect(
      (await on.getItem({ TableName: 'letter-box', Key: { PK: 'a', SK: 1 } })).Item,
    ).toBeDefined()
  })

  test('that are missing are reported with what to do', async () => {
    expect(await differences(empty(), letters)).toEqual([
      'it does not exist: run "strongroom tables create"',
    ])
  })

  test('that differ are reported difference by difference', async () => {
    const on = empty()
    await createTables(on, [
      {
        ...letters,
        sortKey: { name: 'SK', type: 'S' },
        indexes: { GSI1: { partitionKey: { name: 'PK', type: 'S' }, projection: 'ALL' } },
        ttl: 'expires',
      },
    ])
    expect(await differences(on, letters)).toEqual([
      'the type of SK is S, not N',
      'the type of to is unknown, not S',
      'the type of from is unknown, not S',
      'the key of index GSI1 is PK (HASH), not to (HASH)',
      'the projection of index GSI1 is ALL, not KEYS_ONLY',
      'index GSI2 is missing',
      'time to live is on expires, not on ttl',
    ])
  })

  test('of two deployments in one account are separate', async () => {
    const [one, two] = [empty(), empty()]
    await createTables(one, [letters])
    await createTables(two, [letters])
    await one.batchWriteItem({
      RequestItems: { 'letter-box': [{ PutRequest: { Item: { PK: 'a', SK: 1 } } }] },
    })
    const request = { RequestItems: { 'letter-box': { Keys: [{ PK: 'a', SK: 1 }] } } }
    expect((await one.batchGetItem(request)).Responses).toEqual({
      'letter-box': [{ PK: 'a', SK: 1 }],
    })
    expect((await two.batchGetItem(request)).Responses).toEqual({ 'letter-box': [] })
    const get = [{ Get: { TableName: 'letter-box', Key: { PK: 'a', SK: 1 } } }]
    expect((await one.transactGetItems({ TransactItems: get })).Responses?.[0]?.Item).toBeDefined()
    expect(
      (await two.transactGetItems({ TransactItems: get })).Responses?.[0]?.Item,
    ).toBeUndefined()
  })
})

describe('the CloudFormation template', () => {
  test('has the whole declaration, retains data when a stack is deleted, and outputs table names', () => {
    const tables = [{ ...letters, pointInTimeRecovery: true }]
    expect(cloudFormation({ tables, prefix: 'dev-' })).toEqual({
      AWSTemplateFormatVersion: '2010-09-09',
      Description: 'The DynamoDB tables of Strongroom',
      Parameters: {
        Prefix: expect.objectContaining({ Type: 'String', Default: 'dev-', MaxLength: 32 }),
        Environment: expect.objectContaining({ Type: 'String', Default: 'production' }),
      },
      Resources: {
        LetterBox: {
          Type: 'AWS::DynamoDB::Table',
          DeletionPolicy: 'Retain',
          UpdateReplacePolicy: 'Retain',
          Properties: {
            TableName: { 'Fn::Sub': '${Prefix}letter-box' },
            BillingMode: 'PAY_PER_REQUEST',
            KeySchema: [
              { AttributeName: 'PK', KeyType: 'HASH' },
              { AttributeName: 'SK', KeyType: 'RANGE' },
            ],
            AttributeDefinitions: [
              { AttributeName: 'PK', AttributeType: 'S' },
              { AttributeName: 'SK', AttributeType: 'N' },
              { AttributeName: 'to', AttributeType: 'S' },
              { AttributeName: 'from', AttributeType: 'S' },
            ],
            GlobalSecondaryIndexes: [
              {
                IndexName: 'GSI1',
                KeySchema: [{ AttributeName: 'to', KeyType: 'HASH' }],
                Projection: { ProjectionType: 'KEYS_ONLY' },
              },
              {
                IndexName: 'GSI2',
                KeySchema: [
                  { AttributeName: 'from', KeyType: 'HASH' },
                  { AttributeName: 'SK', KeyType: 'RANGE' },
                ],
                Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['subject'] },
              },
            ],
            Tags: [{ Key: 'Project', Value: 'post' }],
            TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
            PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
            DeletionProtectionEnabled: true,
            SSESpecification: { SSEEnabled: true },
          },
        },
      },
      Outputs: {
        LetterBoxTableName: { Description: 'DynamoDB table name', Value: { Ref: 'LetterBox' } },
        LetterBoxTableArn: {
          Description: 'DynamoDB table ARN',
          Value: { 'Fn::GetAtt': ['LetterBox', 'Arn'] },
        },
      },
    })
  })

  test('has the parameter Environment as the value of the tag', () => {
    const tables = [{ ...letters, tags: { Project: 'post', Environment: 'production' } }]
    expect(cloudFormation({ tables })).toHaveProperty('Resources.LetterBox.Properties.Tags', [
      { Key: 'Project', Value: 'post' },
      { Key: 'Environment', Value: { Ref: 'Environment' } },
    ])
  })

  test('that is made for one table has its declared logical id and plain output names', () => {
    const main = { ...letters, logicalId: 'LettersTable' }
    const template = cloudFormation({ tables: [main, { ...letters, name: 'stamps' }], main })
    expect(template).toMatchObject({
      Resources: { LettersTable: {}, Stamps: {} },
      Outputs: {
        TableName: { Value: { Ref: 'LettersTable' } },
        TableArn: { Value: { 'Fn::GetAtt': ['LettersTable', 'Arn'] } },
        StampsTableName: { Value: { Ref: 'Stamps' } },
      },
    })
    expect(cloudFormation({ tables: [main] })).toHaveProperty('Outputs.LettersTableName')
  })
})
