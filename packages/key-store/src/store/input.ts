/** Validates the input of a key store before any call to the store or to KMS. */
import { CONTEXT_PREFIX } from './item.ts'
import { emptyIdentifier, keyStoreFailure } from '../errors.ts'

/** DynamoDB's limits of a partition key and of the name of an attribute. */
const MAX_ID_BYTES = 2048
const MAX_NAME_BYTES = 65_535

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export function requireIdentifier(id: unknown): void {
  if (id === '') throw emptyIdentifier('branch key identifier')
  if (!isText(id) || Buffer.byteLength(id) > MAX_ID_BYTES)
    throw keyStoreFailure('InvalidIdentifier')
}

/** Messages contain a version as the 16 bytes of its UUID, so it must be a UUID in canonical form. */
export function requireVersion(version: unknown): void {
  if (version === '') throw emptyIdentifier('branch key version')
  if (typeof version !== 'string' || !UUID.test(version))
    throw keyStoreFailure('InvalidBranchKeyVersion')
}

/** Validates the input for a new key: a custom id requires encryption context. */
export function requireNewKey(id: string | undefined, context: Record<string, string>): void {
  if (id !== undefined) requireIdentifier(id)
  if (!isPlain(context) || !Object.entries(context).every(isPair))
    throw keyStoreFailure('InvalidEncryptionContext')
  if (id !== undefined && Object.keys(context).length === 0)
    throw keyStoreFailure('EncryptionContextRequired')
}

function isPair([name, value]: [string, unknown]): boolean {
  const fits = Buffer.byteLength(CONTEXT_PREFIX + name) <= MAX_NAME_BYTES
  // Assignment to an object loses this name, so libraries disagree about what was authenticated.
  return fits && name !== '__proto__' && isText(name) && isText(value)
}

/** A lone surrogate would be stored as a different character than KMS authenticates. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && !/\p{Surrogate}/u.test(value)
}

/** The pairs of a Map or a class instance would be ignored. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
