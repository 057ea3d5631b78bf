/** A restored table is correct, whatever happens to its source during the restore. */
import { describe, expect, test } from 'vitest'
import type { Engine } from '../../src/engine.ts'
import { checkStorage } from '../../src/storage/check.ts'
import { type EncodedValue, KeySource } from '../../src/storage/lmdb/lmdb.ts'
import {
  all,
  backedUp,
  change,
  changesIn,
  create,
  fill,
  filled,
  ITEMS,
  recover,
  recovery,
  restored,
  restoring,
} from '../support/backups.ts'
import { freshEngine, movableClock, plain, refusal } from '../support/engine.ts'

const DAY = 24 * 3600

async function isBeingCreated(engine: Engine): Promise<boolean> {
  const { Table } = await engine.describeTable({ TableName: 'restored' })
  return Table?.TableStatus === 'CREATING'
}

describe('of a backup and its restore,', () => {
  test('the first request succeeds, and the second is rejected', async () => {
    const engine = await freshEngine()
    const BackupArn = await backedUp(engine)
    const inUse = 'BackupInUseException: Backup is being used to restore'
    const [, ...late] = await Promise.all([
      engine.restoreTableFromBackup(restored(BackupArn)),
      refusal(engine.deleteBackup({ BackupArn })),
      refusal(engine.restoreTableFromBackup(restored(BackupArn, 'another'))),
    ])
    expect(late.map(String)).toEqual([
      `${inUse} table: ${BackupArn}`,
      `${inUse} another table: ${BackupArn}`,
    ])
    await engine.settled()
    expect(await all(engine, 'restored')).toHaveLength(ITEMS)
    const [, ...later] = await Promise.all([
      engine.deleteBackup({ BackupArn }),
      refusal(engine.restoreTableFromBackup(restored(BackupArn, 'another'))),
      refusal(engine.deleteBackup({ BackupArn })),
    ])
    const gone = `BackupNotFoundException: Backup not found: ${BackupArn}`
    expect(later.map(String)).toEqual([gone, gone])
    await engine.settled()
    expect((await checkStorage(engine.storage)).problems).toEqual([])
  })

  test('a change that was begun before the end cannot undo the end', async () => {
    const engine = await freshEngine()
    const BackupArn = await backedUp(engine)
    await engine.restoreTableFromBackup(restored(BackupArn))
    const { storage } = engine
    const begun = storage.table('restored')!
    await engine.settled()
    expect((await refusal(storage.replaceTable(begun))).name).toBe('ResourceInUseException')
    expect(await isBeingCreated(engine)).toBe(false)
    await engine.deleteTable({ TableName: 'restored' })
  })
})

