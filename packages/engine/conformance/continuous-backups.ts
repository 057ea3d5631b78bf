/** DescribeContinuousBackups and UpdateContinuousBackups: whether a table can be recovered. */
import {
  DescribeContinuousBackupsCommand,
  UpdateContinuousBackupsCommand,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { failure, freshName, useTable } from './harness.ts'
import { differs, type Target } from './target.ts'

export function continuousBackups(target: Target): void {
  describe.skipIf(differs(target, 'continuous-backups'))('continuous backups', () => {
    const table = useTable(target, { key: { pk: 'S' } })
    const described = async (TableName = table) => {
      const { ContinuousBackupsDescription } = await target.client.send(
        new DescribeContinuousBackupsCommand({ TableName }),
      )
      return ContinuousBackupsDescription
    }
    const update = (PointInTimeRecoveryEnabled: boolean) =>
      target.client.send(
        new UpdateContinuousBackupsCommand({
          TableName: table,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled },
        }),
      )

    test('are enabled, and point-in-time recovery is disabled at first', async () => {
      expect(await described()).toMatchObject({
        ContinuousBackupsStatus: 'ENABLED',
        PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: 'DISABLED' },
      })
    })

    test('recovery can be enabled and disabled again', async () => {
      const on = await update(true)
      expect(
        on.ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus,
      ).toBe('ENABLED')
      expect(await described()).toMatchObject({
        ContinuousBackupsStatus: 'ENABLED',
        PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: 'ENABLED' },
      })
      await update(false)
      expect(await described()).toMatchObject({
        PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: 'DISABLED' },
      })
    })

    test('of a table that does not exist are refused', async () => {
      const name = freshName()
      expect(await failure(described(name))).toMatchObject({
        name: 'TableNotFoundException',
        message: `Table not found: ${name}`,
      })
    })
  })
}
