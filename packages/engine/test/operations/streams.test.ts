import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../src/db-streams.ts'
import { type Engine, openEngine } from '../../src/engine.ts'
import { freshEngine, movableClock, plain, refusal } from '../support/engine.ts'

const HOUR = 3600

const withStream = {
  ...plain,
  StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
} as const

async function createStream(engine: Engine): Promise<{ StreamArn: string; ShardId: string }> {
  const { TableDescription } = await engine.createTable(withStream)
  return shardOf(engine, TableDescription?.LatestStreamArn ?? '')
}

async function shardOf(engine: Engine, StreamArn: string) {
  const { StreamDescription } = await engine.describeStream({ StreamArn })
  return { StreamArn, ShardId: StreamDescription?.Shards?.[0]?.ShardId ?? '' }
}

async function iteratorOf(
  engine: Engine,
  shard: { StreamArn: string; ShardId: string },
  ShardIteratorType: 'TRIM_HORIZON' | 'LATEST' = 'TRIM_HORIZON',
): Promise<string> {
  const { ShardIterator } = await engine.getShardIterator({ ...shard, ShardIteratorType })
  return ShardIterator ?? ''
}

async function read(
  engine: Engine,
  shard: { StreamArn: string; ShardId: string },
): Promise<StreamEvent[]> {
  const ShardIterator = await iteratorOf(engine, shard)
  return (await engine.getRecords({ ShardIterator })).Records ?? []
}

const put = (engine: Engine, id: string, n = 0) =>
  engine.putItem({ TableName: 'plain', Item: { id, n } })

