/** Backups of tables, and the tables restored from them or from a table's past. */
import {
  CreateBackupCommand,
  CreateTableCommand,
  DeleteBackupCommand,
  DeleteTableCommand,
  DescribeBackupCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  GetItemCommand,
  ListBackupsCommand,
  PutItemCommand,
  QueryCommand,
  RestoreTableFromBackupCommand,
  type RestoreTableFromBackupCommandInput,
  RestoreTableToPointInTimeCommand,
  type RestoreTableToPointInTimeCommandInput,
  ScanCommand,
  UpdateContinuousBackupsCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  becomesActive,
  eventually,
  expectRefusal,
  failure,
  freshName,
  type Item,
  refuses,
  tableInput,
  type TableShape,
  useTable,
  write,
} from './harness.ts'
import { differs, type Target } from './target.ts'

const shape: TableShape = {
  key: { pk: 'S', sk: 'N' },
  global: { 'by-color': { key: { color: 'S' }, project: ['note'] } },
  local: { 'by-weight': { key: { pk: 'S', weight: 'N' } } },
}

const items: Item[] = Array.from({ length: 30 }, (_, n) => ({
  pk: { S: `p${n % 3}` },
  sk: { N: `${n}` },
  color: { S: n % 2 === 0 ? 'red' : 'blue' },
  weight: { N: `${100 - n}` },
  note: { S: 'x'.repeat(n) },
}))

/** What happens next has a later time. */
async function nextMillisecond(): Promise<void> {
  const now = Date.now()
  await eventually(async () => Date.now() > now)
}

