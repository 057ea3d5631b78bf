/** Creates, rotates, lists and describes branch keys for operators, without any plaintext key. */
import type { Clock } from '@strongroom/platform/clock'
import type { Item } from '@strongroom/kit/db'
import { ageSeconds } from './age.ts'
import type { EncryptedHierarchicalKey, HierarchicalKeyType } from '../store/encrypted-key.ts'
import { customContext } from '../store/encryption-context.ts'
import { keyStoreError, rethrowForOperators } from '../errors.ts'
import { CONTEXT_PREFIX } from '../store/item.ts'
import { requireIdentifier } from '../store/input.ts'
import type { KeyStore } from '../store/key-store.ts'
import type { KeyListing, Unreadable } from './listing.ts'

export interface BranchKeys {
  create(input: NewBranchKey): Promise<{ id: string }>
  /** Activates a new version; throws `key-store.version_race` if another rotation succeeded first. */
  rotate(id: string): Promise<{ version: string }>
  list(options: { limit: number; after?: Item | undefined }): Promise<BranchKeyPage>
  describe(id: string): Promise<BranchKeyDescription>
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

    async rotate(id) {
      const { branchKeyVersion } = await keyStore
        .versionKey({ branchKeyIdentifier: id })
        .catch(rethrowForOperators)
      return { version: branchKeyVersion }
    },

    async list({ limit, after }) {
      const { keys, unreadable, next } = await listing.listBranchKeys({ limit, after })
      return {
        items: keys.map(summary),
        unreadable: unreadable.map(({ key, message }) => ({
          id: textOf(key?.['branch-key-id']),
          problem: message,
        })),
        next,
      }
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
        versions: versions
          .map((key) => ({
            version: key.type.version,
            active: key.type.version === current?.activeVersion,
            ...stored(key),
          }))
          .toSorted(activeFirst),
        beacon: beacon ? stored(beacon) : null,
        unreadable: unreadable.map(problemOf),
        foreignItems: foreign,
      }
    },
  }
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
