// Streams: logs that outlive their tables. A stream is closed when it is disabled or its table is
// dropped; it can be read until its retention ends.

import { type Position, readChanges, SEQUENCE_KEY, type Change } from './changes.ts'
import type { Environment } from '../lmdb/lmdb.ts'
import type { ImageView, KeySchema, LogRecord, TableRecord } from '../storage.ts'
import type { Transaction } from '../transaction.ts'

export interface StreamRecord {
  /** The id of its log. */
  id: number
  tableName: string
  keys: KeySchema
  view: ImageView
  /** The time at which it began, as text; unique among the streams of a table. */
  label: string
  /** Milliseconds since the epoch. */
  createdAt: number
  keepMs: number
  /** Changes of this stream have higher sequence numbers. */
  start: number
  /** Changes up to this sequence number were removed by retention. */
  trimmed: number
  closed?: { at: number; sequence: number }
}

const ALL_STREAMS = { start: ['stream'], end: ['stream!'] }

export function streamKey(id: number): (string | number)[] {
  return ['stream', id]
}

export function* allStreams(env: Environment): Iterable<StreamRecord> {
  for (const { value } of env.meta.getRange(ALL_STREAMS)) yield value as StreamRecord
}

/** Opens a stream; returns its label. */
export function openStream(tx: Transaction, table: TableRecord, log: LogRecord): string {
  let createdAt = log.createdAt
  for (const other of allStreams(tx.env)) {
    if (other.tableName === table.name) createdAt = Math.max(createdAt, other.createdAt + 1)
  }
  const { sequence } = tx.position()
  const label = new Date(createdAt).toISOString().slice(0, -1)
  const stream: StreamRecord = {
    id: log.id,
    tableName: table.name,
    keys: table.keys,
    view: log.view,
    label,
    createdAt,
    keepMs: log.keepMs,
    start: sequence,
    trimmed: sequence,
  }
  tx.putMeta(streamKey(log.id), stream)
  return label
}

export function closeStream(tx: Transaction, id: number, now: number): void {
  const stream = tx.env.meta.get(streamKey(id)) as StreamRecord | undefined
  if (stream === undefined) return
  const { sequence } = tx.position()
  tx.putMeta(streamKey(id), { ...stream, closed: { at: now, sequence } } satisfies StreamRecord)
}

export class Streams {
  readonly #env: Environment

  constructor(env: Environment) {
    this.#env = env
  }

  /** Oldest first. */
  all(): StreamRecord[] {
    return [...allStreams(this.#env)]
  }

  find(tableName: string, label: string): StreamRecord | undefined {
    for (const stream of allStreams(this.#env)) {
      if (stream.tableName === tableName && stream.label === label) return stream
    }
    return undefined
  }

  /** The sequence number of the last change of any table. */
  latest(): number {
    return (this.#env.meta.get(SEQUENCE_KEY) as Position | undefined)?.sequence ?? 0
  }

  /** Leave the loop normally (break, return, throw), so that the snapshot is released. */
  changes({ id }: StreamRecord, after: number, limit: number): Iterable<Change> {
    return readChanges(this.#env, id, { after, limit })
  }
}
