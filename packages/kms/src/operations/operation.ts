/** The parts of an operation: its name on the wire, and a function from request to response. */
import type { Clock } from '@strongroom/platform/clock'
import type { KeyMetadata } from '../api.ts'
import { type Location, isMultiRegion } from '../arn.ts'
import type { Unchecked } from '../checks.ts'
import type { EncryptionContext } from '../blob.ts'
import type { KeyStorage } from '../key-storage.ts'
import type { Keys, FoundKey } from '../keys.ts'
import type { Wrapping } from '../master-key/key.ts'

export interface KmsContext {
  readonly storage: KeyStorage
  readonly keys: Keys
  readonly wrapping: Wrapping
  readonly location: Location
  readonly clock: Clock
}

/** The fields of the audit record of a call; an operation sets each as soon as it knows it. */
export interface AuditFields {
  /** The ARN of the key, or the KeyId of the request if no key was found. */
  key?: string
  context?: EncryptionContext
  /** The key that a blob is re-encrypted from. */
  sourceKey?: string
  sourceContext?: EncryptionContext
}

export interface Operation<Input, Output> {
  readonly name: string
  run(services: KmsContext, input: Unchecked<Input>, trail: AuditFields): Promise<Output>
}

// The KeyMetadata of CreateKey and DescribeKey.

export function metadataOf({ arn, record }: FoundKey, { account }: Location): KeyMetadata {
  const { id, description, createdAt, state, deletionAt } = record
  return {
    AWSAccountId: account,
    KeyId: id,
    Arn: arn,
    CreationDate: new Date(createdAt),
    Enabled: state === 'Enabled',
    Description: description,
    KeyUsage: 'ENCRYPT_DECRYPT',
    KeyState: state,
    ...(deletionAt !== undefined && { DeletionDate: new Date(deletionAt) }),
    Origin: 'AWS_KMS',
    KeyManager: 'CUSTOMER',
    KeySpec: 'SYMMETRIC_DEFAULT',
    CustomerMasterKeySpec: 'SYMMETRIC_DEFAULT',
    EncryptionAlgorithms: ['SYMMETRIC_DEFAULT'],
    MultiRegion: isMultiRegion(id),
  }
}
