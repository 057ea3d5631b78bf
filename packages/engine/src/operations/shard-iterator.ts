/**
 * GetShardIterator, and the format of iterators: a stream, and the sequence number after which to read.
 * An iterator is valid for 15 minutes and contains no secret.
 */
import type { GetShardIteratorInput } from '../db-streams.ts'
import { DynamoError, resourceNotFound, validationError } from '../errors.ts'
import type { StreamRecord } from '../storage/changes/streams.ts'
import { oneOf, string, structure } from '../validation/shapes.ts'
import type { Context, Operation } from './operation.ts'
import { existingStream, readSequenceNumber, shardId, streamArn } from './stream-names.ts'
import { arnShape, shardIdShape } from './streams.ts'

const LIFETIME_MS = 15 * 60 * 1000
const ITERATOR = /^(.+)\|1\|([0-9a-z]+)\.([0-9a-z]+)$/

export const getShardIterator: Operation<GetShardIteratorInput, { ShardIterator?: string }> = {
  name: 'GetShardIterator',
  service: 'streams',
  input: structure('GetShardIteratorInput', {
    'StreamArn!': arnShape,
    'ShardId!': shardIdShape,
    'ShardIteratorType!': oneOf(
      'AFTER_SEQUENCE_NUMBER',
      'LATEST',
      'AT_SEQUENCE_NUMBER',
      'TRIM_HORIZON',
    ),
    SequenceNumber: string({ min: 21, max: 40 }),
  }),

  run(context, input) {
    context.storage.refresh()
    const stream = existingStream(context.storage, input.StreamArn)
    if (shardId(stream) !== input.ShardId) {
      throw resourceNotFound(
        `Requested resource not found: Shard: ${input.ShardId} in Stream: ${input.StreamArn} not found`,
      )
    }
    return { ShardIterator: iterator(context, stream, positionOf(context, stream, input)) }
  },
}

function positionOf(context: Context, stream: StreamRecord, input: GetShardIteratorInput): number {
  const { ShardIteratorType: type, SequenceNumber: given } = input
  if (type === 'TRIM_HORIZON' || type === 'LATEST') {
    if (given) {
      throw validationError(
        'One or more parameter values were invalid: SequenceNumber should not be passed for this iterator type',
      )
    }
    return type === 'LATEST' ? endOf(context, stream) : stream.trimmed
  }
  const sequence = readSequenceNumber(given)
  const end = endOf(context, stream)
  // The starting number of a shard is valid even if there is no change yet.
  if (sequence <= stream.start || sequence > Math.max(end, stream.start + 1)) {
    throw validationError('Invalid SequenceNumber for the shard')
  }
  if (sequence <= stream.trimmed) throw trimmedDataAccess()
  return type === 'AT_SEQUENCE_NUMBER' ? sequence - 1 : Math.min(sequence, end)
}

function endOf({ storage }: Context, { closed }: StreamRecord): number {
  return closed?.sequence ?? storage.streams.latest()
}

/** The sequence number after which an iterator reads. */
export function iterator(context: Context, stream: StreamRecord, after: number): string {
  const issued = context.clock.now().toString(36)
  return `${streamArn(context, stream)}|1|${after.toString(36)}.${issued}`
}

export function readIterator(
  { storage, clock }: Context,
  text: string,
): { stream: StreamRecord; after: number } {
  const [, arn = '', after = '', issued = ''] = ITERATOR.exec(text) ?? []
  if (arn === '') throw validationError('Invalid ShardIterator')
  if (clock.now() - Number.parseInt(issued, 36) > LIFETIME_MS) {
    throw new DynamoError('ExpiredIteratorException', 'Shard iterator has expired')
  }
  const stream = existingStream(storage, arn)
  const position = Number.parseInt(after, 36)
  if (position < stream.trimmed) throw trimmedDataAccess()
  return { stream, after: position }
}

function trimmedDataAccess(): DynamoError {
  return new DynamoError(
    'TrimmedDataAccessException',
    'The data you are trying to access has been trimmed',
  )
}
