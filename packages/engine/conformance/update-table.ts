/** UpdateTable: indexes created with their backfill and deleted, billing mode, deletion protection. */
import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import {
  becomesActive,
  createsIndex,
  eventually,
  expectRefusal,
  freshName,
  refuses,
  tableInput,
  useTable,
  write,
} from './harness.ts'
import { differs, expected, type Target } from './target.ts'

export function updateTable(target: Target): void {
  const { client } = target

  // DynamoDB Local fills and deletes an index in the background, once a second.
  describe('UpdateTable', { timeout: 60_000 }, () => {
    const table = useTable(target, { key: { pk: 'S' } })
    const update = (input: object) =>
      client.send(new UpdateTableCommand({ TableName: table, ...input }))
    const described = async (TableName = table) =>
      (await client.send(new DescribeTableCommand({ TableName }))).Table
    const create = (index: object = {}) => ({
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'owner', AttributeType: 'S' },
      ],
      ...createsIndex('by-owner', { owner: 'S' }, index),
    })
    const owned = async (owner: string) => {
      const { Items = [] } = await client.send(
        new QueryCommand({
          TableName: table,
          IndexName: 'by-owner',
          KeyConditionExpression: '#o = :o',
          ExpressionAttributeNames: { '#o': 'owner' },
          ExpressionAttributeValues: { ':o': { S: owner } },
        }),
      )
      return Items.map((item) => item['pk']?.S ?? '').toSorted()
    }

    test('creates an index and fills it with the items that have its key', async () => {
      await write(target, table, [
        { pk: { S: 'one' }, owner: { S: 'ada' } },
        { pk: { S: 'two' }, owner: { S: 'ada' } },
        { pk: { S: 'three' }, owner: { S: 'bob' } },
        { pk: { S: 'no owner' } },
        { pk: { S: 'an empty owner' }, owner: { S: '' } },
      ])
      if (!differs(target, 'backfill-types')) {
        await write(target, table, [
          { pk: { S: 'a number as owner' }, owner: { N: '1' } },
          { pk: { S: 'a list as owner' }, owner: { L: [] } },
        ])
      }
      const { TableDescription } = await update(create())
      const [index] = TableDescription?.GlobalSecondaryIndexes ?? []
      expect(index?.IndexName).toBe('by-owner')
      expect(['CREATING', 'ACTIVE']).toContain(index?.IndexStatus)
      await becomesActive(client, table)
      expect(await owned('ada')).toEqual(['one', 'two'])
      const { Count } = await client.send(
        new ScanCommand({ TableName: table, IndexName: 'by-owner' }),
      )
      expect(Count).toBe(3)
    })

    test('keeps a new index in step with later writes', async () => {
      await write(target, table, [{ pk: { S: 'four' }, owner: { S: 'ada' } }])
      expect(await owned('ada')).toEqual(['four', 'one', 'two'])
      const request = new PutItemCommand({
        TableName: table,
        Item: { pk: { S: 'wrong' }, owner: { N: '1' } },
      })
      await expectRefusal(client.send(request), { message: /Type mismatch for Index Key/ })
    })

    test('refuses an index that is there already', async () => {
      await expectRefusal(update(create()), {
        message: 'Attempting to create an index which already exists',
      })
    })

    test('deletes an index, and queries on it are refused', async () => {
      await update({ GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'by-owner' } }] })
      await eventually(async () => (await described())?.GlobalSecondaryIndexes === undefined)
      await expectRefusal(owned('ada'), {
        message: 'The table does not have the specified index: by-owner',
      })
      expect((await described())?.AttributeDefinitions).toEqual([
        { AttributeName: 'pk', AttributeType: 'S' },
      ])
    })

    test('switches between the billing modes', async () => {
      const name = freshName()
      await client.send(new CreateTableCommand(tableInput(name, { key: { pk: 'S' } })))
      await becomesActive(client, name)
      await update({
        TableName: name,
        BillingMode: 'PROVISIONED',
        ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 6 },
      })
      await becomesActive(client, name)
      expect(await described(name)).toMatchObject({
        ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 6 },
      })
      await update({ TableName: name, BillingMode: 'PAY_PER_REQUEST' })
      await becomesActive(client, name)
      expect(await described(name)).toMatchObject({
        BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
        ProvisionedThroughput: { ReadCapacityUnits: 0, WriteCapacityUnits: 0 },
      })
      await client.send(new DeleteTableCommand({ TableName: name }))
    })

    test('takes no definition of an attribute from a request that creates no index', async () => {
      const before = await described()
      await update({
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'N' }],
      })
      await becomesActive(client, table)
      expect((await described())?.AttributeDefinitions).toEqual(before?.AttributeDefinitions)
    })

    test('takes deletion protection off', async () => {
      const name = freshName()
      await client.send(
        new CreateTableCommand({
          ...tableInput(name, { key: { pk: 'S' } }),
          DeletionProtectionEnabled: true,
        }),
      )
      await becomesActive(client, name)
      await update({ TableName: name, DeletionProtectionEnabled: false })
      await becomesActive(client, name)
      expect((await described(name))?.DeletionProtectionEnabled).toBe(false)
      await client.send(new DeleteTableCommand({ TableName: name }))
    })

    test('refuses a table that does not exist', async () => {
      const name = freshName()
      const request = update({ TableName: name, BillingMode: 'PAY_PER_REQUEST' })
      await expectRefusal(request, {
        name: 'ResourceNotFoundException',
        message: expected(
          target,
          'missing-table-text',
          `Requested resource not found: Table: ${name} not found`,
          'Cannot do operations on a non-existent table',
        ),
      })
    })

    const nothing =
      'At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required'
    const invalid = (complaint: string) => `One or more parameter values were invalid: ${complaint}`
    refuses(target, UpdateTableCommand, { TableName: table }, [
      ['nothing to update', {}, nothing, 'schema-texts'],
      ['no changes of indexes', { GlobalSecondaryIndexUpdates: [] }, nothing, 'schema-texts'],
      [
        'deleting an index that is not there',
        { GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'nowhere' } }] },
        {
          name: 'ResourceNotFoundException',
          message: `Requested resource not found: Index nowhere for table ${table}`,
        },
        'schema-texts',
      ],
      [
        'an index change of no kind',
        { GlobalSecondaryIndexUpdates: [{}] },
        invalid(
          'One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null',
        ),
        'schema-texts',
      ],
      [
        'an index on an attribute without a definition',
        { ...create(), AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }] },
        invalid(
          'Some index key attributes are not defined in AttributeDefinitions. Keys: [owner], AttributeDefinitions: [pk]',
        ),
        'schema-texts',
      ],
      [
        'a provisioned table without throughput',
        { BillingMode: 'PROVISIONED' },
        invalid('ProvisionedThroughput must be specified when BillingMode is PROVISIONED'),
        'schema-texts',
      ],
    ])
  })
}
