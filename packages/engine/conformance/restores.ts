/** Tables that are made of backups. */
import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  PutItemCommand,
  QueryCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { backupRequests, items, shape } from './backup-requests.ts'
import {
  becomesActive,
  expectRefusal,
  freshName,
  type Item,
  tableInput,
  useTable,
  write,
} from './harness.ts'
import { differs, type Target } from './target.ts'

export function restores(target: Target): void {
  const { client } = target

  describe.skipIf(differs(target, 'backups'))('backups that are restored', () => {
    const { create, described, available, backup, all, restore } = backupRequests(target)
    const table = useTable(target, shape, items)

    test('make a table with all items and indexes, which is being created at first', async () => {
      const arn = await backup(table)
      const { name, first } = await restore(arn)
      const { Table: source } = await client.send(new DescribeTableCommand({ TableName: table }))
      expect(first).toMatchObject({
        TableStatus: 'CREATING',
        RestoreSummary: {
          SourceBackupArn: arn,
          SourceTableArn: source?.TableArn,
          RestoreInProgress: true,
        },
      })
      const { Table } = await client.send(new DescribeTableCommand({ TableName: name }))
      expect(Table?.RestoreSummary).toBeUndefined()
      expect(Table?.TableId).not.toBe(source?.TableId)
      expect(await all(name)).toEqual(await all(table))
      const { Items = [] } = await client.send(
        new QueryCommand({
          TableName: name,
          IndexName: 'by-color',
          KeyConditionExpression: 'color = :red',
          ExpressionAttributeValues: { ':red': { S: 'red' } },
        }),
      )
      expect(Items).toHaveLength(15)
      const byWeight = await client.send(
        new QueryCommand({
          TableName: name,
          IndexName: 'by-weight',
          KeyConditionExpression: 'pk = :p AND weight > :w',
          ExpressionAttributeValues: { ':p': { S: 'p0' }, ':w': { N: '90' } },
        }),
      )
      expect(byWeight.Items).toHaveLength(4)
    })

    test('are as they were, whatever happened since', async () => {
      const [source] = items as [Item]
      const mine = freshName()
      await client.send(new CreateTableCommand(tableInput(mine, shape)))
      await becomesActive(client, mine)
      await write(target, mine, items)
      const arn = await create(mine)
      // The copy is still being made, or is done by now: it must not matter.
      await client.send(
        new PutItemCommand({ TableName: mine, Item: { ...source, note: { S: 'later' } } }),
      )
      await client.send(
        new PutItemCommand({ TableName: mine, Item: { pk: { S: 'new' }, sk: { N: '1' } } }),
      )
      await client.send(new DeleteTableCommand({ TableName: mine }))
      await available(arn)
      const { name } = await restore(arn)
      expect(await all(name)).toEqual(
        items.toSorted((a, b) => Number(a['sk']?.N) - Number(b['sk']?.N)),
      )
    })

    test('leave out the time to live, as in AWS', async () => {
      const mine = freshName()
      await client.send(new CreateTableCommand(tableInput(mine, { key: { pk: 'S' } })))
      await becomesActive(client, mine)
      await client.send(
        new UpdateTimeToLiveCommand({
          TableName: mine,
          TimeToLiveSpecification: { Enabled: true, AttributeName: 'expires' },
        }),
      )
      const arn = await backup(mine)
      expect((await described(arn))?.SourceTableFeatureDetails?.TimeToLiveDescription).toEqual({
        TimeToLiveStatus: 'ENABLED',
        AttributeName: 'expires',
      })
      await client.send(new DeleteTableCommand({ TableName: mine }))
      const { name } = await restore(arn)
      await client.send(
        new UpdateTimeToLiveCommand({
          TableName: name,
          TimeToLiveSpecification: { Enabled: true, AttributeName: 'other' },
        }),
      )
    })

    test('can leave indexes out and be billed otherwise', async () => {
      const { name } = await restore(await backup(table), {
        GlobalSecondaryIndexOverride: [],
        BillingModeOverride: 'PROVISIONED',
        ProvisionedThroughputOverride: { ReadCapacityUnits: 3, WriteCapacityUnits: 4 },
      })
      const { Table } = await client.send(new DescribeTableCommand({ TableName: name }))
      expect(Table?.GlobalSecondaryIndexes).toBeUndefined()
      expect(Table?.LocalSecondaryIndexes).toHaveLength(1)
      expect(Table?.BillingModeSummary).toBeUndefined()
      expect(Table?.ProvisionedThroughput).toMatchObject({
        ReadCapacityUnits: 3,
        WriteCapacityUnits: 4,
      })
      expect(Table?.AttributeDefinitions?.map(({ AttributeName }) => AttributeName)).toEqual([
        'pk',
        'sk',
        'weight',
      ])
    })

    test('can give an index another name, and no two the same', async () => {
      const arn = await backup(table)
      const { GlobalSecondaryIndexes: indexes = [] } = tableInput(table, shape)
      const renamed = indexes.map((index) => ({ ...index, IndexName: 'by-another-name' }))
      const { name } = await restore(arn, { GlobalSecondaryIndexOverride: renamed })
      const { Count } = await client.send(
        new QueryCommand({
          TableName: name,
          IndexName: 'by-another-name',
          KeyConditionExpression: 'color = :red',
          ExpressionAttributeValues: { ':red': { S: 'red' } },
        }),
      )
      expect(Count).toBe(15)
      const twice = restore(arn, { GlobalSecondaryIndexOverride: [...indexes, ...indexes] })
      await expectRefusal(twice, {
        message: 'One or more parameter values were invalid: Duplicate index name: by-color',
      })
    })

    test('can be provisioned with their indexes, and on demand again', async () => {
      const { GlobalSecondaryIndexes: indexes = [] } = tableInput(table, shape)
      const units = { ReadCapacityUnits: 3, WriteCapacityUnits: 4 }
      const provisioned = await restore(await backup(table), {
        BillingModeOverride: 'PROVISIONED',
        ProvisionedThroughputOverride: units,
        GlobalSecondaryIndexOverride: indexes.map((index) => ({
          ...index,
          ProvisionedThroughput: units,
        })),
      })
      const copy = await backup(provisioned.name)
      await expectRefusal(restore(copy, { GlobalSecondaryIndexOverride: indexes }), {
        message: 'Invalid Request: Must specify provisioned throughput for index by-color',
      })
      const onDemand = await restore(copy, {
        BillingModeOverride: 'PAY_PER_REQUEST',
        GlobalSecondaryIndexOverride: indexes,
      })
      const unnamed = await restore(copy, { BillingModeOverride: 'PAY_PER_REQUEST' })
      const throughputs = []
      for (const TableName of [provisioned.name, onDemand.name, unnamed.name]) {
        const { Table } = await client.send(new DescribeTableCommand({ TableName }))
        throughputs.push(Table?.GlobalSecondaryIndexes?.[0]?.ProvisionedThroughput)
      }
      const none = { ReadCapacityUnits: 0, WriteCapacityUnits: 0 }
      expect(throughputs).toMatchObject([units, none, none])
    })

    describe('are refused', () => {
      test('under the name of a table that exists', async () => {
        const arn = await backup(table)
        await expectRefusal(restore(arn, { TargetTableName: table }), {
          name: 'TableAlreadyExistsException',
          message: `Table already exists: ${table}`,
        })
      })

      test('with other indexes or a billing that does not fit', async () => {
        const arn = await backup(table)
        await expectRefusal(
          restore(arn, {
            GlobalSecondaryIndexOverride: [
              {
                IndexName: 'by-note',
                KeySchema: [{ AttributeName: 'color', KeyType: 'HASH' }],
                Projection: { ProjectionType: 'ALL' },
              },
            ],
          }),
          {
            message:
              'Invalid Request: Index by-note does not match a secondary index that existed in the source table and cannot be created during the restore operation',
          },
        )
        await expectRefusal(restore(arn, { BillingModeOverride: 'PROVISIONED' }), {
          message:
            'Invalid Request: Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED',
        })
        const ProvisionedThroughputOverride = { ReadCapacityUnits: 1, WriteCapacityUnits: 1 }
        await expectRefusal(
          restore(arn, { BillingModeOverride: 'PROVISIONED', ProvisionedThroughputOverride }),
          { message: 'Invalid Request: Must specify provisioned throughput for index by-color' },
        )
        await expectRefusal(
          restore(arn, { BillingModeOverride: 'PAY_PER_REQUEST', ProvisionedThroughputOverride }),
          {
            message:
              'Invalid Request: Cannot override ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST',
          },
        )
        const { GlobalSecondaryIndexes: indexes = [] } = tableInput(table, shape)
        await expectRefusal(
          restore(arn, {
            BillingModeOverride: 'PAY_PER_REQUEST',
            GlobalSecondaryIndexOverride: indexes.map((index) => ({
              ...index,
              ProvisionedThroughput: ProvisionedThroughputOverride,
            })),
          }),
          {
            message:
              'Invalid Request: Cannot override ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST for index by-color',
          },
        )
        await expectRefusal(restore(arn, { ProvisionedThroughputOverride }), {
          message:
            'Invalid Request: Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED',
        })
      })
    })
  })
}
