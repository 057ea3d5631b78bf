/**
 * The changes of a data directory while a copy runs, from streams of the engine. A stream that a
 * copy began has the view KEYS_ONLY; one that a killed copy left is used and ended like its own.
 */
import { type Engine, openEngine } from '@strongroom/engine/engine'
import type { Item } from '@strongroom/kit/db'
import { isNamed } from '@strongroom/kit/db-errors'
import type { Table } from '@strongroom/kit/table'
import { keyText } from './compare-pass.ts'

const VIEW = 'KEYS_ONLY'

export interface ChangeFeed {
  /** The keys of a table that changed since the last call, each once. */
  read(table: Table): Promise<Item[]>
  close(): Promise<void>
}

interface Stream {
  name: string
  arn: string
  shard: string
  /** The last change that was read. */
  after?: string | undefined
}

export async function openChangeFeed(
  directory: string,
  prefix: string,
  tables: readonly Table[],
): Promise<ChangeFeed> {
  const engine = await openEngine({ directory, sweepIntervalMs: 0 })
  const streams = new Map<Table, Stream>()
  const close = async () => {
    try {
      for (const { name } of streams.values()) await endStream(engine, name)
    } finally {
      await engine.close()
    }
  }
  try {
    for (const table of tables) streams.set(table, await openStream(engine, prefix + table.name))
  } catch (error) {
    await close()
    throw error
  }

  return {
    close,
    async read(table) {
      const stream = streams.get(table)
      const keys = new Map<string, Item>()
      if (!stream) return []
      let iterator = await iteratorOf(engine, stream)
      while (iterator !== undefined) {
        const { Records = [], NextShardIterator } = await engine.getRecords({
          ShardIterator: iterator,
        })
        for (const { dynamodb } of Records) {
          const key = dynamodb?.Keys
          if (key) keys.set(keyText(table, key), key)
          stream.after = dynamodb?.SequenceNumber ?? stream.after
        }
        iterator = Records.length > 0 ? NextShardIterator : undefined
      }
      return [...keys.values()]
    },
  }
}

async function openStream(engine: Engine, name: string): Promise<Stream> {
  const { Table: before } = await engine.describeTable({ TableName: name })
  if (!before?.StreamSpecification?.StreamEnabled) {
    await engine.updateTable({
      TableName: name,
      StreamSpecification: { StreamEnabled: true, StreamViewType: VIEW },
    })
  }
  const { Table: now } = await engine.describeTable({ TableName: name })
  const arn = now?.LatestStreamArn ?? ''
  const { StreamDescription } = await engine.describeStream({ StreamArn: arn })
  return { name, arn, shard: StreamDescription?.Shards?.[0]?.ShardId ?? '' }
}

async function endStream(engine: Engine, name: string): Promise<void> {
  const { Table: now } = await engine.describeTable({ TableName: name })
  const { StreamEnabled: isOn, StreamViewType: view } = now?.StreamSpecification ?? {}
  if (!isOn || view !== VIEW) return
  await engine.updateTable({ TableName: name, StreamSpecification: { StreamEnabled: false } })
}

async function iteratorOf(
  engine: Engine,
  { arn, shard, after }: Stream,
): Promise<string | undefined> {
  const request = { StreamArn: arn, ShardId: shard }
  const oldest = async () =>
    engine.getShardIterator({ ...request, ShardIteratorType: 'TRIM_HORIZON' })
  if (after === undefined) return (await oldest()).ShardIterator
  try {
    const output = await engine.getShardIterator({
      ...request,
      ShardIteratorType: 'AFTER_SEQUENCE_NUMBER',
      SequenceNumber: after,
    })
    return output.ShardIterator
  } catch (error) {
    // Changes are kept for a day. The comparison of all items finds what was changed before.
    if (!isNamed(error, 'TrimmedDataAccessException')) throw error
    return (await oldest()).ShardIterator
  }
}
