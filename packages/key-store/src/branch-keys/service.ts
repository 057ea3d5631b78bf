/** Creates, rotates, lists and describes branch keys for operators, without any plaintext key. */
import type { Clock } from '@strongroom/platform/clock'
import type { Item } from '@strongroom/kit/db'
import { ageSeconds } from './age.ts'
import type {
  DecryptOnlyVersion,
  EncryptedHierarchicalKey,
  HierarchicalKeyType,
} from '../store/encrypted-key.ts'
import { customContext } from '../store/encryption-context.ts'
import { keyStoreError, rethrowForOperators } from '../errors.ts'
import { CONTEXT_PREFIX } from '../store/item.ts'
import { requireIdentifier } from '../store/input.ts'
import type { KeyStore } from '../store/key-store.ts'
import type { KeyListing, Unreadable } from './listing.ts'

export interface BranchKeys {
  create(input: NewBranchKey): Promise<{ id: string }>
  /** Activates a new version; throws `key-store.version_race` if another rotation succeeded first. */
  rotate(id: string, options?: RotateOptions): Promise<{ version: string }>
  list(options: KeyListOptions): Promise<BranchKeyPage>
  describe(id: string): Promise<BranchKeyDescription>
}

export interface KeyListOptions {
  limit: number
  after?: Item | undefined
  /** Only keys whose active version is at least this old, and keys of unknown age. */
  olderThanSeconds?: number | undefined
  /** Also lists all versions of each key, with one query per key. */
  withVersions?: boolean | undefined
}

export interface RotateOptions {
  /** Only if this version is active; otherwise `key-store.version_race` is thrown. */
  activeVersion?: string | undefined
}

export interface NewBranchKey {
  id?: string | undefined
  encryptionContext?: Record<string, string> | undefined
}

export interface StoredKey {
  /** As stored; the format depends on the program that wrote it. */
  createTime: string
  /** Null if the creation time cannot be read. */
  ageSeconds: number | null
  kmsArn: string
}

export interface BranchKeySummary extends StoredKey {
  id: string
  activeVersion: string
  /** The custom pairs, without the prefix. */
  encryptionContext: Record<string, string>
  /** The active one first; only in a list that was asked for them. */
  versions?: ListedVersion[] | undefined
}

export interface BranchKeyPage {
  items: BranchKeySummary[]
  /** Active items that cannot be read, by the id of their branch key. */
  unreadable: { id: string; problem: string }[]
  next: Item | undefined
}

interface ListedVersion extends StoredKey {
  version: string
  active: boolean
}

export interface BranchKeyDescription {
  id: string
  /** Null if the active item is missing or cannot be read. */
  active: BranchKeySummary | null
  /** The active one first, then the newest; those of unknown age last. */
  versions: ListedVersion[]
  beacon: StoredKey | null
  /** Items of this key that cannot be read, by their sort key. */
  unreadable: { type: string; problem: string }[]
  /** How many items under this id were written by other programs. */
  foreignItems: number
}

/** KMS allows twice this, but the key store adds pairs of its own. */
const MAX_CONTEXT_BYTES = 4096

/** A page ends unfilled after this many reads, because nearly all keys may be young. */
const MAX_LIST_READS = 20
const CONCURRENT_QUERIES = 10

