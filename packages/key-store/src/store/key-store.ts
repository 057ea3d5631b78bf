/**
 * The branch key store (branch key store 0.7.0): creates, rotates and reads branch keys.
 *
 * Only the three reads handle plaintext keys. Requests and items are validated before KMS is called,
 * where possible.
 */
import { randomUUID } from 'node:crypto'
import { type Clock, systemClock } from '@strongroom/platform/clock'
import type { Kms } from '@strongroom/kit/kms'
import {
  type EncryptedHierarchicalKey,
  type HierarchicalKeyType,
  requireAgreement,
  sortKeyOf,
} from './encrypted-key.ts'
import {
  activeOf,
  beaconOf,
  customContext,
  firstVersion,
  type KeyToWrap,
  type NewVersion,
  nextVersion,
} from './encryption-context.ts'
import { ACTIVE_TYPE, BEACON_TYPE, VERSION_PREFIX } from './item.ts'
import { validateGrantTokens, keyManagement } from './key-management.ts'
import { requireIdentifier, requireNewKey, requireVersion } from './input.ts'
import {
  validateConfiguration,
  keyForReading,
  keyForWriting,
  type KmsConfiguration,
} from './kms-configuration.ts'
import type { KeyStorage } from './storage.ts'
import { keyStoreFailure } from '../errors.ts'

/** A branch key in the clear. */
export interface BranchKeyMaterials {
  branchKeyIdentifier: string
  /** A UUID, without the prefix `branch:version:`. */
  branchKeyVersion: string
  /** 32 bytes, the caller's own copy: wipe it when done. */
  branchKey: Uint8Array
  /** The custom pairs, without the prefix `aws-crypto-ec:`. */
  encryptionContext: Record<string, string>
}

/** A beacon key in the clear. */
export interface BeaconKeyMaterials {
  beaconKeyIdentifier: string
  /** 32 bytes, the caller's own copy: wipe it when done. */
  beaconKey: Uint8Array
  encryptionContext: Record<string, string>
}

/** The part of a key store that encryption and decryption need. */
export interface BranchKeySource {
  getActiveBranchKey(input: { branchKeyIdentifier: string }): Promise<BranchKeyMaterials>
  getBranchKeyVersion(input: {
    branchKeyIdentifier: string
    branchKeyVersion: string
  }): Promise<BranchKeyMaterials>
}

export interface KeyStore extends BranchKeySource {
  /** Creates a branch key with its beacon key. A custom id requires encryption context. */
  createKey(input?: {
    branchKeyIdentifier?: string
    encryptionContext?: Record<string, string>
  }): Promise<{ branchKeyIdentifier: string }>
  /** Activates a new version. Old versions stay readable. */
  versionKey(input: {
    branchKeyIdentifier: string
    /** Only if this version is active, so that a repeated call does not rotate twice. */
    activeVersion?: string
  }): Promise<{ branchKeyVersion: string }>
  getBeaconKey(input: { branchKeyIdentifier: string }): Promise<BeaconKeyMaterials>
  getKeyStoreInfo(): KeyStoreInfo
}

export interface KeyStoreInfo {
  keyStoreId: string
  /** The name of the table. */
  keyStoreName: string
  logicalKeyStoreName: string
  grantTokens: readonly string[]
  kmsConfiguration: KmsConfiguration
}

export interface KeyStoreOptions {
  storage: KeyStorage
  kms: Kms
  kmsConfiguration: KmsConfiguration
  /** Sent with every call to KMS. */
  grantTokens?: readonly string[]
  id?: string
  clock?: Clock
}

