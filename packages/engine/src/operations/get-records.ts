/** GetRecords: the changes after an iterator's position, at most a thousand or a megabyte. */
import { createHash } from 'node:crypto'
import type { GetRecordsInput, GetRecordsOutput, StreamEvent } from '../db-streams.ts'
import type { Change } from '../storage/changes/changes.ts'
import type { StreamRecord } from '../storage/changes/streams.ts'
import { integer, string, structure } from '../validation/shapes.ts'
import { itemSize } from '../values/size.ts'
import { itemToWire } from '../values/wire.ts'
import type { Context, Operation } from './operation.ts'
import { iterator, readIterator } from './shard-iterator.ts'
import { sequenceNumber } from './stream-names.ts'

const MAX_RECORDS = 1000
const MAX_BYTES = 1024 * 1024

export const getRecords: Operation<GetRecordsInput, GetRecordsOutput> = {
  name: 'GetRecords',
  service: 'streams',
  input: structure('GetRecordsInput', {
    'ShardIterator!': string({ min: 1, max: 2048 }),
    Limit: integer({ min: 1, max: MAX_RECORDS }),
  }),

  run(context, input) {
    const { storage } = context
    // Includes writes that another process has acknowledged.
    storage.refresh()
    const { stream, after } = readIterator(context, input.ShardIterator)
    const limit = input.Limit ?? MAX_RECORDS
    const Records: StreamEvent[] = []
    let position = after
    let bytes = 0
    let ended = true
    for (const change of storage.streams.changes(stream, after, limit + 1)) {
      const event = eventOf(context, stream, change)
      bytes += event.dynamodb?.SizeBytes ?? 0
      ended = Records.length < limit && (bytes <= MAX_BYTES || Records.length === 0)
      if (!ended) break
      Records.push(event)
      position = change.sequence
    }
    if (ended && stream.closed) return { Records }
    return { Records, NextShardIterator: iterator(context, stream, position) }
  },

  toResponse: ({ Records = [], ...rest }) => ({ Records: Records.map(wireEvent), ...rest }),
}

function eventOf({ region }: Context, stream: StreamRecord, change: Change): StreamEvent {
  const { keys, old, new: after, at, sequence } = change
  const images = { Keys: keys, ...(after && { NewImage: after }), ...(old && { OldImage: old }) }
  let size = 0
  for (const image of Object.values(images)) size += itemSize(image)
  return {
    eventID: createHash('md5').update(`${stream.id} ${sequence}`).digest('hex'),
    eventName: change.kind,
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: region,
    dynamodb: {
      ApproximateCreationDateTime: Math.floor(at / 1000),
      ...images,
      SequenceNumber: sequenceNumber(sequence),
      SizeBytes: size,
      StreamViewType: stream.view,
    },
    ...(change.expired && {
      userIdentity: { PrincipalId: 'dynamodb.amazonaws.com', Type: 'Service' },
    }),
  }
}

function wireEvent({ dynamodb = {}, ...event }: StreamEvent): object {
  const { Keys, NewImage, OldImage, ...rest } = dynamodb
  return {
    ...event,
    dynamodb: {
      ...rest,
      ...(Keys && { Keys: itemToWire(Keys) }),
      ...(NewImage && { NewImage: itemToWire(NewImage) }),
      ...(OldImage && { OldImage: itemToWire(OldImage) }),
    },
  }
}