export function createBranchKeys(deps: {
  keyStore: Pick<KeyStore, 'createKey' | 'versionKey'>
  listing: KeyListing
  clock: Clock
}): BranchKeys {
  const { keyStore, listing, clock } = deps

  const stored = ({ createTime, kmsArn }: EncryptedHierarchicalKey): StoredKey => ({
    createTime,
    ageSeconds: ageSeconds(createTime, clock) ?? null,
    kmsArn,
  })
  const summary = (key: EncryptedHierarchicalKey): BranchKeySummary => ({
    id: key.branchKeyId,
    activeVersion: versionOf(key.type),
    ...stored(key),
    encryptionContext: customContext(key.encryptionContext),
  })

  const listedVersions = (
    versions: readonly EncryptedHierarchicalKey<DecryptOnlyVersion>[],
    activeVersion: string | undefined,
  ): ListedVersion[] =>
    versions
      .map((key) => ({
        version: key.type.version,
        active: key.type.version === activeVersion,
        ...stored(key),
      }))
      .toSorted(activeFirst)

  async function addVersions(key: BranchKeySummary): Promise<BranchKeySummary> {
    const { versions } = await listing.listBranchKeyParts(key.id)
    return { ...key, versions: listedVersions(versions, key.activeVersion) }
  }

  async function partsOf(id: string) {
    requireIdentifier(id)
    return listing.listBranchKeyParts(id)
  }

  return {
    async create({ id, encryptionContext }) {
      if (contextBytes(encryptionContext) > MAX_CONTEXT_BYTES)
        throw keyStoreError('invalid_context')
      const { branchKeyIdentifier } = await keyStore
        .createKey({
          ...(id !== undefined && { branchKeyIdentifier: id }),
          ...(encryptionContext && { encryptionContext }),
        })
        .catch(rethrowForOperators)
      return { id: branchKeyIdentifier }
    },

    async rotate(id, { activeVersion } = {}) {
      const { branchKeyVersion } = await keyStore
        .versionKey({
          branchKeyIdentifier: id,
          ...(activeVersion !== undefined && { activeVersion }),
        })
        .catch(rethrowForOperators)
      return { version: branchKeyVersion }
    },

    async list({ limit, after, olderThanSeconds, withVersions = false }) {
      const page: BranchKeyPage = { items: [], unreadable: [], next: after }
      for (let reads = 0; reads < MAX_LIST_READS; reads++) {
        // Asks for no more than is missing, so that a page never ends in the middle of a read.
        const missing = limit - page.items.length - page.unreadable.length
        const read = await listing.listBranchKeys({ limit: missing, after: page.next })
        const found = read.keys.map(summary).filter(isOld(olderThanSeconds))
        page.items.push(...found)
        page.unreadable.push(...read.unreadable.map(unreadableKey))
        page.next = read.next
        if (!page.next || page.items.length + page.unreadable.length >= limit) break
      }
      if (!withVersions) return page
      const items: BranchKeySummary[] = []
      for (let at = 0; at < page.items.length; at += CONCURRENT_QUERIES) {
        const batch = page.items.slice(at, at + CONCURRENT_QUERIES)
        items.push(...(await Promise.all(batch.map(addVersions))))
      }
      return { ...page, items }
    },

    async describe(id) {
      const parts = await partsOf(id).catch(rethrowForOperators)
      const { active, versions, beacon, unreadable, foreign } = parts
      if (!active && !beacon && versions.length + unreadable.length === 0)
        throw keyStoreError('not_found')
      const current = active && summary(active)
      return {
        id,
        active: current ?? null,
        versions: listedVersions(versions, current?.activeVersion),
        beacon: beacon ? stored(beacon) : null,
        unreadable: unreadable.map(problemOf),
        foreignItems: foreign,
      }
    },
  }
}

function unreadableKey({ key, message }: Unreadable) {
  return { id: textOf(key?.['branch-key-id']), problem: message }
}

/** A key of unknown age is old: its rotation makes the age known. */
function isOld(olderThanSeconds: number | undefined) {
  return ({ ageSeconds: age }: StoredKey) =>
    olderThanSeconds === undefined || age === null || age >= olderThanSeconds
}

function problemOf({ key, message }: Unreadable) {
  return { type: textOf(key?.['type']), problem: message }
}

/** Both keys of the table are strings. */
function textOf(key: unknown): string {
  return typeof key === 'string' ? key : ''
}

function versionOf(type: HierarchicalKeyType): string {
  return 'version' in type ? type.version : ''
}

/** The size of the context in KMS, where each name has a prefix. */
function contextBytes(context: Record<string, string> = {}): number {
  return Object.entries(context).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(CONTEXT_PREFIX + name + value),
    0,
  )
}

function activeFirst(a: ListedVersion, b: ListedVersion): number {
  if (a.active !== b.active) return a.active ? -1 : 1
  const [one, other] = [a.ageSeconds ?? Number.MAX_VALUE, b.ageSeconds ?? Number.MAX_VALUE]
  return one - other
}
