/**
 * The `#names` and `:values` of one request. All its expressions share them, so unused ones are only
 * known after the last expression has been parsed.
 */
import { validationError } from '../errors.ts'
import { valueSize } from '../values/size.ts'
import type { Value } from '../values/types.ts'

export interface Placeholders {
  /** The attribute name of a `#placeholder`. */
  name(placeholder: string): string | undefined
  /** The value of a `:placeholder`. */
  value(placeholder: string): Value | undefined
  assertAllUsed(): void
}

const NAME_KEY = /^#[A-Za-z0-9_]+$/
const VALUE_KEY = /^:[A-Za-z0-9_]+$/
const MAX_KEY_BYTES = 255
const MAX_NAME_BYTES = 65535
const MAX_VALUES_BYTES = 2 * 1024 * 1024

export function createPlaceholders(
  names?: Record<string, string>,
  values?: Record<string, Value>,
): Placeholders {
  if (names) checkNames(names)
  if (values) checkValues(values)
  const used = new Set<string>()
  return {
    name(placeholder) {
      used.add(placeholder)
      return names && Object.hasOwn(names, placeholder) ? names[placeholder] : undefined
    },
    value(placeholder) {
      used.add(placeholder)
      return values && Object.hasOwn(values, placeholder) ? values[placeholder] : undefined
    },
    assertAllUsed() {
      if (names) assertUsed('ExpressionAttributeNames', names, used)
      if (values) assertUsed('ExpressionAttributeValues', values, used)
    },
  }
}

function checkNames(names: Record<string, string>): void {
  const keys = validateKeys('ExpressionAttributeNames', names, NAME_KEY)
  for (const key of keys) {
    const name: unknown = names[key]
    const problem = nameProblem(name)
    if (problem === undefined) continue
    throw validationError(
      `ExpressionAttributeNames contains invalid value: ${problem} for key ${key}`,
    )
  }
}

function nameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string') return String(name)
  if (name === '') return 'Empty attribute name'
  if (name.length <= MAX_NAME_BYTES / 3 || Buffer.byteLength(name) <= MAX_NAME_BYTES)
    return undefined
  return 'Attribute name is too large, must be less than 65536 bytes'
}

/** AWS reports a bad key before a bad value of another key. */
export function checkValueKeys(values: object): string[] {
  return validateKeys('ExpressionAttributeValues', values, VALUE_KEY)
}

function checkValues(values: Record<string, Value>): void {
  const keys = checkValueKeys(values)
  let size = 0
  for (const key of keys) size += valueSize(values[key] as Value)
  if (size > MAX_VALUES_BYTES) {
    throw validationError('ExpressionAttributeValues exceeds max size')
  }
}

function validateKeys(field: string, map: object, pattern: RegExp): string[] {
  const keys = Object.keys(map)
  if (keys.length === 0) throw validationError(`${field} must not be empty`)
  for (const key of keys) {
    if (key.length > MAX_KEY_BYTES) {
      throw validationError(
        `${field} contains invalid key: The expression attribute map contains a key that is too long; size of key: ${key.length}`,
      )
    }
    if (!pattern.test(key)) {
      throw validationError(`${field} contains invalid key: Syntax error; key: "${key}"`)
    }
  }
  return keys
}

function assertUsed(field: string, map: object, used: ReadonlySet<string>): void {
  const unused = Object.keys(map).filter((key) => !used.has(key))
  if (unused.length === 0) return
  throw validationError(
    `Value provided in ${field} unused in expressions: keys: {${inHashOrder(unused).join(', ')}}`,
  )
}

/** AWS lists the keys in the order of a Java hash set, which the message must have, too. */
function inHashOrder(keys: string[]): string[] {
  let buckets = 16
  while (keys.length > buckets * 0.75) buckets *= 2
  const bucketOf = (key: string) => {
    let hash = 0
    for (let index = 0; index < key.length; index++) {
      hash = (Math.imul(hash, 31) + key.charCodeAt(index)) | 0
    }
    return (hash ^ (hash >>> 16)) & (buckets - 1)
  }
  return keys
    .map((key) => ({ key, bucket: bucketOf(key) }))
    .toSorted((a, b) => a.bucket - b.bucket)
    .map(({ key }) => key)
}
