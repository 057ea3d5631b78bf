/** ARNs of streams, ids of their shards, and sequence numbers. */
import { resourceNotFound, validationError } from '../errors.ts'
import type { Storage } from '../storage/storage.ts'
import type { StreamRecord } from '../storage/changes/streams.ts'
import { tableArn } from './describe.ts'
import type { Context } from './operation.ts'

const STREAM_ARN = /^arn:[^:]+:dynamodb:[^:]*:[^:]*:table\/([^/]+)\/stream\/([^/|]+)$/
const SEQUENCE_NUMBER_DIGITS = 21

export function streamArn(context: Context, { tableName, label }: StreamRecord): string {
  return `${tableArn(context, tableName)}/stream/${label}`
}

export function existingStream(storage: Storage, arn: string): StreamRecord {
  const [, tableName, label] = STREAM_ARN.exec(arn) ?? []
  if (tableName === undefined || label === undefined) {
    throw validationError('One or more parameter values were invalid: Invalid StreamArn')
  }
  const stream = storage.streams.find(tableName, label)
  if (!stream) throw resourceNotFound(`Requested resource not found: Stream: ${arn} not found`)
  return stream
}

/** A stream has one shard, which is open while the stream is enabled. */
export function shardId({ id, createdAt }: StreamRecord): string {
  return `shardId-${String(createdAt).padStart(20, '0')}-${id.toString(16).padStart(8, '0')}`
}

export function sequenceNumber(sequence: number): string {
  return String(sequence).padStart(SEQUENCE_NUMBER_DIGITS, '0')
}

export function readSequenceNumber(text: string | null | undefined): number {
  const sequence = /^\d+$/.test(text ?? '') ? Number(text) : NaN
  if (Number.isNaN(sequence)) {
    throw validationError('One or more parameter values were invalid: Invalid SequenceNumber')
  }
  return sequence
}
