/** Which KMS keys a key store uses (branch key store 0.7.0, "AWS KMS Configuration"). */
import {
  CorruptKmsArn,
  DiscoveryCannotWrite,
  InvalidKmsConfiguration,
  KmsAliasNotAllowed,
  KmsKeyMismatch,
} from './key-store-errors.ts'
import { areReplicas, isAliasArn, isMultiRegion, keyArn, parseKeyArn } from './kms-arn.ts'

export type KmsConfiguration =
  /** This key and no other. */
  | { kind: 'kmsKeyArn'; arn: string }
  /** This multi-Region key, or a replica of it. */
  | { kind: 'kmsMRKeyArn'; arn: string }
  /** Whichever key an item names. Cannot make keys. */
  | { kind: 'discovery' }
  /** Whichever key an item names; of a multi-Region key the replica in this region. */
  | { kind: 'mrDiscovery'; region: string }

/** A copy that nobody can change any more. The types say what is given; programs may not. */
// KS-47, KS-48, KS-49, KS-50
export function checkedConfiguration(given: KmsConfiguration | undefined): KmsConfiguration {
  switch (given?.kind) {
    case 'kmsKeyArn':
    case 'kmsMRKeyArn':
      return Object.freeze({ kind: given.kind, arn: checkedArn(given.arn) })
    case 'mrDiscovery':
      return Object.freeze({ kind: given.kind, region: checkedRegion(given.region) })
    case 'discovery':
      return Object.freeze({ kind: given.kind })
    default:
      throw new InvalidKmsConfiguration('its kind')
  }
}

/** The key under which keys are made. Discovery names none. */
export function keyForWriting(configuration: KmsConfiguration): string {
  if ('arn' in configuration) return configuration.arn
  throw new DiscoveryCannotWrite()
}

/** The key that opens what is stored with this `kms-arn`, if this key store may open it. */
// KS-51, KS-52, KS-53, KS-108, KS-109, KS-110
export function keyForReading(configuration: KmsConfiguration, stored: string): string {
  if (configuration.kind === 'kmsKeyArn') {
    if (stored !== configuration.arn) throw new KmsKeyMismatch()
    return configuration.arn
  }
  if (configuration.kind === 'kmsMRKeyArn') {
    if (stored !== configuration.arn && !replicates(stored, configuration.arn))
      throw new KmsKeyMismatch()
    return configuration.arn
  }
  const found = parseKeyArn(stored)
  if (!found) throw new CorruptKmsArn()
  if (configuration.kind === 'discovery' || !isMultiRegion(found)) return stored
  return keyArn({ ...found, region: configuration.region })
}

function replicates(stored: string, configured: string): boolean {
  const [one, other] = [parseKeyArn(stored), parseKeyArn(configured)]
  return one !== undefined && other !== undefined && areReplicas(one, other)
}

function checkedArn(arn: unknown): string {
  if (typeof arn !== 'string') throw new InvalidKmsConfiguration('its arn')
  if (isAliasArn(arn)) throw new KmsAliasNotAllowed()
  if (!parseKeyArn(arn)) throw new InvalidKmsConfiguration('its arn')
  return arn
}

function checkedRegion(region: unknown): string {
  if (typeof region === 'string' && /^[^:\s]+$/.test(region)) return region
  throw new InvalidKmsConfiguration('its region')
}
