/** Which KMS keys a key store uses (branch key store 0.7.0, "AWS KMS Configuration"). */
import { type KeyStoreError, keyStoreFailure } from '../errors.ts'

export type KmsConfiguration =
  /** Uses only this key. */
  | { kind: 'kmsKeyArn'; arn: string }
  /** Uses this multi-Region key or a replica of it. */
  | { kind: 'kmsMRKeyArn'; arn: string }
  /** Uses the key that an item names. Cannot create keys. */
  | { kind: 'discovery' }
  /** Uses the key that an item names, or its replica in this region if it is a multi-Region key. */
  | { kind: 'mrDiscovery'; region: string }

/** Returns a frozen copy. Callers in JavaScript may pass anything. */
// KS-47, KS-48, KS-49, KS-50
export function validateConfiguration(given: KmsConfiguration | undefined): KmsConfiguration {
  switch (given?.kind) {
    case 'kmsKeyArn':
    case 'kmsMRKeyArn':
      return Object.freeze({ kind: given.kind, arn: validateArn(given.arn) })
    case 'mrDiscovery':
      return Object.freeze({ kind: given.kind, region: validateRegion(given.region) })
    case 'discovery':
      return Object.freeze({ kind: given.kind })
    default:
      throw invalidKmsConfiguration('kind')
  }
}

/** The key that wraps new branch keys. Discovery has none. */
export function keyForWriting(configuration: KmsConfiguration): string {
  if ('arn' in configuration) return configuration.arn
  throw keyStoreFailure('DiscoveryCannotWrite')
}

/** The KMS key for an item with this `kms-arn`; throws if the configuration does not allow it. */
// KS-51, KS-52, KS-53, KS-108, KS-109, KS-110
export function keyForReading(configuration: KmsConfiguration, stored: string): string {
  if (configuration.kind === 'kmsKeyArn') {
    if (stored !== configuration.arn) throw keyStoreFailure('KmsKeyMismatch')
    return configuration.arn
  }
  if (configuration.kind === 'kmsMRKeyArn') {
    if (stored !== configuration.arn && !replicates(stored, configuration.arn))
      throw keyStoreFailure('KmsKeyMismatch')
    return configuration.arn
  }
  const found = parseKeyArn(stored)
  if (!found) throw keyStoreFailure('CorruptKmsArn')
  if (configuration.kind === 'discovery' || !isMultiRegion(found)) return stored
  return keyArn({ ...found, region: configuration.region })
}

function replicates(stored: string, configured: string): boolean {
  const [one, other] = [parseKeyArn(stored), parseKeyArn(configured)]
  return one !== undefined && other !== undefined && areReplicas(one, other)
}

function validateArn(arn: unknown): string {
  if (typeof arn !== 'string') throw invalidKmsConfiguration('arn')
  if (isAliasArn(arn)) throw keyStoreFailure('KmsAliasNotAllowed')
  if (!parseKeyArn(arn)) throw invalidKmsConfiguration('arn')
  return arn
}

function validateRegion(region: unknown): string {
  if (typeof region === 'string' && /^[^:\s]+$/.test(region)) return region
  throw invalidKmsConfiguration('region')
}

const REMEDIES = {
  kind: 'Choose kmsKeyArn, kmsMRKeyArn, discovery or mrDiscovery.',
  arn: 'Use the ARN of a KMS key, arn:aws:kms:{region}:{account}:key/{id}.',
  region: 'Pass the region in which multi-Region keys are to be used.',
}

function invalidKmsConfiguration(what: keyof typeof REMEDIES): KeyStoreError {
  const message = `The ${what} of the KMS configuration is invalid. ${REMEDIES[what]}`
  return keyStoreFailure('InvalidKmsConfiguration', { message })
}

// ARNs identify the keys, because an alias may be moved to another key.

interface KeyArn {
  partition: string
  region: string
  account: string
  keyId: string
}

const KEY_ARN = /^arn:([^:\s]+):kms:([^:\s]+):([^:\s]+):key\/([^:\s]+)$/
const ALIAS_ARN = /^arn:[^:]*:kms:[^:]*:[^:]*:alias\//
const MAX_ARN_LENGTH = 2048

/** The parts of a key ARN; undefined for anything else, such as a bare key id. */
function parseKeyArn(text: string): KeyArn | undefined {
  const [, partition, region, account, keyId] = KEY_ARN.exec(text) ?? []
  if (!partition || !region || !account || !keyId || text.length > MAX_ARN_LENGTH) return undefined
  return { partition, region, account, keyId }
}

function isAliasArn(text: string): boolean {
  return ALIAS_ARN.test(text)
}

/** Whether both are the same multi-Region key, possibly in different regions. */
function areReplicas(one: KeyArn, other: KeyArn): boolean {
  return isMultiRegion(one) && keyArn({ ...one, region: other.region }) === keyArn(other)
}

function isMultiRegion({ keyId }: KeyArn): boolean {
  return keyId.startsWith('mrk-')
}

function keyArn({ partition, region, account, keyId }: KeyArn): string {
  return `arn:${partition}:kms:${region}:${account}:key/${keyId}`
}
