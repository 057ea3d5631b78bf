/** A key as CreateKey and DescribeKey show it. */
import type { KeyMetadata } from '../api.ts'
import { isMultiRegion, type Location } from '../arn.ts'
import type { FoundKey } from '../keys.ts'

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
