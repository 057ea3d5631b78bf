/** What operators may be told, and which errors of the key store and its storage mean it. */
import { defineErrors } from '@strongroom/kit/errors'
import { ItemMismatch } from '@strongroom/kit/item-mismatch'
import {
  CorruptKmsArn,
  EncryptionContextRequired,
  InvalidBranchKeyVersion,
  InvalidEncryptionContext,
  InvalidIdentifier,
  KmsKeyMismatch,
} from './key-store-errors.ts'
import {
  BranchKeyCiphertextInvalid,
  KmsAccessDenied,
  KmsFailed,
  KmsKeyUnusable,
  KmsUnavailable,
  UnexpectedKmsAnswer,
} from './kms-errors.ts'
import {
  BranchKeyExists,
  BranchKeyNotFound,
  EmptyIdentifier,
  EncryptedKeyMismatch,
  UnexpectedItem,
  UnsupportedHierarchyVersion,
  VersionRace,
} from './storage-errors.ts'

export const keyStoreError = defineErrors('key-store', {
  invalid_id: [400, 'A branch key id is 1 to 2048 bytes of valid Unicode: choose another one'],
  context_required: [
    400,
    'A branch key id of your own needs encryption context: give at least one pair, or leave the id out',
  ],
  invalid_context: [
    400,
    'Encryption context is pairs of strings in valid Unicode, 4096 bytes with 14 more for each name: give less, or correct it',
  ],
  not_found: [404, 'There is no such branch key: list the keys, or create it'],
  exists: [409, 'There is a branch key of this id: use it, or choose another id'],
  version_race: [
    409,
    'The branch key was rotated by someone else meanwhile: look at it again, and rotate if it still has to be',
  ],
  other_kms_key: [
    409,
    'The branch key was made under another KMS key than this server uses: rotate it where that key is configured',
  ],
  unsupported: [
    409,
    'The branch key has a hierarchy version other than 1: use the library that wrote it',
  ],
  damaged: [500, 'What is stored of the branch key is damaged: restore its items from a backup'],
  not_authentic: [
    500,
    'KMS does not authenticate what is stored of the branch key: restore its items from a backup, or find out who altered them',
  ],
  untrusted: [
    500,
    'The store or KMS answered with something else than was asked for: find out what stands between the server and them',
  ],
  kms_denied: [500, 'KMS does not allow this: check the credentials and the policy of the KMS key'],
  kms_key_unusable: [
    500,
    'The KMS key cannot be used: see that it exists, is enabled, and is for encryption',
  ],
  kms_failed: [500, 'KMS failed: see its log and that of the server'],
  kms_unavailable: [503, 'KMS cannot be reached or is too busy: try again in a moment'],
})

type Code = keyof typeof keyStoreError.table

/** What each error of the key store means to operators. Any other is a defect, or the store's to explain. */
const MEANINGS: readonly (readonly [Code, readonly (abstract new (...given: never) => Error)[]])[] =
  [
    ['invalid_id', [EmptyIdentifier, InvalidIdentifier]],
    ['context_required', [EncryptionContextRequired]],
    ['invalid_context', [InvalidEncryptionContext]],
    ['not_found', [BranchKeyNotFound]],
    ['exists', [BranchKeyExists]],
    ['version_race', [VersionRace]],
    ['other_kms_key', [KmsKeyMismatch]],
    ['unsupported', [UnsupportedHierarchyVersion]],
    ['damaged', [ItemMismatch, CorruptKmsArn, InvalidBranchKeyVersion]],
    ['not_authentic', [BranchKeyCiphertextInvalid]],
    ['untrusted', [UnexpectedItem, EncryptedKeyMismatch, UnexpectedKmsAnswer]],
    ['kms_denied', [KmsAccessDenied]],
    ['kms_key_unusable', [KmsKeyUnusable]],
    ['kms_failed', [KmsFailed]],
    ['kms_unavailable', [KmsUnavailable]],
  ]

/** For use as `.catch(rethrowForOperators)`. */
export function rethrowForOperators(error: unknown): never {
  const [code] = MEANINGS.find(([, kinds]) => kinds.some((kind) => error instanceof kind)) ?? []
  if (code === undefined) throw error
  const headers = code === 'kms_unavailable' && { headers: { 'retry-after': '1' } }
  throw keyStoreError(code, { cause: error, ...headers })
}
