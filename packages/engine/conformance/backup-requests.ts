/** What the suites of backups and of recovery ask for, and the table that they do it with. */
import {
  CreateBackupCommand,
  DeleteBackupCommand,
  DeleteTableCommand,
  DescribeBackupCommand,
  RestoreTableFromBackupCommand,
  type RestoreTableFromBackupCommandInput,
  ScanCommand,
} from '@aws-sdk/client-dynamodb'
import { afterAll } from 'vitest'
import { becomesActive, eventually, freshName, type Item, type TableShape } from './harness.ts'
import type { Target } from './target.ts'

export const shape: TableShape = {
  key: { pk: 'S', sk: 'N' },
  global: { 'by-color': { key: { color: 'S' }, project: ['note'] } },
  local: { 'by-weight': { key: { pk: 'S', weight: 'N' } } },
}

export const items: Item[] = Array.from({ length: 30 }, (_, n) => ({
  pk: { S: `p${n % 3}` },
  sk: { N: `${n}` },
  color: { S: n % 2 === 0 ? 'red' : 'blue' },
  weight: { N: `${100 - n}` },
  note: { S: 'x'.repeat(n) },
}))

/** What happens next has a later time. */
export async function nextMillisecond(): Promise<void> {
  const now = Date.now()
  await eventually(async () => Date.now() > now)
}

/** Tables that are restored go after the tests of the surrounding describe. */
export function backupRequests({ client }: Target) {
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
  afterAll(async () => {
    for (const name of made) await client.send(new DeleteTableCommand({ TableName: name }))
  })
  return { create, described, available, backup, deleteBackup, all, restore, made }
}
