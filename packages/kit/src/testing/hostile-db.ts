/**
 * A Db with the faults that AWS sometimes has and neither the embedded engine nor DynamoDB Local ever
 * shows: stale reads of indexes, conflicts between transactions, throttling, partly processed batches,
 * and responses that are lost after the write.
 *
 * Driven by a seed: the same seed and the same calls give the same faults.
 */
import { type Db, eachOperation, type Item, type PageOutput } from '../db.ts'

export interface Hostility {
  seed: number
  /** The probability of each fault, from 0 (never, the default) to 1 (always). */
  staleIndex?: number
  conflict?: number
  throttle?: number
  unprocessed?: number
  lostResponse?: number
}

/** Outputs of indexes that are kept, to be returned again as stale ones. */
const MAX_EARLIER_OUTPUTS = 200

export function hostileDb(db: Db, hostility: Hostility): Db {
  const random = seededRandom(hostility.seed)
  const strikes = (probability = 0) => probability > 0 && random() < probability
  const earlier = new Map<string, PageOutput>()

  async function write<T>(call: () => Promise<T>, conflicting: () => Error): Promise<T> {
    if (strikes(hostility.throttle)) throw throttled()
    if (strikes(hostility.conflict)) throw conflicting()
    const lost = strikes(hostility.lostResponse)
    const output = await call()
    if (lost) throw named('TimeoutError', 'The response was lost after the write')
    return output
  }

  async function read<T>(call: () => Promise<T>): Promise<T> {
    if (strikes(hostility.throttle)) throw throttled()
    return call()
  }

  /** A stale index returns what it returned before, or nothing. */
  async function readIndex(input: object, call: () => Promise<PageOutput>): Promise<PageOutput> {
    const request = JSON.stringify(input, toComparable)
    const before = earlier.get(request) ?? { Items: [], Count: 0, ScannedCount: 0 }
    if (strikes(hostility.staleIndex)) return before
    const output = await call()
    if (earlier.size >= MAX_EARLIER_OUTPUTS) earlier.clear()
    earlier.set(request, output)
    return output
  }

  /** Splits a batch into a processed and an unprocessed part; the first is never empty. */
  function split<T>(requests: T[]): { processed: T[]; unprocessed: T[] } {
    if (requests.length < 2 || !strikes(hostility.unprocessed))
      return { processed: requests, unprocessed: [] }
    const cut = 1 + Math.floor(random() * (requests.length - 1))
    return { processed: requests.slice(0, cut), unprocessed: requests.slice(cut) }
  }

  return {
    ...eachOperation((name) => (input) => db[name](input)),
    getItem: (input) => read(() => db.getItem(input)),
    query: (input) =>
      read(() => (input.IndexName ? readIndex(input, () => db.query(input)) : db.query(input))),
    scan: (input) =>
      read(() => (input.IndexName ? readIndex(input, () => db.scan(input)) : db.scan(input))),
    transactGetItems: (input) => read(() => db.transactGetItems(input)),

    putItem: (input) => write(() => db.putItem(input), conflict),
    updateItem: (input) => write(() => db.updateItem(input), conflict),
    deleteItem: (input) => write(() => db.deleteItem(input), conflict),
    transactWriteItems: (input) =>
      write(
        () => db.transactWriteItems(input),
        () => cancelled(input.TransactItems.length),
      ),

    async batchGetItem(input) {
      const now: typeof input.RequestItems = {}
      const later: typeof input.RequestItems = {}
      for (const [table, request] of Object.entries(input.RequestItems)) {
        const { processed, unprocessed } = split(request.Keys)
        now[table] = { ...request, Keys: processed }
        if (unprocessed.length > 0) later[table] = { ...request, Keys: unprocessed }
      }
      const output = await read(() => db.batchGetItem({ RequestItems: now }))
      return { ...output, UnprocessedKeys: { ...output.UnprocessedKeys, ...later } }
    },

    async batchWriteItem(input) {
      const now: typeof input.RequestItems = {}
      const later: typeof input.RequestItems = {}
      for (const [table, requests] of Object.entries(input.RequestItems)) {
        const { processed, unprocessed } = split(requests)
        now[table] = processed
        if (unprocessed.length > 0) later[table] = unprocessed
      }
      const output = await write(() => db.batchWriteItem({ RequestItems: now }), throttled)
      return { ...output, UnprocessedItems: { ...output.UnprocessedItems, ...later } }
    },
  }
}

function throttled(): Error {
  return named('ThrottlingException', 'Rate of requests exceeds the allowed throughput.')
}

function conflict(): Error {
  return named('TransactionConflictException', 'Transaction is ongoing for the item')
}

function cancelled(parts: number): Error {
  const reasons = Array.from({ length: parts }, (_, index): { Code: string; Item?: Item } => ({
    Code: index === 0 ? 'TransactionConflict' : 'None',
  }))
  return Object.assign(
    named(
      'TransactionCanceledException',
      'Transaction cancelled, please refer cancellation reasons for specific reasons [TransactionConflict]',
    ),
    { CancellationReasons: reasons },
  )
}

function named(name: string, message: string): Error {
  return Object.assign(new Error(message), { name })
}

function toComparable(_name: string, value: unknown): unknown {
  if (value instanceof Set) return [...value]
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value
}

/** The mulberry32 generator. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
