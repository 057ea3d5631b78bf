/** Encrypted branch keys for tests: what KMS would have wrapped is random bytes. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { Db, Item } from '@strongroom/kit/db'
import type {
  ActiveBeacon,
  ActiveVersion,
  DecryptOnlyVersion,
  EncryptedHierarchicalKey,
  HierarchicalKeyType,
} from '../../src/store/encrypted-key.ts'

export const TABLE = 'strongroom-branch-keys'
export const LOGICAL = 'LogicalKeyStore'
export const KMS_ARN = 'arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab'

export interface NewKey {
  branchKeyId?: string
  version?: string
  createTime?: string
  /** Custom encryption context, prefixed as it is stored. */
  custom?: Record<string, string>
}

/** The three parts of a new branch key, as the key store derives them. */
export function newBranchKey({
  branchKeyId = randomUUID(),
  version = randomUUID(),
  createTime = '2100-01-01T00:00:00.000000Z',
  custom = {},
}: NewKey = {}) {
  const versionType = `branch:version:${version}`
  const decryptOnly = {
    ...custom,
    'branch-key-id': branchKeyId,
    type: versionType,
    'create-time': createTime,
    tablename: LOGICAL,
    'kms-arn': KMS_ARN,
    'hierarchy-version': '1',
  }
  const key = <Type extends HierarchicalKeyType>(
    type: Type,
    encryptionContext: Record<string, string>,
  ): EncryptedHierarchicalKey<Type> => ({
    branchKeyId,
    type,
    createTime,
    kmsArn: KMS_ARN,
    encryptionContext,
    ciphertextBlob: new Uint8Array(randomBytes(184)),
  })
  return {
    branchKeyId,
    version: key<DecryptOnlyVersion>(
      { kind: 'HierarchicalSymmetricVersion', version },
      decryptOnly,
    ),
    active: key<ActiveVersion>(
      { kind: 'ActiveHierarchicalSymmetricVersion', version },
      { ...decryptOnly, type: 'branch:ACTIVE', version: versionType },
    ),
    beacon: key<ActiveBeacon>(
      { kind: 'ActiveHierarchicalSymmetricBeacon' },
      { ...decryptOnly, type: 'beacon:ACTIVE' },
    ),
  }
}

/** A rotation of a key that was read: a new version of it, and what it takes the place of. */
export function rotationOf(
  old: EncryptedHierarchicalKey<ActiveVersion>,
  version: string = randomUUID(),
) {
  const { version: newVersion, active } = newBranchKey({ branchKeyId: old.branchKeyId, version })
  return { version: newVersion, active: { item: active, old } }
}

export async function rawItem(db: Db, id: string, type: string): Promise<Item | undefined> {
  const { Item: item } = await db.getItem({
    TableName: TABLE,
    Key: { 'branch-key-id': id, type },
    ConsistentRead: true,
  })
  return item
}
