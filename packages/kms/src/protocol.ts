/**
 * AWS's JSON 1.1 protocol without the transport: from operation and request bytes to status and response
 * JSON. `sdk.ts` and `serve.ts` are the transports.
 */
import { isRecord } from './checks.ts'
import { KmsError } from './errors.ts'
import type { KmsOperations } from './kms.ts'
import { MasterKeyError } from './master-key/errors.ts'

export const CONTENT_TYPE = 'application/x-amz-json-1.1'
const TARGET_PREFIX = 'TrentService.'
const BLOBS = ['Plaintext', 'CiphertextBlob']
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

export interface WireResponse {
  statusCode: number
  body: object
}

const OPERATIONS: ReadonlyMap<string, keyof KmsOperations> = new Map([
  ['CreateKey', 'createKey'],
  ['DescribeKey', 'describeKey'],
  ['ListKeys', 'listKeys'],
  ['GenerateDataKey', 'generateDataKey'],
  ['GenerateDataKeyWithoutPlaintext', 'generateDataKeyWithoutPlaintext'],
  ['Encrypt', 'encrypt'],
  ['Decrypt', 'decrypt'],
  ['ReEncrypt', 'reEncrypt'],
  ['RotateKeyOnDemand', 'rotateKeyOnDemand'],
  ['DisableKey', 'disableKey'],
  ['EnableKey', 'enableKey'],
  ['ScheduleKeyDeletion', 'scheduleKeyDeletion'],
  ['CancelKeyDeletion', 'cancelKeyDeletion'],
])

/** Throws the errors of the KMS, which `wireFailure` converts to a response. */
export async function execute(
  kms: KmsOperations,
  target: string | undefined,
  body: Uint8Array,
): Promise<WireResponse> {
  const name = target?.startsWith(TARGET_PREFIX) ? target.slice(TARGET_PREFIX.length) : ''
  const operation = OPERATIONS.get(name)
  if (!operation) {
    throw new KmsError('UnknownOperationException', 'This KMS does not have this operation')
  }
  const call = kms[operation] as (input: object) => Promise<object>
  return { statusCode: 200, body: toWire(await call(fromWire(body))) }
}

/** An error that is not a KmsError is a defect, and its message is not sent. */
export function wireFailure(error: unknown): WireResponse {
  const { name, message, statusCode } = failureOf(error)
  return { statusCode, body: { __type: name, message } }
}

function failureOf(error: unknown): KmsError {
  if (error instanceof KmsError) return error
  // Retrying will not help, so the error must not look retryable.
  if (error instanceof MasterKeyError)
    return new KmsError('KMSInvalidStateException', error.message)
  return cannotAnswer()
}

/** The only text that clients see of failures that the operator must fix. */
export function cannotAnswer(): KmsError {
  return new KmsError('KMSInternalException', 'The KMS cannot answer now: try again later', 500)
}

function fromWire(body: Uint8Array): object {
  const request = parseJson(body)
  if (!isRecord(request)) throw serializationError('The request must be a JSON object')
  for (const name of BLOBS) {
    const value = request[name]
    if (value === undefined) continue
    if (typeof value !== 'string' || !BASE64.test(value)) {
      throw serializationError(`${name} must be base64`)
    }
    request[name] = Uint8Array.from(Buffer.from(value, 'base64'))
  }
  return request
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString())
  } catch {
    throw serializationError('The request is not JSON')
  }
}

function serializationError(message: string): KmsError {
  return new KmsError('SerializationException', message)
}

/** Bytes as base64, dates as seconds since the epoch. */
function toWire(output: object): object {
  return Object.fromEntries(Object.entries(output).map(([name, value]) => [name, wired(value)]))
}

function wired(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (value instanceof Date) return value.getTime() / 1000
  return isRecord(value) ? toWire(value) : value
}
