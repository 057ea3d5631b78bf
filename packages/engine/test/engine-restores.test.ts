/** A table that is being restored ends as it should, whatever happens to its source meanwhile. */
import { describe, expect, test, vi } from 'vitest'
import { type Engine, openEngine } from '../src/engine.ts'
import { backupKey } from '../src/storage/backup-records.ts'
import { checkStorage } from '../src/storage/check.ts'
import { tableKey } from '../src/storage/catalog.ts'
import { ALL_JOBS, type Job } from '../src/storage/job-records.ts'
import { type EncodedValue, type Environment, KeySource } from '../src/storage/lmdb.ts'
import { openEnvironment } from '../src/storage/environment.ts'
import type { Item } from '../src/values/types.ts'
import { all, change, changesIn, create, fill, recover, recovery } from './backup-support.ts'
import { freshEngine, movableClock, plain, refusal } from './engine-support.ts'

/** Many steps of a copy. */
const ITEMS = 2000
const DAY = 24 * 3600

async function filled(engine: Engine): Promise<Item[]> {
  await engine.createTable(plain)
  await fill(engine, ITEMS)
  return all(engine, 'plain')
}

async function backedUp(engine: Engine): Promise<string> {
  await filled(engine)
  const { BackupArn = '' } = await create(engine)
  await engine.settled()
  return BackupArn
}

const restored = (BackupArn: string, TargetTableName = 'restored') => ({
  BackupArn,
  TargetTableName,
})

async function isBeingCreated(engine: Engine): Promise<boolean> {
  const { Table } = await engine.describeTable({ TableName: 'restored' })
  return Table?.TableStatus === 'CREATING'
}

/** A restore of a moment after which there were changes, under way. */
async function restoring(engine: Engine, clock: ReturnType<typeof movableClock>): Promise<Item[]> {
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

describe('of a backup and its restore,', () => {
  test('what is asked for first is done, and the other is refused', async () => {
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
  test('though recovery is switched off meanwhile', async () => {
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

  test('though the table is dropped meanwhile', async () => {
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

describe('a table is gone, and its name free, if the next process finds no more', () => {
  /** What is left after `damage` to a directory in which a restore is under way. */
  async function reopened(engine: Engine, damage: (env: Environment) => void): Promise<Engine> {
    await engine.close()
    const { directory } = engine.storage
    const env = openEnvironment(directory)
    await env.root.transaction(() => damage(env))
    await env.close()
    return openEngine({ directory, sweepIntervalMs: 0 })
  }

  const removal = (space: 'items' | 'changes', id: number): Job => ({ kind: 'remove', space, id })

  async function left(again: Engine) {
    try {
      const isGone = async () => (await again.listTables({})).TableNames?.length === 1
      await vi.waitUntil(isGone, { timeout: 10_000 })
      await again.settled()
      const { TableNames } = await again.listTables({})
      const { problems } = await checkStorage(again.storage)
      await again.createTable({ ...plain, TableName: 'restored' })
      return { TableNames, problems, restored: await all(again, 'restored') }
    } finally {
      await again.close()
    }
  }
  const nothing = { TableNames: ['plain'], problems: [], restored: [] }

  test('of the backup', async () => {
    const engine = await freshEngine()
    const BackupArn = await backedUp(engine)
    await engine.restoreTableFromBackup(restored(BackupArn))
    const [backup] = engine.storage.backups.all()
    const again = await reopened(engine, (env) => {
      void env.meta.remove(backupKey(backup!.id))
      void env.meta.put(['job', 0], removal('items', backup!.id))
    })
    expect(await left(again)).toEqual(nothing)
  })

  test('of the log', async () => {
    const clock = movableClock()
    const engine = await freshEngine({ clock })
    await restoring(engine, clock)
    const { logs, ...source } = engine.storage.table('plain')!
    const again = await reopened(engine, (env) => {
      void env.meta.put(tableKey('plain'), source)
      void env.meta.put(['job', 0], removal('changes', logs![0]!.id))
    })
    expect(await left(again)).toEqual(nothing)
  })

  test('of the work itself', async () => {
    const engine = await freshEngine()
    const BackupArn = await backedUp(engine)
    await engine.restoreTableFromBackup(restored(BackupArn))
    const again = await reopened(engine, (env) => {
      const jobs = Array.from(env.meta.getKeys({ ...ALL_JOBS }))
      for (const key of jobs) void env.meta.remove(key)
    })
    expect(await left(again)).toEqual(nothing)
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
