/** What the next process finds unfinished, and nothing left to finish it. */
import { describe, expect, test, vi } from 'vitest'
import { type Engine, openEngine } from '../../../src/engine.ts'
import { backupKey } from '../../../src/storage/backups/backup-records.ts'
import { checkStorage } from '../../../src/storage/check.ts'
import { tableKey } from '../../../src/storage/catalog.ts'
import { openEnvironment } from '../../../src/storage/lmdb/environment.ts'
import { ALL_JOBS, type Job } from '../../../src/storage/jobs/jobs.ts'
import type { Environment } from '../../../src/storage/lmdb/lmdb.ts'
import {
  all,
  backedUp,
  change,
  changesIn,
  create,
  filled,
  ITEMS,
  restored,
  restoring,
} from '../../support/backups.ts'
import { freshEngine, movableClock, plain } from '../../support/engine.ts'

/** What is left after `damage` to a directory in which work is under way. */
async function reopened(engine: Engine, damage: (env: Environment) => void): Promise<Engine> {
  await engine.close()
  const { directory } = engine.storage
  const env = openEnvironment(directory)
  await env.root.transaction(() => damage(env))
  await env.close()
  return openEngine({ directory, sweepIntervalMs: 0 })
}

function loseWork(env: Environment): void {
  const jobs = Array.from(env.meta.getKeys({ ...ALL_JOBS }))
  for (const key of jobs) void env.meta.remove(key)
}

describe('a table is gone, and its name free, if the next process finds no more', () => {
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
    expect(await left(await reopened(engine, loseWork))).toEqual(nothing)
  })
})

test('a backup whose work is lost is gone, and the changes that were kept for it', async () => {
  const engine = await freshEngine()
  await filled(engine)
  await create(engine)
  await change(engine, 'item-1')
  const again = await reopened(engine, loseWork)
  try {
    await vi.waitUntil(() => again.storage.backups.all().length === 0, { timeout: 10_000 })
    await again.settled()
    expect(again.storage.table('plain')).not.toHaveProperty('logs')
    await change(again, 'item-1')
    expect(changesIn(again)).toBe(0)
    expect((await checkStorage(again.storage)).problems).toEqual([])
    expect(await all(again, 'plain')).toHaveLength(ITEMS)
  } finally {
    await again.close()
  }
})

test('an index whose work is lost is filled anew', async () => {
  const engine = await freshEngine()
  await filled(engine)
  await engine.updateTable({
    TableName: 'plain',
    AttributeDefinitions: [
      { AttributeName: 'id', AttributeType: 'S' },
      { AttributeName: 'filler', AttributeType: 'S' },
    ],
    GlobalSecondaryIndexUpdates: [
      {
        Create: {
          IndexName: 'by-filler',
          KeySchema: [{ AttributeName: 'filler', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
      },
    ],
  })
  const again = await reopened(engine, loseWork)
  try {
    await again.settled()
    expect(again.storage.table('plain')?.indexes).toMatchObject([{ status: 'ACTIVE' }])
    const { Count } = await again.scan({ TableName: 'plain', IndexName: 'by-filler' })
    expect(Count).toBe(ITEMS)
    expect((await checkStorage(again.storage)).problems).toEqual([])
  } finally {
    await again.close()
  }
})