describe('a table is restored as it was at a moment,', () => {
  test('although recovery is disabled during the restore', async () => {
    const clock = movableClock()
    const engine = await freshEngine({ clock })
    const before = await restoring(engine, clock)
    await recovery(engine, undefined, false)
    const { ContinuousBackupsDescription: description } = await engine.describeContinuousBackups({
      TableName: 'plain',
    })
    expect(description?.PointInTimeRecoveryDescription).toEqual({
      PointInTimeRecoveryStatus: 'DISABLED',
    })
    await fill(engine, 20)
    await change(engine, `item-${ITEMS - 1}`)
    expect(await isBeingCreated(engine)).toBe(true)
    await engine.settled()
    expect(await all(engine, 'restored')).toEqual(before)
    expect(changesIn(engine)).toBe(0)
    expect(engine.storage.table('plain')?.logs).toBeUndefined()
  })

  test('though recovery is switched off and on again, and begins anew', async () => {
    const clock = movableClock()
    const engine = await freshEngine({ clock })
    const before = await restoring(engine, clock)
    await recovery(engine, undefined, false)
    await recovery(engine)
    const again = await all(engine, 'plain')
    const moment = clock.now()
    clock.advanceSeconds(1)
    await change(engine, `item-${ITEMS - 1}`)
    expect((await refusal(recover(engine, moment - 1000, 'early'))).name).toBe(
      'InvalidRestoreTimeException',
    )
    await recover(engine, moment, 'again')
    await engine.settled()
    expect(await all(engine, 'restored')).toEqual(before)
    expect(await all(engine, 'again')).toEqual(again)
    expect(changesIn(engine)).toBe(1)
  })

  test('although the table is dropped during the restore', async () => {
    const clock = movableClock()
    const engine = await freshEngine({ clock })
    const before = await restoring(engine, clock)
    await engine.deleteTable({ TableName: 'plain' })
    expect(await isBeingCreated(engine)).toBe(true)
    await engine.settled()
    expect(await all(engine, 'restored')).toEqual(before)
    expect(changesIn(engine)).toBe(0)
  })

  test('though recovery is switched off and the table dropped, which leaves nothing', async () => {
    const clock = movableClock()
    const engine = await freshEngine({ clock })
    const before = await restoring(engine, clock)
    await recovery(engine, undefined, false)
    await engine.deleteTable({ TableName: 'plain' })
    expect(await isBeingCreated(engine)).toBe(true)
    await engine.settled()
    expect(await all(engine, 'restored')).toEqual(before)
    expect(changesIn(engine)).toBe(0)
    expect((await checkStorage(engine.storage)).items).toBe(ITEMS)
  })

  test('though the moment is too long ago by now', async () => {
    const clock = movableClock()
    const engine = await freshEngine({ clock })
    const before = await restoring(engine, clock)
    clock.advanceSeconds(2 * DAY)
    await engine.sweep()
    await engine.settled()
    expect(await all(engine, 'restored')).toEqual(before)
    await engine.sweep()
    expect(changesIn(engine)).toBe(0)
  })

  test('but not if recovery was switched off before', async () => {
    const engine = await freshEngine()
    await filled(engine)
    await recovery(engine)
    const [, late] = await Promise.all([
      recovery(engine, undefined, false),
      refusal(recover(engine, Date.now(), 'restored')),
    ])
    expect(String(late)).toBe(
      "PointInTimeRecoveryUnavailableException: Point in time recovery is not enabled for table 'plain'",
    )
    expect(engine.storage.tables().map(({ name }) => name)).toEqual(['plain'])
  })
})

test('a dropped table is not written to any more, nor what is kept of it', async () => {
  const engine = await freshEngine()
  await engine.createTable(plain)
  await recovery(engine)
  await change(engine, 'a')
  const [, ...late] = await Promise.all([
    engine.deleteTable({ TableName: 'plain' }),
    refusal(engine.putItem({ TableName: 'plain', Item: { id: 'late' } })),
    refusal(create(engine)),
  ])
  expect(late.map(({ name }) => name)).toEqual([
    'ResourceNotFoundException',
    'ResourceNotFoundException',
  ])
  const { BackupSummaries = [] } = await engine.listBackups({ BackupType: 'ALL' })
  await engine.restoreTableFromBackup(restored(BackupSummaries[0]?.BackupArn ?? ''))
  await engine.settled()
  expect(await all(engine, 'restored')).toEqual([{ id: 'a', n: 1 }])
})

test('work that a damaged item stops does not keep other work waiting', async () => {
  const engine = await freshEngine()
  const BackupArn = await backedUp(engine)
  const { environment, tables } = engine.storage
  const { id, keys } = tables().find(({ name }) => name === 'plain')!
  const damaged = Object.assign(Buffer.of(99), { start: 0, end: 1 }) as unknown as EncodedValue
  const key = new KeySource().ofItem(id, keys, { id: 'item-1' })
  await environment.root.transaction(() => void environment.items.put(key, damaged))
  await create(engine)
  await engine.restoreTableFromBackup(restored(BackupArn))
  await expect(engine.settled()).rejects.toThrow('Cannot decode stored item')
  expect(await isBeingCreated(engine)).toBe(false)
  expect(await all(engine, 'restored')).toHaveLength(ITEMS)
  await engine.deleteTable({ TableName: 'restored' })
  await expect(engine.settled()).rejects.toThrow('Cannot decode stored item')
  expect(engine.storage.tables().map(({ name }) => name)).toEqual(['plain'])
})
