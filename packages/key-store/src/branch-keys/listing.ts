/**
 * Lists branch keys and their versions, for operators.
 *
 * A table may contain items of other programs, such as the mutations of AWS's administration tools, and
 * one damaged item must not hide the others: unreadable items are listed separately.
 */
import type { Db, Item } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { expr, Placeholders } from '@strongroom/kit/expression'
import { ItemMismatch } from '@strongroom/kit/db-errors'
import { type Page, queryPage } from '@strongroom/kit/paging'
import {
  type ActiveBeacon,
  type ActiveVersion,
  type DecryptOnlyVersion,
  type EncryptedHierarchicalKey,
  fromItem,
  type HierarchicalKeyType,
} from '../store/encrypted-key.ts'
import { toDb } from '../store/storage.ts'
import { ACTIVE_TYPE, BranchKeyItem, isBranchKeyType } from '../store/item.ts'
import type { KeyStorageOptions } from '../store/storage.ts'
import { branchKeysTable } from '../tables.ts'
import { emptyIdentifier, type KeyStoreError, keyStoreFailure } from '../errors.ts'

export type Unreadable = ItemMismatch | KeyStoreError

export interface KeyPage {
  keys: EncryptedHierarchicalKey[]
  unreadable: Unreadable[]
  /** Where to continue; undefined on the last page. */
  next: Item | undefined
}

export interface PageOptions {
  limit?: number
  after?: Item | undefined
}

/** All items of one branch key. */
export interface BranchKeyParts {
  active: EncryptedHierarchicalKey<ActiveVersion> | undefined
  /** All versions including the active one, in no particular order. */
  versions: EncryptedHierarchicalKey<DecryptOnlyVersion>[]
  beacon: EncryptedHierarchicalKey<ActiveBeacon> | undefined
  unreadable: Unreadable[]
  /** The number of items of other programs, such as mutations. */
  foreign: number
}

export interface KeyListing {
  /** The active version of each branch key, in no particular order. */
  listBranchKeys(options?: PageOptions): Promise<KeyPage>
  /** All items of an id; empty if there are none. */
  listBranchKeyParts(branchKeyId: string): Promise<BranchKeyParts>
}

type Listed = EncryptedHierarchicalKey | Unreadable

export function createKeyListing(options: KeyStorageOptions): KeyListing {
  const { tableName, logicalKeyStoreName } = options
  const db = toDb(options)
  const table = { ...branchKeysTable, name: tableName }
  const items = entity(db, table, BranchKeyItem)
  const id = items.attr('branch-key-id')
  const type = items.attr('type')

  function toListed(stored: Item): Listed {
    try {
      const item = items.parse(stored)
      if (item['hierarchy-version'] === 1) return fromItem(item, logicalKeyStoreName)
      const key = { 'branch-key-id': item['branch-key-id'], type: item.type }
      return keyStoreFailure('UnsupportedHierarchyVersion', { table: tableName, key })
    } catch (error) {
      if (error instanceof ItemMismatch) return error
      throw error
    }
  }

  return {
    async listBranchKeys({ limit = Number.POSITIVE_INFINITY, after } = {}) {
      const placeholders = new Placeholders()
      const request = {
        TableName: tableName,
        FilterExpression: placeholders.render(expr`${type} = ${ACTIVE_TYPE}`),
        ...placeholders.parameters(),
        ConsistentRead: true,
      }
      const found: Item[] = []
      let next = after
      do {
        const page = await scan(db, request, next)
        found.push(...(page.Items ?? []))
        next = page.LastEvaluatedKey
      } while (next && found.length < limit)
      const kept = found.slice(0, limit)
      // A page of the store may hold more than requested; the next one starts after the last one returned.
      if (found.length > kept.length) next = keyOf(kept.at(-1))
      return keyPage({ items: kept.map(toListed), next })
    },

    async listBranchKeyParts(branchKeyId) {
      if (branchKeyId === '') throw emptyIdentifier('branch key identifier')
      const { items: stored } = await queryPage(
        db,
        table,
        { key: expr`${id} = ${branchKeyId}` },
        (item) => item,
      )
      const own = stored.filter((item) => isBranchKeyType(item.type))
      const { keys, unreadable } = keyPage({ items: own.map(toListed), next: undefined })
      return { ...partsOf(keys), unreadable, foreign: stored.length - own.length }
    },
  }
}

function scan(db: Db, request: Parameters<Db['scan']>[0], from: Item | undefined) {
  return db.scan({ ...request, ...(from && { ExclusiveStartKey: from }) })
}

function keyOf(item: Item | undefined): Item | undefined {
  const { 'branch-key-id': id, type } = item ?? {}
  return id === undefined || type === undefined ? undefined : { 'branch-key-id': id, type }
}

function partsOf(keys: readonly EncryptedHierarchicalKey[]) {
  return {
    active: keys.find((key) => isOfKind(key, 'ActiveHierarchicalSymmetricVersion')),
    versions: keys.filter((key) => isOfKind(key, 'HierarchicalSymmetricVersion')),
    beacon: keys.find((key) => isOfKind(key, 'ActiveHierarchicalSymmetricBeacon')),
  }
}

function isOfKind<Kind extends HierarchicalKeyType['kind']>(
  key: EncryptedHierarchicalKey,
  kind: Kind,
): key is EncryptedHierarchicalKey<Extract<HierarchicalKeyType, { kind: Kind }>> {
  return key.type.kind === kind
}

function keyPage({ items, next }: Page<Listed>): KeyPage {
  const page: KeyPage = { keys: [], unreadable: [], next }
  for (const item of items) {
    if (item instanceof Error) page.unreadable.push(item)
    else page.keys.push(item)
  }
  return page
}
