/** What the errors of a KMS mean to callers of a key store. */
import { isNamed } from '@strongroom/kit/db-errors'
import { type KeyStoreError, type KeyStoreFailure, keyStoreFailure } from '../errors.ts'

const MEANINGS = [
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

/** Codes of Node for a connection that could not be opened, or broke. */
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

/** Translates what a KMS threw; the original error is the `cause`. */
export function kmsFailure(error: unknown): KeyStoreError {
  const [name = isUnreachable(error) ? 'KmsUnavailable' : 'KmsFailed'] =
    MEANINGS.find(([, names]) => isNamed(error, ...names)) ?? []
  return keyStoreFailure(name, { cause: error })
}

function isUnreachable(error: unknown): boolean {
  return UNREACHABLE.includes(String((error as { code?: unknown } | undefined)?.code))
}
