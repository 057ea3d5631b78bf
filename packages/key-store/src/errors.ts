/** The errors of the key store, and how operators see them over HTTP. */
import type { Item } from '@strongroom/kit/db'
import { defineErrors } from '@strongroom/kit/errors'
import { ItemMismatch } from '@strongroom/kit/db-errors'

/** @internal */
export const keyStoreError = defineErrors('key-store', {
  invalid_id: [400, 'Invalid branch key id. Choose an id of 1 to 2048 bytes in valid Unicode.'],
  context_required: [
    400,
    'Your own branch key id requires an encryption context. Pass at least one pair, or omit the id.',
  ],
  invalid_context: [
    400,
    'Invalid encryption context. Pass pairs of strings in valid Unicode with at most 4096 bytes, counting 14 extra bytes per name, and no name __proto__.',
  ],
  not_found: [404, 'Branch key not found. List the keys, or create it.'],
  exists: [409, 'A branch key with this id already exists. Use it, or choose another id.'],
  version_race: [
    409,
    'Another rotation of this branch key succeeded first. Read the key again, and rotate it if that is still needed.',
  ],
  other_kms_key: [
    409,
    'The branch key belongs to a different KMS key than this server uses. Rotate it where that key is configured.',
  ],
  unsupported: [
    409,
    'The branch key has a hierarchy version other than 1. Use the library that wrote it.',
  ],
  damaged: [500, 'The stored branch key is damaged. Restore its items from a backup.'],
  not_authentic: [
    500,
    'KMS does not authenticate the stored branch key. Restore its items from a backup, and find out what changed them.',
  ],
  untrusted: [
    500,
    'The store or KMS returned something other than what was requested. Check what is between the server and them.',
  ],
  kms_denied: [500, 'KMS denied access. Check the credentials and the policy of the KMS key.'],
  kms_key_unusable: [
    500,
    'The KMS key cannot be used. Check that it exists, is enabled, and is for encryption.',
  ],
  kms_failed: [500, 'KMS failed. See its log and the log of the server.'],
  kms_unavailable: [503, 'KMS is unavailable or too busy. Try again in a moment.'],
})

type OperatorCode = keyof typeof keyStoreError.table

