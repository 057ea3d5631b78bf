/**
 * The three KMS calls of a key store. Every call has the grant tokens, and every response must come from
 * the requested key.
 */
import type { EncryptionContext, Kms } from '@strongroom/kit/kms'
import { isNamed } from '@strongroom/kit/db-errors'
import { type KeyStoreError, type KeyStoreFailure, keyStoreFailure } from '../errors.ts'

export interface KeyManagement {
  /** Generates a wrapped key; its plaintext is never returned. */
  generate(arn: string, context: EncryptionContext): Promise<Uint8Array>
  /** Rewraps a key for another context; fails if it was not wrapped for the first one. */
  reEncrypt(
    arn: string,
    wrapped: Uint8Array,
    from: EncryptionContext,
    to: EncryptionContext,
  ): Promise<Uint8Array>
  /** The plaintext key in its own buffer. */
  decrypt(arn: string, wrapped: Uint8Array, context: EncryptionContext): Promise<Uint8Array>
}

const KEY_BYTES = 32
const MAX_GRANT_TOKENS = 10
const MAX_GRANT_TOKEN_LENGTH = 8192

export function keyManagement(kms: Kms, grantTokens: readonly string[]): KeyManagement {
  const granted = grantTokens.length > 0 ? { GrantTokens: grantTokens } : {}

  return {
    // KS-70, KS-71, KS-74, KS-75
    async generate(arn, EncryptionContext) {
      const response = await callKms(() =>
        kms.generateDataKeyWithoutPlaintext({
          KeyId: arn,
          NumberOfBytes: KEY_BYTES,
          EncryptionContext,
          ...granted,
        }),
      )
      requireExpected(response.KeyId === arn && isFilled(response.CiphertextBlob))
      return response.CiphertextBlob
    },

    // KS-72, KS-73, KS-84
    async reEncrypt(arn, wrapped, from, to) {
      const response = await callKms(() =>
        kms.reEncrypt({
          SourceKeyId: arn,
          SourceEncryptionContext: from,
          CiphertextBlob: wrapped,
          DestinationKeyId: arn,
          DestinationEncryptionContext: to,
          ...granted,
        }),
      )
      const sameKey = response.SourceKeyId === arn && response.KeyId === arn
      requireExpected(sameKey && isFilled(response.CiphertextBlob))
      return response.CiphertextBlob
    },

    // KS-106, KS-107, KS-111, KS-112
    async decrypt(arn, wrapped, EncryptionContext) {
      const { KeyId, Plaintext } = await callKms(() =>
        kms.decrypt({ KeyId: arn, CiphertextBlob: wrapped, EncryptionContext, ...granted }),
      )
      requireExpected(KeyId === arn && isFilled(Plaintext) && Plaintext.length === KEY_BYTES)
      // Small buffers may share memory with others, so the caller gets a copy.
      const key = Uint8Array.from(Plaintext)
      Plaintext.fill(0)
      return key
    },
  }
}

/** A frozen copy. */
export function validateGrantTokens(given: readonly string[]): readonly string[] {
  const isToken = (token: unknown) =>
    typeof token === 'string' && token.length >= 1 && token.length <= MAX_GRANT_TOKEN_LENGTH
  if (!Array.isArray(given) || given.length > MAX_GRANT_TOKENS || !given.every(isToken))
    throw keyStoreFailure('InvalidGrantTokens')
  return Object.freeze([...given])
}

async function callKms<Output>(call: () => Promise<Output>): Promise<Output> {
  try {
    return await call()
  } catch (error) {
    throw kmsFailure(error)
  }
}

function requireExpected(isExpected: boolean) {
  if (!isExpected) throw keyStoreFailure('UnexpectedKmsAnswer')
}

function isFilled(bytes: unknown): boolean {
  return bytes instanceof Uint8Array && bytes.length > 0
}

/** The names of KMS errors by the failure that they become. */
const FAILURES_BY_KMS_ERROR = [
  ['BranchKeyCiphertextInvalid', ['InvalidCiphertextException', 'IncorrectKeyException']],
  [
    'KmsAccessDenied',
    [
      'AccessDeniedException',
      'InvalidGrantTokenException',
      'UnrecognizedClientException',
      'MissingAuthenticationTokenException',
      'IncompleteSignatureException',
      'InvalidSignatureException',
      'InvalidClientTokenId',
      'ExpiredTokenException',
      'CredentialsProviderError',
    ],
  ],
  [
    'KmsKeyUnusable',
    [
      'DisabledException',
      'KMSInvalidStateException',
      'NotFoundException',
      'InvalidKeyUsageException',
      'InvalidArnException',
    ],
  ],
  [
    'KmsUnavailable',
    [
      'KMSInternalException',
      'DependencyTimeoutException',
      'KeyUnavailableException',
      'LimitExceededException',
      'ThrottlingException',
      'TimeoutError',
      'RequestTimeoutException',
      'TooManyRequestsException',
      'ServiceUnavailable',
      'ServiceUnavailableException',
      'InternalServerError',
      'InternalFailure',
    ],
  ],
] as const satisfies readonly (readonly [KeyStoreFailure, readonly string[]])[]

/** Node's codes for a connection that could not be opened, or that broke. */
const UNREACHABLE = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]

/** Converts an error of the KMS, which becomes the `cause`. */
function kmsFailure(error: unknown): KeyStoreError {
  const [name = isUnreachable(error) ? 'KmsUnavailable' : 'KmsFailed'] =
    FAILURES_BY_KMS_ERROR.find(([, names]) => isNamed(error, ...names)) ?? []
  return keyStoreFailure(name, { cause: error })
}

function isUnreachable(error: unknown): boolean {
  return UNREACHABLE.includes(String((error as { code?: unknown } | undefined)?.code))
}
