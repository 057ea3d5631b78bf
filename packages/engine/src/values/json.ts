/**
 * Reads the JSON of a request, with the errors of AWS's deserializer, which precede all validation.
 */
import { serializationError } from '../errors.ts'

const MAP_NOT_EXPECTED = 'Start of structure or map found where not expected.'

export function objectOf(json: unknown): Record<string, unknown> {
  if (typeof json !== 'object' || json === null) {
    throw serializationError('Unexpected field type')
  }
  if (Array.isArray(json)) throw serializationError('Start of list found where not expected')
  return json as Record<string, unknown>
}

export function listOf(json: unknown): unknown[] {
  if (Array.isArray(json)) return json
  throw serializationError(
    typeof json === 'object' && json !== null ? MAP_NOT_EXPECTED : 'Unexpected field type',
  )
}

export function stringOf(json: unknown, refusal?: string): string {
  if (typeof json === 'string') return json
  throw unexpected(json, 'String', refusal)
}

export function booleanOf(json: unknown): boolean {
  if (typeof json === 'boolean') return json
  throw unexpected(json, 'Boolean')
}

function unexpected(json: unknown, wanted: string, refusal?: string) {
  if (Array.isArray(json)) {
    return serializationError(`Unrecognized collection type class java.lang.${wanted}`)
  }
  if (typeof json === 'object') return serializationError(MAP_NOT_EXPECTED)
  return serializationError(refusal ?? `${tokenName(json)} cannot be converted to ${wanted}`)
}

function tokenName(json: unknown): string {
  if (typeof json === 'boolean') return json ? 'TRUE_VALUE' : 'FALSE_VALUE'
  return typeof json === 'number' ? 'NUMBER_VALUE' : 'STRING_VALUE'
}

const NOT_BASE64 = /[^A-Za-z0-9+/=]|=[^=]/

/** Strict base64 with padding, because AWS rejects anything else. */
export function bytesFromBase64(text: string): Uint8Array {
  if (text.length % 4 !== 0) {
    throw serializationError(
      `Base64 encoded length is expected a multiple of 4 bytes but found: ${text.length}`,
    )
  }
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text) {
    const wrong = NOT_BASE64.exec(text)
    throw serializationError(
      wrong
        ? `Invalid Base64 character: '${wrong[0].charAt(0)}'`
        : 'Invalid last non-pad Base64 character dectected',
    )
  }
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
