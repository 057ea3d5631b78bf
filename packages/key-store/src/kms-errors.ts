/**
 * What went wrong at KMS. Each has what KMS said as its `cause`, and is known by its `name`;
 * messages say what to do, and name no ids and no values.
 */
import { isNamed } from '@strongroom/kit/db-errors'

/** KMS does not open what is stored: it is not what was once wrapped, or not for this place. */
export class BranchKeyCiphertextInvalid extends Error {
  override readonly name = 'BranchKeyCiphertextInvalid'
  constructor(options?: ErrorOptions) {
    super(
      'KMS does not authenticate the branch key: its item was altered, or is of another logical key store; check the logical name, or restore the item',
      options,
    )
  }
}

export class KmsAccessDenied extends Error {
  override readonly name = 'KmsAccessDenied'
  constructor(options?: ErrorOptions) {
    super(
      'KMS does not allow this use of the key: check the credentials, the policy of the key and the grant tokens',
      options,
    )
  }
}

/** The key itself cannot be used: disabled, to be deleted, missing, or made for something else. */
export class KmsKeyUnusable extends Error {
  override readonly name = 'KmsKeyUnusable'
  constructor(options?: ErrorOptions) {
    super(
      'The KMS key cannot be used: see that it exists, is enabled, and is for encryption',
      options,
    )
  }
}

/** KMS did not answer, or had no time. */
export class KmsUnavailable extends Error {
  override readonly name = 'KmsUnavailable'
  constructor(options?: ErrorOptions) {
    super('KMS cannot be reached or is too busy: try again later', options)
  }
}

/** KMS refused for a reason of which nothing more is known here. */
export class KmsFailed extends Error {
  override readonly name = 'KmsFailed'
  constructor(options?: ErrorOptions) {
    super('KMS failed: see the cause of this error', options)
  }
}

/** KMS answered with another key than it was asked to use, or with no key of 32 bytes. */
export class UnexpectedKmsAnswer extends Error {
  override readonly name = 'UnexpectedKmsAnswer'
  constructor() {
    super('KMS answered with something else than was asked for: do not trust this KMS')
  }
}

const meanings = [
  [BranchKeyCiphertextInvalid, ['InvalidCiphertextException', 'IncorrectKeyException']],
  [
    KmsAccessDenied,
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
    KmsKeyUnusable,
    [
      'DisabledException',
      'KMSInvalidStateException',
      'NotFoundException',
      'InvalidKeyUsageException',
      'InvalidArnException',
    ],
  ],
  [
    KmsUnavailable,
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
] as const

/** What the system says of a connection that did not come about, or broke. */
const unreachable = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]

/** What a KMS threw, as the error that callers of a key store know. */
export function kmsFailure(error: unknown): Error {
  const [Meaning = isUnreachable(error) ? KmsUnavailable : KmsFailed] =
    meanings.find(([, names]) => isNamed(error, ...names)) ?? []
  return new Meaning({ cause: error })
}

function isUnreachable(error: unknown): boolean {
  return unreachable.includes(String((error as { code?: unknown } | undefined)?.code))
}
