// Removes tables with secure deletion from the copies that conversions make: a copy would keep what is
// deleted later. The copies contain everything else.

import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { allBackups, backupKey } from '../backups/backup-records.ts'
import { boundsOfId } from '../bounds.ts'
import { ALL_TABLES } from '../catalog.ts'
import { countKey } from '../counts.ts'
import { ALL_SLOT_RECORDS } from '../item-keys/item-keys.ts'
import { openFiles, type Environment } from '../lmdb/lmdb.ts'
import { overwriteUnusedSpace } from '../lmdb/unused-space.ts'
import { keyOf, lmdbRange } from '../reads.ts'
import type { TableRecord } from '../storage.ts'

/** The name of a copy: the format that it has and when it was made, in UTC. */
export const COPY_NAME = /^backup-format-(\d+)-(\d{8}T\d{6})Z$/

const BATCH = 500

/** Removes tables from all copies in a data directory. */
export async function removeFromCopies(
  directory: string,
  tables: readonly number[],
): Promise<void> {
  for (const name of readdirSync(directory)) {
    if (COPY_NAME.test(name)) await removeFromCopy(join(directory, name), tables)
  }
}

/** The tables stay, without items. They are given by their ids, because a name may have changed its table. */
export async function removeFromCopy(copy: string, tables: readonly number[]): Promise<void> {
  const env = openFiles(copy)
  let isAlone = false
  try {
    const found = [...env.meta.getRange(ALL_TABLES)]
      .map(({ value }) => value as TableRecord)
      .filter(({ id }) => tables.includes(id))
    for (const { id, ttl, indexes, logs = [] } of found) {
      await removeAll(env, 'items', id)
      for (const owner of ttl ? [...indexes, ttl] : indexes)
        await removeAll(env, 'entries', owner.id)
      for (const counted of [id, ...indexes.map((index) => index.id)]) {
        env.meta.removeSync(countKey(counted))
      }
      for (const log of logs) await removeAll(env, 'changes', log.id)
    }
    const backups = Array.from(allBackups(env))
    for (const backup of backups) {
      if (!tables.includes(backup.table.id)) continue
      await removeAll(env, 'items', backup.space.id)
      env.meta.putSync(backupKey(backup.id), { ...backup, items: 0, bytes: 0 })
    }
    const slots = [...env.meta.getKeys(ALL_SLOT_RECORDS)]
    env.root.transactionSync(() => {
      for (const key of slots) env.meta.removeSync(key)
    })
    env.root.transactionSync(() => overwriteUnusedSpace(env, copy))
    // Two servers that start at the same time do this twice.
    isAlone = env.otherProcesses().length === 0
  } finally {
    await env.close()
  }
  if (isAlone) rmSync(join(copy, 'lock.mdb'), { force: true })
}

async function removeAll(
  env: Environment,
  space: 'items' | 'entries' | 'changes',
  id: number,
): Promise<void> {
  const table = space === 'entries' ? env.entries : env.raw[space]
  const range = { ...lmdbRange(boundsOfId(id), false), limit: BATCH }
  for (let left = true; left;) {
    const keys = Array.from(table.getKeys(range), (key) => keyOf(key, 0))
    env.root.transactionSync(() => {
      for (const key of keys) void table.remove(key)
    })
    left = keys.length === BATCH
    if (left) await nextTurn()
  }
}
