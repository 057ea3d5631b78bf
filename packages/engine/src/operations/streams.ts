/** ListStreams and DescribeStream. A stream has one shard, so there is never a second page of shards. */
import type {
  DescribeStreamInput,
  DescribeStreamOutput,
  ListStreamsInput,
  ListStreamsOutput,
} from '../db-streams.ts'
import { nameOf } from '../validation/names.ts'
import { integer, string, structure, tableName } from '../validation/shapes.ts'
import { describeKeys } from './describe.ts'
import type { Operation } from './operation.ts'
import { existingStream, sequenceNumber, shardId, streamArn } from './stream-names.ts'

const MAX_STREAMS = 100
export const arnShape = string({ min: 37, max: 1024 })
export const shardIdShape = string({ min: 28, max: 65 })

export const listStreams: Operation<ListStreamsInput, ListStreamsOutput> = {
  name: 'ListStreams',
  service: 'streams',
  input: structure('ListStreamsInput', {
    TableName: tableName,
    Limit: integer({ min: 1, max: MAX_STREAMS }),
    ExclusiveStartStreamArn: arnShape,
  }),

  run(context, input) {
    const { storage } = context
    const all = storage.streams.all()
    const wanted = input.TableName ? nameOf(input.TableName) : undefined
    // The stream of the cursor still exists, unless it was closed more than a day ago.
    const after = input.ExclusiveStartStreamArn
      ? existingStream(storage, input.ExclusiveStartStreamArn).id
      : 0
    const rest = all.filter(
      (stream) => stream.id > after && (wanted === undefined || stream.tableName === wanted),
    )
    const page = rest.slice(0, input.Limit ?? MAX_STREAMS)
    const last = page.at(-1)
    return {
      Streams: page.map((stream) => ({
        StreamArn: streamArn(context, stream),
        TableName: stream.tableName,
        StreamLabel: stream.label,
      })),
      ...(last &&
        page.length < rest.length && { LastEvaluatedStreamArn: streamArn(context, last) }),
    }
  },
}

export const describeStream: Operation<DescribeStreamInput, DescribeStreamOutput> = {
  name: 'DescribeStream',
  service: 'streams',
  input: structure('DescribeStreamInput', {
    'StreamArn!': arnShape,
    Limit: integer({ min: 1, max: 100 }),
    ExclusiveStartShardId: shardIdShape,
  }),

  run(context, input) {
    const stream = existingStream(context.storage, input.StreamArn)
    const { label, view, createdAt, keys, start, closed } = stream
    const shard = {
      ShardId: shardId(stream),
      SequenceNumberRange: {
        StartingSequenceNumber: sequenceNumber(start + 1),
        ...(closed && {
          EndingSequenceNumber: sequenceNumber(Math.max(start + 1, closed.sequence)),
        }),
      },
    }
    return {
      StreamDescription: {
        StreamArn: streamArn(context, stream),
        StreamLabel: label,
        StreamStatus: closed ? 'DISABLED' : 'ENABLED',
        StreamViewType: view,
        CreationRequestDateTime: createdAt / 1000,
        TableName: stream.tableName,
        KeySchema: describeKeys(keys),
        Shards: (input.ExclusiveStartShardId ?? '') < shard.ShardId ? [shard] : [],
      },
    }
  },
}
