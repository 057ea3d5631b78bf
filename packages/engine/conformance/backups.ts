/** Backups of tables, and the tables restored from them. */
import {
  CreateBackupCommand,
  CreateTableCommand,
  DeleteTableCommand,
  DescribeBackupCommand,
  DescribeTableCommand,
  ListBackupsCommand,
  PutItemCommand,
  QueryCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { beforeAll, describe, expect, test } from 'vitest'
import { backupRequests, items, nextMillisecond, shape } from './backup-requests.ts'
import {
  becomesActive,
  expectRefusal,
  freshName,
  type Item,
  refuses,
  tableInput,
  useTable,
  write,
} from './harness.ts'
import { differs, type Target } from './target.ts'

export function backups(target: Target): void {
  const { client } = target

  describe.skipIf(differs(target, 'backups'))('backups', () => {
    const { create, described, available, backup, deleteBackup, all, restore } =
      backupRequests(target)
    const table = useTable(target, shape, items)

    describe('that are made', () => {
      test('are being created, and then available', async () => {
        const { BackupDetails } = await client.send(
          new CreateBackupCommand({ TableName: table, BackupName: 'first' }),
        )
        expect(BackupDetails).toMatchObject({
          BackupName: 'first',
          BackupStatus: 'CREATING',
          BackupType: 'USER',
        })
        expect(BackupDetails?.BackupArn).toMatch(
          /^arn:aws:dynamodb:[^:]*:\d{12}:table\/[^/]+\/backup\/\d{14}-[0-9a-f]{8}$/,
        )
        const age = Date.now() - (BackupDetails?.BackupCreationDateTime?.getTime() ?? 0)
        expect(Math.abs(age)).toBeLessThan(60_000)
        await available(BackupDetails?.BackupArn ?? '')
      })

      test('tell of the table as it was', async () => {
        const description = await described(await backup(table))
        const { Table } = await client.send(new DescribeTableCommand({ TableName: table }))
        expect(description?.SourceTableDetails).toMatchObject({
          TableName: table,
          TableId: Table?.TableId,
          TableArn: Table?.TableArn,
          KeySchema: Table?.KeySchema,
          TableCreationDateTime: Table?.CreationDateTime,
          ItemCount: items.length,
          BillingMode: 'PAY_PER_REQUEST',
        })
        expect(description?.BackupDetails?.BackupSizeBytes).toBeGreaterThan(500)
        const features = description?.SourceTableFeatureDetails
        expect(features?.GlobalSecondaryIndexes?.[0]).toMatchObject({
          IndexName: 'by-color',
          KeySchema: [{ AttributeName: 'color', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['note'] },
        })
        expect(features?.LocalSecondaryIndexes?.[0]?.IndexName).toBe('by-weight')
      })

      test('may have the same name', async () => {
        const [one, two] = [await backup(table, 'twin'), await backup(table, 'twin')]
        expect(one).not.toBe(two)
        expect((await described(one))?.BackupDetails?.BackupName).toBe('twin')
      })
    })

    describe('that are restored', () => {
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
    })

    describe('in a list', () => {
      const listed = useTable(target, { key: { pk: 'S' } })
      const list = async (input: object = {}) =>
        client.send(new ListBackupsCommand({ TableName: listed, ...input }))
      const arns: string[] = []
      beforeAll(async () => {
        for (const name of ['one', 'two', 'three']) {
          arns.push(await backup(listed, name))
          await nextMillisecond()
        }
      })

      test('come oldest first, a page at a time', async () => {
        const { BackupSummaries = [], LastEvaluatedBackupArn } = await list()
        expect(BackupSummaries.map(({ BackupArn }) => BackupArn)).toEqual(arns)
        expect(BackupSummaries.every(({ TableName }) => TableName === listed)).toBe(true)
        expect(LastEvaluatedBackupArn).toBeUndefined()
        const page = await list({ Limit: 2 })
        expect(page.LastEvaluatedBackupArn).toBe(arns[1])
        const rest = await list({ ExclusiveStartBackupArn: arns[1] })
        expect(rest.BackupSummaries?.map(({ BackupName }) => BackupName)).toEqual(['three'])
      })

      test('are those of a time, from its start to before its end', async () => {
        const { BackupSummaries = [] } = await list()
        const [, second, third] = BackupSummaries.map((each) => each.BackupCreationDateTime)
        const { BackupSummaries: found = [] } = await list({
          TimeRangeLowerBound: second,
          TimeRangeUpperBound: third,
        })
        expect(found.map(({ BackupName }) => BackupName)).toEqual(['two'])
        await expectRefusal(list({ TimeRangeLowerBound: third, TimeRangeUpperBound: second }), {
          message:
            'One or more parameter values were invalid: Time range lower bound must be less than or equal to upper bound',
        })
      })

      test('are those of a kind', async () => {
        expect((await list({ BackupType: 'SYSTEM' })).BackupSummaries).toEqual([])
        expect((await list({ BackupType: 'ALL' })).BackupSummaries).toHaveLength(3)
      })
    })

    test('can be deleted, and are gone', async () => {
      const arn = await backup(table)
      expect((await deleteBackup(arn))?.BackupDetails?.BackupStatus).toBe('DELETED')
      const refusal = { name: 'BackupNotFoundException', message: `Backup not found: ${arn}` }
      await expectRefusal(described(arn), refusal)
      await expectRefusal(deleteBackup(arn), refusal)
      await expectRefusal(restore(arn), refusal)
    })

    describe('are refused', () => {
      test('of a table that does not exist', async () => {
        const name = freshName()
        await expectRefusal(create(name), {
          name: 'TableNotFoundException',
          message: `Table not found: ${name}`,
        })
      })

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
          restore(arn, { BillingModeOverride: 'PAY_PER_REQUEST', ProvisionedThroughputOverride }),
          {
            message:
              'Invalid Request: Cannot override ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST',
          },
        )
        await expectRefusal(restore(arn, { ProvisionedThroughputOverride }), {
          message:
            'Invalid Request: Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED',
        })
      })

      refuses(target, DescribeBackupCommand, {}, [
        [
          'what is no name of a backup',
          { BackupArn: `arn:aws:dynamodb:us-east-1:000000000000:table/${freshName()}` },
          'Invalid Backup ARN',
        ],
        [
          'a backup that never was',
          {
            BackupArn:
              'arn:aws:dynamodb:us-east-1:000000000000:table/nowhere/backup/01489602797149-73d8d5bc',
          },
          {
            name: 'BackupNotFoundException',
            message:
              'Backup not found: arn:aws:dynamodb:us-east-1:000000000000:table/nowhere/backup/01489602797149-73d8d5bc',
          },
        ],
      ])
    })
  })
}
