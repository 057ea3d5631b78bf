/**
 * The interface to a KMS: AWS KMS's own operations and shapes, with plain bytes.
 *
 * Two implementations: the embedded KMS in process, and `aws-kms.ts` over the AWS SDK. Errors
 * have AWS's names (`error.name`): `InvalidCiphertextException`, `IncorrectKeyException`, …
 * Only what the product uses is declared here.
 */
export interface Kms {
  generateDataKeyWithoutPlaintext(
    input: GenerateDataKeyInput,
  ): Promise<{ KeyId: string; CiphertextBlob: Uint8Array }>
  encrypt(input: EncryptInput): Promise<{ KeyId: string; CiphertextBlob: Uint8Array }>
  decrypt(input: DecryptInput): Promise<{ KeyId: string; Plaintext: Uint8Array }>
  reEncrypt(
    input: ReEncryptInput,
  ): Promise<{ SourceKeyId: string; KeyId: string; CiphertextBlob: Uint8Array }>
  describeKey(input: {
    KeyId: string
  }): Promise<{ KeyMetadata: { Arn: string; KeyState: string; Enabled: boolean } }>
}

/** A KMS and the key that this deployment encrypts with. */
export interface KmsKey {
  kms: Kms
  /** The ARN of the key, never of an alias. */
  arn: string
}

/** Authenticated, but not secret: it appears in logs and audit records. */
export type EncryptionContext = Readonly<Record<string, string>>

interface WithContext {
  EncryptionContext?: EncryptionContext
  GrantTokens?: readonly string[]
}

export interface GenerateDataKeyInput extends WithContext {
  KeyId: string
  NumberOfBytes: number
}

export interface EncryptInput extends WithContext {
  KeyId: string
  Plaintext: Uint8Array
}

export interface DecryptInput extends WithContext {
  KeyId: string
  CiphertextBlob: Uint8Array
}

export interface ReEncryptInput {
  CiphertextBlob: Uint8Array
  SourceKeyId: string
  SourceEncryptionContext?: EncryptionContext
  DestinationKeyId: string
  DestinationEncryptionContext?: EncryptionContext
  GrantTokens?: readonly string[]
}
