/**
 * An encrypted key as key storage returns it (key storage interface 0.2.0, "EncryptedHierarchicalKey"),
 * and its conversion to and from an item.
 *
 * Its encryption context is everything that KMS authenticates: all attributes of the item but `enc`, as
 * strings, and the logical key store name, which is not stored.
 */
import { ACTIVE_TYPE, BEACON_TYPE, type BranchKeyItem, VERSION_PREFIX } from './item.ts'
import { keyStoreFailure } from '../errors.ts'

export interface ActiveVersion {
  kind: 'ActiveHierarchicalSymmetricVersion'
  /** Without the prefix `branch:version:`. */
  version: string
}

export interface DecryptOnlyVersion {
  kind: 'HierarchicalSymmetricVersion'
  version: string
}

export interface ActiveBeacon {
  kind: 'ActiveHierarchicalSymmetricBeacon'
}

// KS-39
export type HierarchicalKeyType = ActiveVersion | DecryptOnlyVersion | ActiveBeacon

// KS-38
export interface EncryptedHierarchicalKey<Type extends HierarchicalKeyType = HierarchicalKeyType> {
  branchKeyId: string
  type: Type
  createTime: string
  kmsArn: string
  encryptionContext: Readonly<Record<string, string>>
  ciphertextBlob: Uint8Array
}

/** The name of the logical key store in the context. */
export const LOGICAL_NAME = 'tablename'
export const HIERARCHY_VERSION = '1'

/** Rejects a key whose context differs from its attributes. */
export function requireAgreement(key: EncryptedHierarchicalKey, logicalKeyStoreName: string): void {
  const expected = {
    [LOGICAL_NAME]: logicalKeyStoreName,
    'branch-key-id': key.branchKeyId,
    type: sortKeyOf(key.type),
    version: versionAttributeOf(key.type),
    'create-time': key.createTime,
    'kms-arn': key.kmsArn,
    'hierarchy-version': HIERARCHY_VERSION,
    enc: undefined,
  }
  for (const [name, value] of Object.entries(expected)) {
    if (key.encryptionContext[name] !== value)
      throw keyStoreFailure('EncryptedKeyMismatch', { attribute: name })
  }
}

/** @internal The item of a key; throws if the item could not be read back. */
export function toItem(key: EncryptedHierarchicalKey, logicalKeyStoreName: string): BranchKeyItem {
  requireAgreement(key, logicalKeyStoreName)
  const { [LOGICAL_NAME]: _notStored, ...stored } = key.encryptionContext
  return {
    ...stored,
    'branch-key-id': key.branchKeyId,
    type: sortKeyOf(key.type),
    'create-time': key.createTime,
    'kms-arn': key.kmsArn,
    'hierarchy-version': Number(HIERARCHY_VERSION),
    enc: key.ciphertextBlob,
  }
}

// KS-2, KS-93, KS-94, KS-95, KS-96, KS-97, KS-98, KS-99, KS-100
/** @internal */
export function fromItem(
  item: BranchKeyItem,
  logicalKeyStoreName: string,
): EncryptedHierarchicalKey {
  const { enc, ...attributes } = item
  const context = Object.entries(attributes).map(([name, value]) => [name, String(value)])
  return {
    branchKeyId: item['branch-key-id'],
    type: typeOf(item),
    createTime: item['create-time'],
    kmsArn: item['kms-arn'],
    encryptionContext: {
      ...(Object.fromEntries(context) as Record<string, string>),
      [LOGICAL_NAME]: logicalKeyStoreName,
    },
    ciphertextBlob: enc,
  }
}

export function sortKeyOf(type: HierarchicalKeyType): string {
  if (type.kind === 'ActiveHierarchicalSymmetricVersion') return ACTIVE_TYPE
  if (type.kind === 'ActiveHierarchicalSymmetricBeacon') return BEACON_TYPE
  return VERSION_PREFIX + type.version
}

function versionAttributeOf(type: HierarchicalKeyType): string | undefined {
  const isActive = type.kind === 'ActiveHierarchicalSymmetricVersion'
  return isActive ? VERSION_PREFIX + type.version : undefined
}

function typeOf({ type, version = '' }: BranchKeyItem): HierarchicalKeyType {
  if (type === BEACON_TYPE) return { kind: 'ActiveHierarchicalSymmetricBeacon' }
  if (type === ACTIVE_TYPE) {
    const active = version.slice(VERSION_PREFIX.length)
    return { kind: 'ActiveHierarchicalSymmetricVersion', version: active }
  }
  return { kind: 'HierarchicalSymmetricVersion', version: type.slice(VERSION_PREFIX.length) }
}