// KS-44, KS-45, KS-46, KS-56
export function openKeyStore(options: KeyStoreOptions): KeyStore {
  const { storage, kms, id = randomUUID(), clock = systemClock } = required(options)
  const configuration = validateConfiguration(options.kmsConfiguration)
  const grantTokens = validateGrantTokens(options.grantTokens ?? [])
  const management = keyManagement(kms, grantTokens)
  const { name: tableName, logicalName } = storage.getKeyStorageInfo()

  /** Storage may be a custom implementation, so its results are compared with the request. */
  // KS-88, KS-89
  function requireRequestedKey(key: EncryptedHierarchicalKey, branchKeyId: string, type: string) {
    if (key.branchKeyId !== branchKeyId || sortKeyOf(key.type) !== type)
      throw keyStoreFailure('UnexpectedItem', {
        table: tableName,
        key: { 'branch-key-id': branchKeyId, type },
      })
    if ('version' in key.type) requireVersion(key.type.version)
    requireAgreement(key, logicalName)
  }

  function decrypt(key: EncryptedHierarchicalKey): Promise<Uint8Array> {
    const arn = keyForReading(configuration, key.kmsArn)
    return management.decrypt(arn, key.ciphertextBlob, key.encryptionContext)
  }

  async function generate<Type extends HierarchicalKeyType>(arn: string, key: KeyToWrap<Type>) {
    return { ...key, ciphertextBlob: await management.generate(arn, key.encryptionContext) }
  }

  /** The same key wrapped for another context. */
  async function reEncrypt<Type extends HierarchicalKeyType>(
    arn: string,
    { ciphertextBlob, encryptionContext }: EncryptedHierarchicalKey,
    to: KeyToWrap<Type>,
  ) {
    const { encryptionContext: context } = to
    const wrapped = await management.reEncrypt(arn, ciphertextBlob, encryptionContext, context)
    return { ...to, ciphertextBlob: wrapped }
  }

  // KS-68, KS-69
  const newVersion = (): NewVersion => ({
    version: randomUUID(),
    // The format has microseconds; the clock has milliseconds.
    createTime: new Date(clock.now()).toISOString().replace('Z', '000Z'),
  })

  return {
    // KS-64, KS-65, KS-66, KS-67, KS-76, KS-77, KS-78
    async createKey({ branchKeyIdentifier, encryptionContext = {} } = {}) {
      const arn = keyForWriting(configuration)
      requireNewKey(branchKeyIdentifier, encryptionContext)
      const branchKeyId = branchKeyIdentifier ?? randomUUID()
      const first = firstVersion(branchKeyId, newVersion(), arn, logicalName, encryptionContext)
      const version = await generate(arn, first)
      const active = await reEncrypt(arn, version, activeOf(first))
      const beacon = await generate(arn, beaconOf(first))
      await storage.writeNewEncryptedBranchKey({ version, active, beacon }, oneWrite())
      return { branchKeyIdentifier: branchKeyId }
    },

    // KS-79, KS-80, KS-81, KS-82, KS-83, KS-84, KS-85, KS-86, KS-87
    async versionKey({ branchKeyIdentifier, activeVersion }) {
      keyForWriting(configuration)
      requireIdentifier(branchKeyIdentifier)
      const old = await storage.getEncryptedActiveBranchKey(branchKeyIdentifier)
      requireRequestedKey(old, branchKeyIdentifier, ACTIVE_TYPE)
      // The write requires the item that is compared here.
      if (activeVersion !== undefined && activeVersion !== old.type.version)
        throw keyStoreFailure('VersionRace')
      const arn = keyForReading(configuration, old.kmsArn)
      // Re-encrypts the key under its own context, so that KMS authenticates it before it is used.
      await reEncrypt(arn, old, old)
      const next = nextVersion(old, newVersion())
      const version = await generate(arn, next)
      const item = await reEncrypt(arn, version, activeOf(next))
      const active = { item, old }
      await storage.writeNewEncryptedBranchKeyVersion({ version, active }, oneWrite())
      return { branchKeyVersion: version.type.version }
    },

    // KS-90, KS-112, KS-113, KS-114, KS-115
    async getActiveBranchKey({ branchKeyIdentifier }) {
      requireIdentifier(branchKeyIdentifier)
      const key = await storage.getEncryptedActiveBranchKey(branchKeyIdentifier)
      requireRequestedKey(key, branchKeyIdentifier, ACTIVE_TYPE)
      return {
        branchKeyIdentifier,
        branchKeyVersion: key.type.version,
        branchKey: await decrypt(key),
        encryptionContext: customContext(key.encryptionContext),
      }
    },

    // KS-91, KS-112, KS-113, KS-114, KS-115
    async getBranchKeyVersion({ branchKeyIdentifier, branchKeyVersion }) {
      requireIdentifier(branchKeyIdentifier)
      requireVersion(branchKeyVersion)
      const key = await storage.getEncryptedBranchKeyVersion(branchKeyIdentifier, branchKeyVersion)
      requireRequestedKey(key, branchKeyIdentifier, VERSION_PREFIX + branchKeyVersion)
      return {
        branchKeyIdentifier,
        branchKeyVersion,
        branchKey: await decrypt(key),
        encryptionContext: customContext(key.encryptionContext),
      }
    },

    // KS-92
    async getBeaconKey({ branchKeyIdentifier }) {
      requireIdentifier(branchKeyIdentifier)
      const key = await storage.getEncryptedBeaconKey(branchKeyIdentifier)
      requireRequestedKey(key, branchKeyIdentifier, BEACON_TYPE)
      return {
        beaconKeyIdentifier: branchKeyIdentifier,
        beaconKey: await decrypt(key),
        encryptionContext: customContext(key.encryptionContext),
      }
    },

    // KS-57
    getKeyStoreInfo: () => ({
      keyStoreId: id,
      keyStoreName: tableName,
      logicalKeyStoreName: logicalName,
      grantTokens,
      kmsConfiguration: configuration,
    }),
  }
}

/** One token for all attempts of a write, so that a retry after a lost response is not applied twice. */
const oneWrite = () => ({ token: randomUUID() })

/** Callers in JavaScript may omit what the types require. */
function required(options: KeyStoreOptions): KeyStoreOptions {
  const { storage, kms }: Partial<KeyStoreOptions> = options
  if (!storage) throw new TypeError('Cannot open a key store: pass the storage')
  if (!kms) throw new TypeError('Cannot open a key store: pass the kms')
  return options
}