/** `name: [operator code, message]`. Messages say what to do and contain no ids and no values. */
const FAILURES = {
  // Rejected before KMS is called or anything is written.
  InvalidKmsConfiguration: [undefined, 'The KMS configuration is invalid.'],
  KmsAliasNotAllowed: [
    undefined,
    'The ARN of a KMS alias is not allowed. Use the ARN of the key itself.',
  ],
  InvalidGrantTokens: [
    undefined,
    'Invalid grant tokens. Pass at most 10, each with 1 to 8192 characters.',
  ],
  DiscoveryCannotWrite: [
    undefined,
    'Branch keys cannot be created or rotated with discovery. Configure the key store with kmsKeyArn or kmsMRKeyArn.',
  ],
  EncryptionContextRequired: [
    'context_required',
    'Your own branch key identifier requires an encryption context. Pass at least one pair, or omit the identifier.',
  ],
  InvalidEncryptionContext: [
    'invalid_context',
    'Invalid encryption context. Pass an object of strings in valid Unicode, with names of at most 65,521 bytes other than __proto__.',
  ],
  InvalidIdentifier: [
    'invalid_id',
    'Invalid branch key identifier. Pass a string of at most 2048 bytes in valid Unicode.',
  ],
  InvalidBranchKeyVersion: [
    'damaged',
    'Invalid branch key version. Pass the lower-case UUID, without a prefix, that came with the key.',
  ],
  KmsKeyMismatch: [
    'other_kms_key',
    "The branch key's kms-arn is not the configured KMS key. Configure the key store with the KMS key that the branch key was created under.",
  ],
  CorruptKmsArn: [
    'damaged',
    "The branch key's kms-arn is not the ARN of a KMS key. Restore the item from a backup.",
  ],
  // Storage.
  VersionRace: [
    'version_race',
    'Another rotation of this branch key succeeded first. Read it again, and rotate it if that is still needed.',
  ],
  BranchKeyExists: [
    'exists',
    'A branch key with this id already exists. Read it, or choose another id.',
  ],
  BranchKeyNotFound: [
    'not_found',
    'No item found for corresponding branch key identifier. Create the key first.',
  ],
  EmptyIdentifier: ['invalid_id', 'Empty string not supported. Pass at least one character.'],
  EncryptedKeyMismatch: [
    'untrusted',
    'The parts of an encrypted branch key contradict each other. Do not store or use it.',
  ],
  UnexpectedItem: [
    'untrusted',
    'The store returned a different item than requested. Do not trust this store.',
  ],
  TableDoesNotConform: [
    undefined,
    'The table with this name does not belong to a key store: its keys must be branch-key-id and type, both strings. Choose another name.',
  ],
  UnsupportedHierarchyVersion: [
    'unsupported',
    'The item has a hierarchy-version other than 1. Use the library that wrote it.',
  ],
  // KMS.
  BranchKeyCiphertextInvalid: [
    'not_authentic',
    'KMS does not authenticate the branch key: its item was changed, or belongs to another logical key store. Check the logical name, or restore the item.',
  ],
  KmsAccessDenied: [
    'kms_denied',
    'KMS denied access to the key. Check the credentials, the policy of the key and the grant tokens.',
  ],
  KmsKeyUnusable: [
    'kms_key_unusable',
    'The KMS key cannot be used. Check that it exists, is enabled, and is for encryption.',
  ],
  KmsUnavailable: ['kms_unavailable', 'KMS is unavailable or too busy. Try again later.'],
  KmsFailed: ['kms_failed', 'KMS failed. See the cause of this error.'],
  UnexpectedKmsAnswer: [
    'untrusted',
    'KMS returned something other than what was requested. Do not trust this KMS.',
  ],
  // Envelope.
  InvalidEnvelopeContext: [undefined, 'The place of the secret is invalid.'],
  PlaintextTooLong: [undefined, 'The plaintext is too long. Encrypt it in parts.'],
  // One error for every reason, so that a forger does not learn how far a forgery got.
  EnvelopeUnreadable: [
    undefined,
    'The secret cannot be decrypted: it was changed, encrypted for another place, or its branch key is missing. ' +
      'Restore it together with its branch key, or set it again.',
  ],
} as const satisfies Record<string, readonly [OperatorCode | undefined, string]>

export type KeyStoreFailure = keyof typeof FAILURES

export interface FailureDetails {
  /** Replaces the usual message with a more specific one. */
  message?: string
  cause?: unknown
  table?: string
  key?: Item
  attribute?: string
}

/** Every failure of the key store. Recognise it by `name`, which docs/library-errors.md lists. */
export class KeyStoreError extends Error {
  override readonly name: KeyStoreFailure
  /** The item concerned, if there is one. */
  readonly table: string | undefined
  readonly key: Item | undefined
  readonly attribute: string | undefined

  constructor(
    name: KeyStoreFailure,
    { message, cause, table, key, attribute }: FailureDetails = {},
  ) {
    super(message ?? FAILURES[name][1], cause === undefined ? undefined : { cause })
    this.name = name
    this.table = table
    this.key = key
    this.attribute = attribute
  }
}

export function keyStoreFailure(name: KeyStoreFailure, details?: FailureDetails): KeyStoreError {
  return new KeyStoreError(name, details)
}

/** The message of AWS's libraries, which programs compare. */
export function emptyIdentifier(
  what: 'branch key identifier' | 'branch key version',
): KeyStoreError {
  const message = `Empty string not supported for ${what}. Pass at least one character.`
  return keyStoreFailure('EmptyIdentifier', { message })
}

export function isKeyStoreFailure(error: unknown, name: KeyStoreFailure): boolean {
  return error instanceof KeyStoreError && error.name === name
}

/** For use as `.catch(rethrowForOperators)`. An error without a code is a defect, or the store's to explain. */
export function rethrowForOperators(error: unknown): never {
  const code = operatorCodeOf(error)
  if (code === undefined) throw error
  const headers = code === 'kms_unavailable' && { headers: { 'retry-after': '1' } }
  throw keyStoreError(code, { cause: error, ...headers })
}

function operatorCodeOf(error: unknown): OperatorCode | undefined {
  if (error instanceof ItemMismatch) return 'damaged'
  return error instanceof KeyStoreError ? FAILURES[error.name][0] : undefined
}
