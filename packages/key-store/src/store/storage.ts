/**
 * The key storage interface and its DynamoDB implementation (DynamoDB key storage 0.2.0).
 *
 * Conditions use placeholders for attribute names, because `branch-key-id` is not valid in an expression,
 * although the specification writes it there.
 */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { type Db, eachOperation, type TransactWriteItem } from '@strongroom/kit/db'
import { TransactionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { transact } from '@strongroom/kit/transact'
import { expr } from '@strongroom/kit/expression'
import { retryingDb } from '@strongroom/kit/retrying-db'
import {
  type ActiveBeacon,
  type ActiveVersion,
  type DecryptOnlyVersion,
  type EncryptedHierarchicalKey,
  fromItem,
  type HierarchicalKeyType,
  sortKeyOf,
  toItem,
} from './encrypted-key.ts'
import { ACTIVE_TYPE, BEACON_TYPE, BranchKeyItem, VERSION_PREFIX } from './item.ts'
import { branchKeysTable } from '../tables.ts'
import { emptyIdentifier, keyStoreFailure } from '../errors.ts'

/** A `DynamoDBClient` of the AWS SDK, by shape, so that the types do not need the SDK. */
export interface DynamoDbClient {
  send(...args: never[]): unknown
  destroy(): void
}

/** The store of branch keys: a `Db`, or a client of the AWS SDK. */
export type DbSource = { db: Db; client?: never } | { client: DynamoDbClient; db?: never }

export interface KeyStorage {
  /** Writes a new branch key with its beacon key atomically. */
  writeNewEncryptedBranchKey(
    keys: {
      version: EncryptedHierarchicalKey<DecryptOnlyVersion>
      active: EncryptedHierarchicalKey<ActiveVersion>
      beacon: EncryptedHierarchicalKey<ActiveBeacon>
    },
    options?: WriteOptions,
  ): Promise<void>
  /** Activates a new version if the active one is still `old`; otherwise throws `VersionRace`. */
  writeNewEncryptedBranchKeyVersion(
    keys: {
      version: EncryptedHierarchicalKey<DecryptOnlyVersion>
      active: {
        item: EncryptedHierarchicalKey<ActiveVersion>
        old: EncryptedHierarchicalKey<ActiveVersion>
      }
    },
    options?: WriteOptions,
  ): Promise<void>
  getEncryptedActiveBranchKey(
    branchKeyId: string,
    options?: ReadOptions,
  ): Promise<EncryptedHierarchicalKey<ActiveVersion>>
  getEncryptedBranchKeyVersion(
    branchKeyId: string,
    branchKeyVersion: string,
    options?: ReadOptions,
  ): Promise<EncryptedHierarchicalKey<DecryptOnlyVersion>>
  getEncryptedBeaconKey(
    branchKeyId: string,
    options?: ReadOptions,
  ): Promise<EncryptedHierarchicalKey<ActiveBeacon>>
  getKeyStorageInfo(): { name: string; logicalName: string }
}

export interface WriteOptions {
  /** The same for all attempts of a write. Without it a repeated write is recognised by its content. */
  token?: string
}

export interface ReadOptions {
  /** Cheaper, but may be stale: a key that was just created may not be found. */
  eventual?: boolean
}

export type KeyStorageOptions = DbSource & {
  tableName: string
  logicalKeyStoreName: string
}

// KS-1, KS-3
export function createKeyStorage(options: KeyStorageOptions): KeyStorage {
  const { tableName, logicalKeyStoreName } = required(options)
  const db = toDb(options)
  const items = entity(db, { ...branchKeysTable, name: tableName }, BranchKeyItem)
  const id = items.attr('branch-key-id')
  const enc = items.attr('enc')

  const put = (key: EncryptedHierarchicalKey, condition: Parameters<typeof items.put>[1]) =>
    items.part.put(toItem(key, logicalKeyStoreName), condition)
  const putNew = (key: EncryptedHierarchicalKey) => put(key, expr`attribute_not_exists(${id})`)

  /** Writes all parts, the new version first; `refused` builds the error of a failed condition. */
  async function write(
    version: EncryptedHierarchicalKey,
    parts: TransactWriteItem[],
    { token }: WriteOptions,
    refused: (failure: TransactionFailed) => Error,
  ) {
    try {
      await transact(db, parts, token === undefined ? {} : { token })
    } catch (error) {
      if (!(error instanceof TransactionFailed)) throw error
      // Wrapping is random, so an equal ciphertext means that this write succeeded and its response was
      // lost. The write is atomic, so checking the version is enough.
      if (isSame(error.reasons[0]?.item?.enc, version.ciphertextBlob)) return
      throw refused(error)
    }
  }

  async function read<Type extends HierarchicalKeyType>(
    branchKeyId: string,
    type: string,
    { eventual = false }: ReadOptions = {},
  ): Promise<EncryptedHierarchicalKey<Type>> {
    if (branchKeyId === '') throw emptyIdentifier('branch key identifier')
    const key = { 'branch-key-id': branchKeyId, type }
    const item = await items.get(key, { eventual })
    if (!item) throw keyStoreFailure('BranchKeyNotFound')
    if (item['branch-key-id'] !== branchKeyId || item.type !== type)
      throw keyStoreFailure('UnexpectedItem', { table: tableName, key })
    if (item['hierarchy-version'] !== 1)
      throw keyStoreFailure('UnsupportedHierarchyVersion', { table: tableName, key })
    // The sort key, which determines the type of the key, is the requested one.
    return fromItem(item, logicalKeyStoreName) as EncryptedHierarchicalKey<Type>
  }

  return {
    // KS-4, KS-5, KS-6, KS-7, KS-8, KS-9, KS-10, KS-41
    async writeNewEncryptedBranchKey({ version, active, beacon }, given = {}) {
      requireOneKey(version, active, beacon)
      await write(version, [putNew(version), putNew(active), putNew(beacon)], given, (failure) =>
        failure.reasons.some((_, part) => failure.conditionFailed(part))
          ? keyStoreFailure('BranchKeyExists', { cause: failure })
          : failure,
      )
    },

    // KS-11, KS-12, KS-13, KS-14, KS-15, KS-42
    async writeNewEncryptedBranchKeyVersion(
      { version, active: { item: active, old } },
      given = {},
    ) {
      requireOneKey(version, active, old)
      const isUnchanged = expr`attribute_exists(${id}) AND ${enc} = ${old.ciphertextBlob}`
      await write(version, [putNew(version), put(active, isUnchanged)], given, (failure) => {
        const because = { cause: failure }
        if (failure.conditionFailed(0)) return keyStoreFailure('BranchKeyExists', because)
        if (!failure.conditionFailed(1)) return failure
        return failure.reasons[1]?.item
          ? keyStoreFailure('VersionRace', because)
          : keyStoreFailure('BranchKeyNotFound', because)
      })
    },

    // KS-16, KS-17, KS-18, KS-19
    getEncryptedActiveBranchKey: (branchKeyId, given) => read(branchKeyId, ACTIVE_TYPE, given),

    // KS-20, KS-21, KS-22, KS-23, KS-24
    async getEncryptedBranchKeyVersion(branchKeyId, branchKeyVersion, given) {
      if (branchKeyVersion === '') throw emptyIdentifier('branch key version')
      return read(branchKeyId, VERSION_PREFIX + branchKeyVersion, given)
    },

    // KS-25, KS-26, KS-27, KS-28
    getEncryptedBeaconKey: (branchKeyId, given) => read(branchKeyId, BEACON_TYPE, given),

    // KS-43
    getKeyStorageInfo: () => ({ name: tableName, logicalName: logicalKeyStoreName }),
  }
}

/** Callers in JavaScript may omit what the types require. */
function required(options: KeyStorageOptions): KeyStorageOptions {
  const { tableName, logicalKeyStoreName }: Partial<KeyStorageOptions> = options
  if (!tableName) throw new TypeError('Cannot create a key storage: pass the tableName')
  if (!logicalKeyStoreName)
    throw new TypeError('Cannot create a key storage: pass the logicalKeyStoreName')
  return options
}

/** All parts of a write must belong to one branch key, and the active one must be the new version. */
function requireOneKey(
  version: EncryptedHierarchicalKey<DecryptOnlyVersion>,
  active: EncryptedHierarchicalKey<ActiveVersion>,
  third: EncryptedHierarchicalKey,
) {
  for (const { branchKeyId } of [active, third]) {
    if (branchKeyId !== version.branchKeyId)
      throw keyStoreFailure('EncryptedKeyMismatch', { attribute: 'branch-key-id' })
  }
  if (active.encryptionContext.version !== sortKeyOf(version.type))
    throw keyStoreFailure('EncryptedKeyMismatch', { attribute: 'version' })
}

function isSame(stored: unknown, bytes: Uint8Array): boolean {
  return stored instanceof Uint8Array && Buffer.compare(stored, bytes) === 0
}

export function toDb({ db, client }: { [Way in keyof DbSource]?: DbSource[Way] }): Db {
  if (db) return db
  if (client) return toClientDb(client)
  throw new TypeError('Cannot reach branch keys: pass a db, or a client of the AWS SDK')
}

/** A `Db` needs no SDK, so the SDK is loaded when a client is first used. */
function toClientDb(client: DynamoDbClient): Db {
  const load = async () => {
    const { awsDbOf } = await import('@strongroom/kit/aws-db')
    return retryingDb(awsDbOf(client as DynamoDBClient))
  }
  let loading: Promise<Db> | undefined
  return eachOperation((name) => async (input) => {
    loading ??= load()
    return (await loading)[name](input)
  })
}
