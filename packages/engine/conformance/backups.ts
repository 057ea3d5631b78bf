/** Backups of tables: made, described, listed and deleted. */
import {
  CreateBackupCommand,
  DescribeBackupCommand,
  DescribeTableCommand,
  ListBackupsCommand,
} from '@aws-sdk/client-dynamodb'
import { beforeAll, describe, expect, test } from 'vitest'
import { backupRequests, items, nextMillisecond, shape } from './backup-requests.ts'
import { expectRefusal, freshName, refuses, useTable } from './harness.ts'
import { differs, type Target } from './target.ts'

export function backups(target: Target): void {
  const { client } = target

  describe.skipIf(differs(target, 'backups'))('backups', () => {
    const { create, described, available, backup, deleteBackup, restore } = backupRequests(target)
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
