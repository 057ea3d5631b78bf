/** Recovery to a point in time: a table made of what another one held at a moment. */
import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeContinuousBackupsCommand,
  GetItemCommand,
  ListBackupsCommand,
  PutItemCommand,
  RestoreTableToPointInTimeCommand,
  type RestoreTableToPointInTimeCommandInput,
  UpdateContinuousBackupsCommand,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { backupRequests, items, nextMillisecond, shape } from './backup-requests.ts'
import {
  becomesActive,
  expectRefusal,
  failure,
  freshName,
  type Item,
  tableInput,
  useTable,
  write,
} from './harness.ts'
import { differs, type Target } from './target.ts'

export function recovery(target: Target): void {
  const { client } = target

  describe.skipIf(differs(target, 'continuous-backups'))('recovery to a point in time', () => {
    const { deleteBackup, all, restore, made } = backupRequests(target)
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

    test('covers the requested period', async () => {
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
