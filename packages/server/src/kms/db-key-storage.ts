/** The entry `@strongroom/kms/db-key-storage`: the keys of a KMS in a table of any store. */
import type { Db } from '@strongroom/kit/db'
import { prefixTables } from '@strongroom/kit/prefix-tables'
import { serverTable } from '@strongroom/kit/server-table'
import { createTables } from '@strongroom/kit/tables'
import type { KeyStorage } from '@strongroom/kms/key-storage'
import { createKmsKeyStorage } from './key-storage.ts'

export interface DbKeyStorageOptions {
  /** Prefix of the table name, `strongroom-server`. */
  tablePrefix?: string
}

/** Creates the table if it does not exist. */
export async function openDbKeyStorage(
  db: Db,
  { tablePrefix = '' }: DbKeyStorageOptions = {},
): Promise<KeyStorage> {
  const prefixed = prefixTables(db, tablePrefix)
  await createTables(prefixed, [serverTable])
  return createKmsKeyStorage(prefixed)
}
