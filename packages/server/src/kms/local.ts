/**
 * Where the embedded KMS stores its keys: always on the embedded engine of this machine. If everything
 * else is at an endpoint, the endpoint records which key it depends on, so that a lost data directory is
 * an error and not a new key.
 */
import { resolve } from 'node:path'
import * as z from 'zod'
import { hasData } from '@strongroom/engine/storage/lmdb/format'
import type { Db } from '@strongroom/kit/db'
import { ConditionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { Failure } from '@strongroom/kit/errors'
import { expr } from '@strongroom/kit/expression'
import { listSecretVersions } from '@strongroom/kit/secret-versions'
import { serverTable } from '@strongroom/kit/server-table'
import type { Settings } from '../settings.ts'
import { openEmbedded, type Store } from '../store.ts'
import { requireTables } from '../tables.ts'
import { type OpenEmbeddedKms, openEmbeddedKms } from './embedded.ts'
import type { OpenKmsOptions } from './open.ts'
import { findOwnKeyId } from './own-key.ts'

/** In the shared store: the key of the embedded KMS that encrypts what is stored there. */
export const LocalKeyItem = z.object({
  PK: z.literal('KMSKEY'),
  SK: z.literal('LOCAL'),
  id: z.string(),
})
const LOCAL_KEY = { PK: 'KMSKEY', SK: 'LOCAL' } as const

type SharedStore = Pick<Store, 'db' | 'kind' | 'location' | 'mayCreate'>

/** The embedded KMS of a store, with the database that has its keys. */
export async function openLocalKms(
  settings: Settings,
  store: SharedStore,
  options: Pick<OpenKmsOptions, 'clock' | 'askPassphrase'>,
): Promise<Omit<OpenEmbeddedKms, 'close'> & { db: Db; close(): Promise<void> }> {
  const keys = await openKmsDb(settings, store)
  try {
    const { db, mayCreate } = keys
    const embedded = await openEmbeddedKms(db, settings, { ...options, mayCreate })
    await keys.record(embedded.id)
    return {
      ...embedded,
      db,
      async close() {
        embedded.close()
        await keys.close()
      },
    }
  } catch (error) {
    await keys.close()
    throw error
  }
}

interface KmsDb {
  db: Db
  /** False if the key must exist already. */
  mayCreate: boolean
  /** Fails if the shared store depends on another key. */
  record(id: string): Promise<void>
  close(): Promise<void>
}

export async function openKmsDb(settings: Settings, store: SharedStore): Promise<KmsDb> {
  const { mayCreate = true } = store
  if (store.kind === 'embedded') {
    return {
      db: store.db,
      mayCreate,
      record: async () => undefined,
      close: async () => undefined,
    }
  }
  const directory = resolve(settings.STRONGROOM_DATA)
  const records = entity(store.db, serverTable, LocalKeyItem)
  const recorded = (await records.get(LOCAL_KEY))?.id
  if (recorded !== undefined && !hasData(directory)) throw keyMissing(store, directory)
  if (recorded === undefined && (await listSecretVersions(store.db)).length > 0) {
    throw new Failure(
      'failed',
      `What is stored at ${store.location} was encrypted by another KMS: set KMS_ENDPOINT or STRONGROOM_KMS, and KMS_KEY_ARN, as before`,
    )
  }
  const mayCreateKey = mayCreate && recorded === undefined
  const own = await openEmbedded(settings, { mayCreate: mayCreateKey })
  try {
    await requireTables(own, [serverTable])
    if (recorded !== undefined && (await findOwnKeyId(own.db)) !== recorded) {
      throw keyMissing(store, directory)
    }
  } catch (error) {
    await own.close()
    throw error
  }
  return {
    db: own.db,
    mayCreate: mayCreateKey,
    async record(id) {
      if (recorded !== undefined) return
      try {
        await records.put({ ...LOCAL_KEY, id }, expr`attribute_not_exists(${records.attr('PK')})`)
      } catch (error) {
        if (!(error instanceof ConditionFailed && error.item)) throw error
        // Another server started at the same time, perhaps with another data directory.
        if (records.parse(error.item).id !== id) throw keyMissing(store, directory)
      }
    },
    close: () => own.close(),
  }
}

function keyMissing({ location }: SharedStore, directory: string): Failure {
  return new Failure(
    'failed',
    `What is stored at ${location} is encrypted with a key of the embedded KMS that is not in ${directory}: set STRONGROOM_DATA to the data directory of the first start, or put it back. If you do not need the data, delete the tables and run "strongroom tables create"`,
  )
}
