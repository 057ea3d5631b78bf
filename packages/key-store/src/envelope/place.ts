import { keyStoreFailure } from '../errors.ts'
/**
 * The place of a sealed secret: an attribute of an entity of a tenant of a service. It is the encryption
 * context of the message, so a secret can only be opened for its place.
 */

export interface EnvelopeContext {
  service: string
  tenant: string
  entity: string
  attribute: string
}

/** The names of the pairs, sorted by their bytes as the format requires. */
const NAMES = ['attribute', 'entity', 'service', 'tenant'] as const
const NAME_BYTES = NAMES.map((name) => withLength(Buffer.from(name)))
const PAIRS = uint16(NAMES.length)

/** The limit of DynamoDB keys, which ids of branch keys and entities are. */
const MAX_VALUE_BYTES = 2048
const UNPAIRED_SURROGATE = /\p{Surrogate}/u

/** A place as bytes, which the header contains and every encryption authenticates. */
export interface Place {
  branchKeyIdentifier: string
  /** The encryption context in the message format: a count, then pairs with lengths. */
  context: Buffer
}

export function placeOf(context: EnvelopeContext): Place {
  const parts = [PAIRS]
  for (const [index, name] of NAMES.entries()) {
    parts.push(NAME_BYTES[index] as Buffer, withLength(validateBytes(name, context[name])))
  }
  return { branchKeyIdentifier: branchKeyIdOf(context), context: Buffer.concat(parts) }
}

/** The id of the branch key for a tenant's secrets. */
export function branchKeyIdOf({ service, tenant }: Pick<EnvelopeContext, 'service' | 'tenant'>) {
  // Otherwise tenant "b:c" of service "a" would share its branch key with tenant "c" of "a:b".
  if (service.includes(':'))
    throw keyStoreFailure('InvalidEnvelopeContext', {
      message: 'Invalid place: service must not contain a colon',
    })
  const id = `${service}:${tenant}`
  if (Buffer.byteLength(id) > MAX_VALUE_BYTES)
    throw keyStoreFailure('InvalidEnvelopeContext', {
      message: 'Invalid place: service and tenant are too long together',
    })
  return id
}

function validateBytes(name: string, value: unknown): Buffer {
  if (typeof value !== 'string' || value === '')
    throw keyStoreFailure('InvalidEnvelopeContext', {
      message: `Invalid place: ${name} must be a text that is not empty`,
    })
  // Lone surrogates all become the same replacement character, so different places would be equal.
  if (UNPAIRED_SURROGATE.test(value))
    throw keyStoreFailure('InvalidEnvelopeContext', {
      message: `Invalid place: ${name} must be well-formed Unicode`,
    })
  const bytes = Buffer.from(value)
  if (bytes.length > MAX_VALUE_BYTES)
    throw keyStoreFailure('InvalidEnvelopeContext', {
      message: `Invalid place: ${name} must have at most ${MAX_VALUE_BYTES} bytes`,
    })
  return bytes
}

export function withLength(bytes: Buffer): Buffer {
  return Buffer.concat([uint16(bytes.length), bytes])
}

export function uint16(value: number): Buffer {
  return Buffer.of(value >> 8, value & 255)
}
