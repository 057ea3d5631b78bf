// Encrypts the items of a table that got the option for secure deletion after they were stored. When all
// of them are encrypted, their former contents are overwritten: in the unused space of the data file, and
// in the copies that conversions have made of it.

import { performance } from 'node:perf_hooks'
import { boundsOf } from '../bounds.ts'
import { tableKey } from '../catalog.ts'
import { isEncrypted } from '../item-keys/encrypted-value.ts'
import type { FastBuffer } from '../lmdb/bytes.ts'
import { overwriteUnusedSpace } from '../lmdb/unused-space.ts'
import { lmdbRange } from '../reads.ts'
import type { TableRecord } from '../storage.ts'
import type { Transaction } from '../transaction.ts'
import type { Job, JobKey } from './jobs.ts'

type EncryptJob = Job & { kind: 'encrypt' }

/** A step is one commit and blocks the event loop, so its time is limited for large items, too. */
const MAX_STEP_ITEMS = 200
const MAX_STEP_MS = 5

export function encrypt(tx: Transaction, key: JobKey, job: EncryptJob, directory: string): void {
  const table = tx.catalog.byId(job.table)
  if (table === undefined) tx.putMeta(key, undefined)
  else if (job.isEncrypted) finish(tx, key, table, directory)
  else encryptItems(tx, key, job, table)
}

function encryptItems(tx: Transaction, key: JobKey, job: EncryptJob, table: TableRecord): void {
  const bounds = boundsOf(table, undefined, {})
  if (job.after !== undefined) {
    bounds.low = Buffer.concat([Buffer.from(job.after, 'base64'), Buffer.of(0)]) as FastBuffer
  }
  const started = performance.now()
  let found = 0
  for (const { key: stored, value } of tx.env.raw.items.getRange(lmdbRange(bounds, false))) {
    if (!isEncrypted(value)) tx.encryptItem(stored.bytes.subarray(0, stored.length), value)
    if (++found === MAX_STEP_ITEMS || performance.now() - started > MAX_STEP_MS) {
      const after = stored.bytes.toString('base64', 0, stored.length)
      return tx.putMeta(key, { ...job, after } satisfies Job)
    }
  }
  tx.putMeta(key, { kind: 'encrypt', table: job.table, isEncrypted: true } satisfies Job)
}

function finish(tx: Transaction, key: JobKey, table: TableRecord, directory: string): void {
  overwriteUnusedSpace(tx.env, directory)
  tx.putMeta(key, undefined)
  const { encrypting: _encrypting, ...encrypted } = table
  tx.putMeta(tableKey(table.name), encrypted satisfies TableRecord)
  tx.raiseVersion()
}
