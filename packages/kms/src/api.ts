/** The supported inputs and outputs of AWS KMS, with plain bytes and dates. */
import type { EncryptionContext } from './blob.ts'
import type { KeyState } from './key-storage.ts'

/** This KMS has no grants: the form of tokens is checked, but they have no effect. */
interface WithGrantTokens {
  GrantTokens?: readonly string[] | undefined
}

interface WithContext extends WithGrantTokens {
  EncryptionContext?: EncryptionContext | undefined
}

export interface KeyInput {
  KeyId: string
}

export interface CreateKeyInput {
  Description?: string | undefined
  /** A key with the same id and material in every region. */
  MultiRegion?: boolean | undefined
}

export interface DescribeKeyInput extends KeyInput, WithGrantTokens {}

export interface ListKeysInput {
  Limit?: number | undefined
  Marker?: string | undefined
}

export interface GenerateDataKeyInput extends KeyInput, WithContext {
  /** Either this or KeySpec. */
  NumberOfBytes?: number | undefined
  KeySpec?: 'AES_128' | 'AES_256' | undefined
}

export interface EncryptInput extends KeyInput, WithContext {
  Plaintext: Uint8Array
}

export interface DecryptInput extends WithContext {
  CiphertextBlob: Uint8Array
  /** The key that must have encrypted the blob; if undefined, the blob determines the key. */
  KeyId?: string | undefined
}

export interface ReEncryptInput extends WithGrantTokens {
  CiphertextBlob: Uint8Array
  SourceKeyId?: string | undefined
  SourceEncryptionContext?: EncryptionContext | undefined
  DestinationKeyId: string
  DestinationEncryptionContext?: EncryptionContext | undefined
}

export interface ScheduleKeyDeletionInput extends KeyInput {
  /** 7 to 30; default 30. */
  PendingWindowInDays?: number | undefined
}

export interface KeyMetadata {
  AWSAccountId: string
  KeyId: string
  Arn: string
  CreationDate: Date
  Enabled: boolean
  Description: string
  KeyUsage: 'ENCRYPT_DECRYPT'
  KeyState: KeyState
  DeletionDate?: Date
  Origin: 'AWS_KMS'
  KeyManager: 'CUSTOMER'
  KeySpec: 'SYMMETRIC_DEFAULT'
  CustomerMasterKeySpec: 'SYMMETRIC_DEFAULT'
  EncryptionAlgorithms: ['SYMMETRIC_DEFAULT']
  MultiRegion: boolean
}

export interface KeyOutput {
  KeyMetadata: KeyMetadata
}

export interface ListKeysOutput {
  Keys: { KeyId: string; KeyArn: string }[]
  Truncated: boolean
  NextMarker?: string
}

/** In every response `KeyId` is the ARN. */
export interface BlobOutput {
  KeyId: string
  CiphertextBlob: Uint8Array
}

export interface GenerateDataKeyOutput extends BlobOutput {
  Plaintext: Uint8Array
}

export interface EncryptOutput extends BlobOutput {
  EncryptionAlgorithm: 'SYMMETRIC_DEFAULT'
}

export interface DecryptOutput {
  KeyId: string
  Plaintext: Uint8Array
  EncryptionAlgorithm: 'SYMMETRIC_DEFAULT'
}

export interface ReEncryptOutput extends BlobOutput {
  SourceKeyId: string
  SourceEncryptionAlgorithm: 'SYMMETRIC_DEFAULT'
  DestinationEncryptionAlgorithm: 'SYMMETRIC_DEFAULT'
}

export interface ScheduleKeyDeletionOutput {
  KeyId: string
  DeletionDate: Date
  KeyState: 'PendingDeletion'
  PendingWindowInDays: number
}