export function backups(target: Target): void {
  const { client } = target

  const create = async (TableName: string, BackupName = 'nightly') => {
    const { BackupDetails } = await client.send(new CreateBackupCommand({ TableName, BackupName }))
    return BackupDetails?.BackupArn ?? ''
  }
  const described = async (BackupArn: string) =>
    (await client.send(new DescribeBackupCommand({ BackupArn }))).BackupDescription
  const available = async (arn: string) => {
    await eventually(
      async () => (await described(arn))?.BackupDetails?.BackupStatus === 'AVAILABLE',
    )
    return arn
  }
  const backup = async (table: string, name?: string) => available(await create(table, name))
  const deleteBackup = async (BackupArn: string) =>
    (await client.send(new DeleteBackupCommand({ BackupArn }))).BackupDescription
  const all = async (TableName: string) => {
    const { Items = [] } = await client.send(new ScanCommand({ TableName, ConsistentRead: true }))
    return Items.toSorted((a, b) => Number(a['sk']?.N) - Number(b['sk']?.N))
  }
  const made: string[] = []
  const restore = async (
    BackupArn: string,
    overrides: Partial<RestoreTableFromBackupCommandInput> = {},
  ) => {
    const TargetTableName = freshName()
    const request = { BackupArn, TargetTableName, ...overrides }
    const { TableDescription } = await client.send(new RestoreTableFromBackupCommand(request))
    made.push(TargetTableName)
    await becomesActive(client, TargetTableName)
    return { name: TargetTableName, first: TableDescription }
  }

  describe.skipIf(differs(target, 'backups'))('backups', () => {
    const table = useTable(target, shape, items)
    afterAll(async () => {
      for (const name of made) await client.send(new DeleteTableCommand({ TableName: name }))
    })

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

  describe.skipIf(differs(target, 'continuous-backups'))('recovery to a point in time', () => {
    const table = useTable(target, shape, items)
    const recover = async (input: Partial<RestoreTableToPointInTimeCommandInput> = {}) => {
      const TargetTableName = freshName()
      await client.send(
        new RestoreTableToPointInTimeCommand({
          SourceTableName: table,
          TargetTableName,
          UseLatestRestorableTime: true,
          ...input,
        }),
      )
      made.push(TargetTableName)
      await becomesActive(client, TargetTableName)
      return TargetTableName
    }
    const enable = (TableName: string, input: object = {}) =>
      client.send(
        new UpdateContinuousBackupsCommand({
          TableName,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true, ...input },
        }),
      )
    const window = async () => {
      const { ContinuousBackupsDescription } = await client.send(
        new DescribeContinuousBackupsCommand({ TableName: table }),
      )
      return ContinuousBackupsDescription?.PointInTimeRecoveryDescription
    }

    test('is not there before it is switched on', async () => {
      await expectRefusal(recover(), {
        name: 'PointInTimeRecoveryUnavailableException',
        message: `Point in time recovery is not enabled for table '${table}'`,
      })
    })

    test('makes a table of what there was at a time', async () => {
      await enable(table)
      const before = await all(table)
      await nextMillisecond()
      const moment = new Date()
      await nextMillisecond()
      const [kept] = items as [Item]
      await client.send(
        new PutItemCommand({ TableName: table, Item: { ...kept, color: { S: 'green' } } }),
      )
      await write(target, table, [{ pk: { S: 'new' }, sk: { N: '99' } }])
      const name = await recover({ UseLatestRestorableTime: false, RestoreDateTime: moment })
      expect(await all(name)).toEqual(before)
      const latest = await recover()
      expect(await all(latest)).toEqual(await all(table))
      const { Item } = await client.send(
        new GetItemCommand({ TableName: latest, Key: { pk: { S: 'new' }, sk: { N: '99' } } }),
      )
      expect(Item).toBeDefined()
    })

    test('reaches back as far as is asked for', async () => {
      const { ContinuousBackupsDescription } = await enable(table, { RecoveryPeriodInDays: 7 })
      const description = ContinuousBackupsDescription?.PointInTimeRecoveryDescription
      expect(description).toMatchObject({
        PointInTimeRecoveryStatus: 'ENABLED',
        RecoveryPeriodInDays: 7,
      })
      const { EarliestRestorableDateTime: earliest, LatestRestorableDateTime: latest } =
        (await window()) ?? {}
      expect(earliest?.getTime()).toBeLessThanOrEqual(latest?.getTime() ?? 0)
    })

    test('is refused for a time before or after', async () => {
      for (const hours of [-1, 1]) {
        const RestoreDateTime = new Date(Date.now() + hours * 3_600_000)
        const error = await failure(recover({ UseLatestRestorableTime: false, RestoreDateTime }))
        expect(error.name).toBe('InvalidRestoreTimeException')
        expect(error.message).toMatch(
          /^RestoreDateTime .+ must be within EarliestRestorableDateTime .+ and LatestRestorableDateTime .+$/,
        )
      }
    })

    test('is refused under the name of a table that exists', async () => {
      await expectRefusal(recover({ TargetTableName: table }), {
        name: 'TableAlreadyExistsException',
        message: `Table already exists: ${table}`,
      })
    })

    test('is refused without one source and one time', async () => {
      const time = {
        message:
          'Invalid Request: Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both',
      }
      await expectRefusal(recover({ UseLatestRestorableTime: false }), time)
      await expectRefusal(recover({ RestoreDateTime: new Date() }), time)
      await expectRefusal(recover({ SourceTableArn: 'arn:aws:dynamodb:a:0:table/abc' }), {
        message: 'Invalid Request: Must provide exactly one of: sourceTableArn, sourceTableName',
      })
    })

    test('is refused for a table that does not exist', async () => {
      const name = freshName()
      await expectRefusal(recover({ SourceTableName: name }), {
        name: 'TableNotFoundException',
        message: `Table not found: ${name}`,
      })
    })

    test('cannot be switched off with a period', async () => {
      await expectRefusal(
        enable(table, { PointInTimeRecoveryEnabled: false, RecoveryPeriodInDays: 7 }),
        {
          message:
            'Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery.',
        },
      )
    })

    test('keeps a deleted table as a backup of the system, which cannot be deleted', async () => {
      const mine = freshName()
      await client.send(new CreateTableCommand(tableInput(mine, shape)))
      await becomesActive(client, mine)
      await write(target, mine, items)
      await enable(mine)
      await client.send(new DeleteTableCommand({ TableName: mine }))
      const { BackupSummaries = [] } = await client.send(
        new ListBackupsCommand({ TableName: mine, BackupType: 'SYSTEM' }),
      )
      const [kept] = BackupSummaries
      expect(kept).toMatchObject({
        BackupName: `${mine}$DeletedTableBackup`,
        BackupType: 'SYSTEM',
        BackupStatus: 'AVAILABLE',
      })
      const days =
        ((kept?.BackupExpiryDateTime?.getTime() ?? 0) - Date.now()) / (24 * 60 * 60 * 1000)
      expect(Math.round(days)).toBe(35)
      const arn = kept?.BackupArn ?? ''
      const error = await failure(deleteBackup(arn))
      expect(error.message).toMatch(
        /^Invalid Request: User is not allowed to delete the system backup with arn .+ It will automatically expire on .+$/,
      )
      const { name } = await restore(arn)
      expect(await all(name)).toHaveLength(items.length)
    })
  })
}
