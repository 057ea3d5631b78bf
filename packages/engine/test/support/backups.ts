/** What the tests of backups and of recovery do with the table `plain`. */
import type { BackupDetails } from '../../src/db-backups.ts'
import type { Engine } from '../../src/engine.ts'
import type { FastBuffer } from '../../src/storage/lmdb/bytes.ts'
import { lmdbRange } from '../../src/storage/reads.ts'
import type { Item } from '../../src/values/types.ts'
import { type movableClock, plain } from './engine.ts'

export async function all(engine: Engine, TableName: string): Promise<Item[]> {
  const items: Item[] = []
  let start: Item | undefined
  do {
    const page = await engine.scan({ TableName, ...(start && { ExclusiveStartKey: start }) })
    items.push(...(page.Items ?? []))
    start = page.LastEvaluatedKey
  } while (start)
  return items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}

export async function fill(engine: Engine, count: number, TableName = 'plain'): Promise<void> {
  const batches: Promise<unknown>[] = []
  for (let from = 0; from < count; from += 25) {
    const requests = Array.from({ length: Math.min(25, count - from) }, (_, at) => ({
      PutRequest: { Item: { id: `item-${from + at}`, n: 0, filler: 'x'.repeat(200) } },
    }))
    batches.push(engine.batchWriteItem({ RequestItems: { [TableName]: requests } }))
  }
  await Promise.all(batches)
}

export async function create(engine: Engine, TableName = 'plain'): Promise<BackupDetails> {
  const { BackupDetails = {} } = await engine.createBackup({ TableName, BackupName: 'backup' })
  return BackupDetails
}

export async function restore(engine: Engine, { BackupArn = '' }: BackupDetails): Promise<Item[]> {
  await engine.restoreTableFromBackup({ BackupArn, TargetTableName: 'restored' })
  await engine.settled()
  return all(engine, 'restored')
}

export async function recover(engine: Engine, ms: number, TargetTableName: string): Promise<void> {
  await engine.restoreTableToPointInTime({
    SourceTableName: 'plain',
    TargetTableName,
    RestoreDateTime: ms / 1000,
  })
}

export const recovery = (engine: Engine, days?: number, on = true) =>
  engine.updateContinuousBackups({
    TableName: 'plain',
    PointInTimeRecoverySpecification: {
      PointInTimeRecoveryEnabled: on,
      ...(days !== undefined && { RecoveryPeriodInDays: days }),
    },
  })

export const change = (engine: Engine, id: string) =>
  engine.updateItem({
    TableName: 'plain',
    Key: { id },
    UpdateExpression: 'ADD n :one',
    ExpressionAttributeValues: { ':one': 1 },
  })

/** Many steps of a copy. */
export const ITEMS = 2000

export async function filled(engine: Engine): Promise<Item[]> {
  await engine.createTable(plain)
  await fill(engine, ITEMS)
  return all(engine, 'plain')
}

export async function backedUp(engine: Engine): Promise<string> {
  await filled(engine)
  const { BackupArn = '' } = await create(engine)
  await engine.settled()
  return BackupArn
}

export const restored = (BackupArn: string, TargetTableName = 'restored') => ({
  BackupArn,
  TargetTableName,
})

/** A restore of a moment after which there were changes, under way. */
export async function restoring(
  engine: Engine,
  clock: ReturnType<typeof movableClock>,
): Promise<Item[]> {
  await filled(engine)
  await recovery(engine, 1)
  await change(engine, 'item-1')
  const before = await all(engine, 'plain')
  const moment = clock.now()
  clock.advanceSeconds(1)
  await change(engine, 'item-1')
  await engine.putItem({ TableName: 'plain', Item: { id: 'later' } })
  await recover(engine, moment, 'restored')
  return before
}

/** The records in all logs. */
export function changesIn({ storage }: Engine): number {
  storage.refresh()
  const everything = { low: Buffer.of(0) as FastBuffer, high: Buffer.of(0xff) as FastBuffer }
  return storage.environment.changes.getKeysCount(lmdbRange(everything, false))
}
