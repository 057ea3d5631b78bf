/** Validates what callers pass to a key store, before any call to the store or to KMS. */
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

/** A version goes into messages as the 16 bytes of its UUID, so it must be one, and in one way. */
export function requireVersion(version: unknown): void {
  if (version === '') throw emptyIdentifier('branch key version')
  if (typeof version !== 'string' || !UUID.test(version))
    throw keyStoreFailure('InvalidBranchKeyVersion')
}

/** For a new key: an id of one's own comes with context, which says whose key it is. */
export function requireNewKey(id: string | undefined, context: Record<string, string>): void {
  if (id !== undefined) requireIdentifier(id)
  if (!isPlain(context) || !Object.entries(context).every(isPair))
    throw keyStoreFailure('InvalidEncryptionContext')
  if (id !== undefined && Object.keys(context).length === 0)
    throw keyStoreFailure('EncryptionContextRequired')
}

function isPair([name, value]: [string, unknown]): boolean {
  const fits = Buffer.byteLength(CONTEXT_PREFIX + name) <= MAX_NAME_BYTES
  return fits && isText(name) && isText(value)
}

/** Half a character would be stored as another one than KMS authenticates. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && !/\p{Surrogate}/u.test(value)
}

/** The pairs of a Map, or of a class, would be overlooked. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
