/** Which KMS keys a key store uses (branch key store 0.7.0, "AWS KMS Configuration"). */
import { areReplicas, isAliasArn, isMultiRegion, keyArn, parseKeyArn } from './kms-arn.ts'
import { type KeyStoreError, keyStoreFailure } from '../errors.ts'

export type KmsConfiguration =
  /** This key and no other. */
  | { kind: 'kmsKeyArn'; arn: string }
  /** This multi-Region key, or a replica of it. */
  | { kind: 'kmsMRKeyArn'; arn: string }
  /** Uses the key that an item names. Cannot create keys. */
  | { kind: 'discovery' }
  /** Whichever key an item names; of a multi-Region key the replica in this region. */
  | { kind: 'mrDiscovery'; region: string }

/** A frozen copy. Callers in JavaScript are not checked by the types. */
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

/** The key under which keys are made. Discovery names none. */
export function keyForWriting(configuration: KmsConfiguration): string {
  if ('arn' in configuration) return configuration.arn
  throw keyStoreFailure('DiscoveryCannotWrite')
}

/** The key that opens what is stored with this `kms-arn`, if this key store may open it. */
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