describe('a stream', () => {
  test('does not skip its first record after the starting number of an empty shard', async () => {
    const engine = await freshEngine()
    const shard = await createStream(engine)
    const { StreamDescription } = await engine.describeStream({ StreamArn: shard.StreamArn })
    const range = StreamDescription?.Shards?.[0]?.SequenceNumberRange
    const { ShardIterator = '' } = await engine.getShardIterator({
      ...shard,
      ShardIteratorType: 'AFTER_SEQUENCE_NUMBER',
      SequenceNumber: range?.StartingSequenceNumber ?? '',
    })
    await put(engine, 'a')
    const { Records = [] } = await engine.getRecords({ ShardIterator })
    expect(Records.map(({ dynamodb }) => dynamodb?.Keys)).toEqual([{ id: 'a' }])
  })

  test('shows whole items before and after writes that name only some of their attributes', async () => {
    const engine = await freshEngine()
    const shard = await createStream(engine)
    const TableName = 'plain'
    const first = {
      id: 'a',
      n: 1,
      list: [{ text: 'ä' }],
      tags: new Set(['x', 'y']),
      long: 'x'.repeat(999),
    }
    const updated = {
      id: 'a',
      list: [{ text: 'ä' }],
      tags: new Set(['x', 'y']),
      long: first.long,
      more: 2,
    }
    const replaced = { id: 'a', n: 3 }
    const byMore = {
      ConditionExpression: 'more = :more',
      ExpressionAttributeValues: { ':more': 2 },
    }
    await engine.putItem({ TableName, Item: first })
    await engine.updateItem({
      TableName,
      Key: { id: 'a' },
      UpdateExpression: 'SET more = n + :one REMOVE n',
      ExpressionAttributeValues: { ':one': 1 },
    })
    await engine.transactWriteItems({
      TransactItems: [{ Put: { TableName, Item: replaced, ...byMore } }],
    })
    await engine.putItem({ TableName, Item: { n: 3, id: 'a' } })
    await engine.deleteItem({ TableName, Key: { id: 'a' } })
    const images = (await read(engine, shard)).map(({ dynamodb }) => [
      dynamodb?.OldImage,
      dynamodb?.NewImage,
    ])
    expect(images).toEqual([
      [undefined, first],
      [first, updated],
      [updated, replaced],
      [replaced, undefined],
    ])
  })

  test('keeps its records for a day', async () => {
    const clock = movableClock()
    const engine = await freshEngine({ clock })
    const shard = await createStream(engine)
    await put(engine, 'a')
    clock.advanceSeconds(12 * HOUR)
    await put(engine, 'b')
    clock.advanceSeconds(12 * HOUR - 1)
    await engine.sweep()
    expect(await read(engine, shard)).toHaveLength(2)
    clock.advanceSeconds(1)
    await engine.sweep()
    expect((await read(engine, shard)).map(({ dynamodb }) => dynamodb?.Keys)).toEqual([{ id: 'b' }])
    clock.advanceSeconds(12 * HOUR)
    await engine.sweep()
    expect(await read(engine, shard)).toEqual([])
  })

  test('refuses an iterator after a quarter of an hour', async () => {
    const clock = movableClock()
    const engine = await freshEngine({ clock })
    const ShardIterator = await iteratorOf(engine, await createStream(engine))
    clock.advanceSeconds(900)
    const { NextShardIterator = '' } = await engine.getRecords({ ShardIterator })
    clock.advanceSeconds(1)
    expect(await refusal(engine.getRecords({ ShardIterator }))).toMatchObject({
      name: 'ExpiredIteratorException',
      message: 'Shard iterator has expired',
    })
    await engine.getRecords({ ShardIterator: NextShardIterator })
  })

  test('refuses to read from before the oldest record that is left', async () => {
    const clock = movableClock()
    const engine = await freshEngine({ clock })
    const shard = await createStream(engine)
    await put(engine, 'a')
    await put(engine, 'b')
    const [first, second] = await read(engine, shard)
    clock.advanceSeconds(24 * HOUR - 1)
    const ShardIterator = await iteratorOf(engine, shard)
    await put(engine, 'c')
    clock.advanceSeconds(1)
    await engine.sweep()
    const trimmed = {
      name: 'TrimmedDataAccessException',
      message: 'The data you are trying to access has been trimmed',
    }
    expect(await refusal(engine.getRecords({ ShardIterator }))).toMatchObject(trimmed)
    for (const event of [first, second]) {
      const request = {
        ...shard,
        ShardIteratorType: 'AFTER_SEQUENCE_NUMBER' as const,
        SequenceNumber: event?.dynamodb?.SequenceNumber ?? '',
      }
      expect(await refusal(engine.getShardIterator(request))).toMatchObject(trimmed)
    }
    expect(await read(engine, shard)).toHaveLength(1)
  })

  test('is gone a day after it was switched off, with all its records', async () => {
    const clock = movableClock()
    const engine = await freshEngine({ clock })
    const shard = await createStream(engine)
    await put(engine, 'a')
    await engine.deleteTable({ TableName: 'plain' })
    clock.advanceSeconds(24 * HOUR - 1)
    await engine.sweep()
    expect(await read(engine, shard)).toHaveLength(1)
    clock.advanceSeconds(1)
    await engine.sweep()
    expect((await engine.listStreams()).Streams).toEqual([])
    expect((await refusal(engine.describeStream(shard))).name).toBe('ResourceNotFoundException')
  })

  test('has another name each time it is switched on, also within a millisecond', async () => {
    const engine = await freshEngine({ clock: movableClock() })
    await engine.createTable(withStream)
    for (const StreamSpecification of [{ StreamEnabled: false }, withStream.StreamSpecification]) {
      await engine.updateTable({ TableName: 'plain', StreamSpecification })
    }
    const labels = (await engine.listStreams()).Streams?.map(({ StreamLabel }) => StreamLabel)
    expect(new Set(labels).size).toBe(2)
  })

  test('never goes back in time when the clock does', async () => {
    const clock = movableClock()
    const engine = await freshEngine({ clock })
    const shard = await createStream(engine)
    await put(engine, 'a')
    clock.advanceSeconds(-HOUR)
    await put(engine, 'b')
    const times = (await read(engine, shard)).map(
      (event) => event.dynamodb?.ApproximateCreationDateTime,
    )
    expect(times[1]).toBe(times[0])
  })

  test('gives at most a megabyte at a time, and loses nothing in between', async () => {
    const engine = await freshEngine()
    const shard = await createStream(engine)
    const text = 'x'.repeat(300_000)
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    for (const id of ids) await engine.putItem({ TableName: 'plain', Item: { id, text } })
    const seen: unknown[][] = []
    let ShardIterator: string | undefined = await iteratorOf(engine, shard)
    while (ShardIterator && seen.flat().length < ids.length) {
      const page: Awaited<ReturnType<Engine['getRecords']>> = await engine.getRecords({
        ShardIterator,
      })
      seen.push((page.Records ?? []).map((event) => event.dynamodb?.Keys?.['id']))
      ShardIterator = page.NextShardIterator
    }
    expect(seen).toEqual([['a', 'b', 'c'], ['d', 'e', 'f'], ['g']])
  })

  test('is whole after the directory is opened again', async () => {
    const engine = await freshEngine()
    const shard = await createStream(engine)
    await put(engine, 'a')
    const again = await openEngine({ directory: engine.storage.directory, sweepIntervalMs: 0 })
    await put(again, 'a', 1)
    await again.close()
    await put(engine, 'b')
    const events = await read(engine, shard)
    expect(events.map(({ eventName }) => eventName)).toEqual(['INSERT', 'MODIFY', 'INSERT'])
  })
})
