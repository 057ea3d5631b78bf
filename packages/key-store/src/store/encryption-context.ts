/**
 * The encryption context of each key of a branch key (branch key store 0.7.0, "Encryption Context"). They
 * are derived from each other, so the custom context is the same in all of them.
 */
import {
  type ActiveBeacon,
  type ActiveVersion,
  type DecryptOnlyVersion,
  type EncryptedHierarchicalKey,
  HIERARCHY_VERSION,
  type HierarchicalKeyType,
  LOGICAL_NAME,
} from './encrypted-key.ts'
import { ACTIVE_TYPE, BEACON_TYPE, CONTEXT_PREFIX, VERSION_PREFIX } from './item.ts'

/** A key that is not wrapped yet. */
export type KeyToWrap<Type extends HierarchicalKeyType> = Omit<
  EncryptedHierarchicalKey<Type>,
  'ciphertextBlob'
>

export interface NewVersion {
  version: string
  createTime: string
}

/** The first version of a branch key. */
// KS-54, KS-102, KS-104
export function firstVersion(
  branchKeyId: string,
  { version, createTime }: NewVersion,
  kmsArn: string,
  logicalKeyStoreName: string,
  custom: Readonly<Record<string, string>>,
): KeyToWrap<DecryptOnlyVersion> {
  return {
    branchKeyId,
    type: { kind: 'HierarchicalSymmetricVersion', version },
    createTime,
    kmsArn,
    encryptionContext: {
      'branch-key-id': branchKeyId,
      type: VERSION_PREFIX + version,
      'create-time': createTime,
      [LOGICAL_NAME]: logicalKeyStoreName,
      'kms-arn': kmsArn,
      'hierarchy-version': HIERARCHY_VERSION,
      ...withPrefix(custom),
    },
  }
}

/** The version after the active one. Other attributes are kept, even those of other programs. */
// KS-83, KS-102, KS-105
export function nextVersion(
  active: EncryptedHierarchicalKey<ActiveVersion>,
  { version, createTime }: NewVersion,
): KeyToWrap<DecryptOnlyVersion> {
  const { version: _replaced, ...kept } = active.encryptionContext
  return {
    branchKeyId: active.branchKeyId,
    type: { kind: 'HierarchicalSymmetricVersion', version },
    createTime,
    kmsArn: active.kmsArn,
    encryptionContext: { ...kept, type: VERSION_PREFIX + version, 'create-time': createTime },
  }
}

/** The version as the active one. */
// KS-101
export function activeOf(version: KeyToWrap<DecryptOnlyVersion>): KeyToWrap<ActiveVersion> {
  return {
    ...version,
    type: { kind: 'ActiveHierarchicalSymmetricVersion', version: version.type.version },
    encryptionContext: {
      ...version.encryptionContext,
      version: VERSION_PREFIX + version.type.version,
      type: ACTIVE_TYPE,
    },
  }
}

/** The beacon key that is created with the first version. */
// KS-103
export function beaconOf(version: KeyToWrap<DecryptOnlyVersion>): KeyToWrap<ActiveBeacon> {
  return {
    ...version,
    type: { kind: 'ActiveHierarchicalSymmetricBeacon' },
    encryptionContext: { ...version.encryptionContext, type: BEACON_TYPE },
  }
}

// Both use entries, because assignment would lose a pair named `__proto__`.

function withPrefix(custom: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(custom).map(([name, value]) => [CONTEXT_PREFIX + name, value]),
  )
}

/** The custom pairs of a key's context, without their prefix. */
export function customContext(context: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(context)
      .filter(([name]) => name.startsWith(CONTEXT_PREFIX))
      .map(([name, value]) => [name.slice(CONTEXT_PREFIX.length), value]),
  )
}
