/**
 * A Db that does to its callers what AWS does now and then and neither the embedded engine nor
 * DynamoDB Local ever shows: stale reads of indexes, conflicts between transactions, throttling,
 * batches done in part, and answers that get lost after the write.
 *
 * Driven by a seed: the same seed and the same calls give the same faults.
 */
import { type Db, eachOperation, type Item, type PageOutput } from '../db.ts'

export interface Hostility {
  seed: number
  /** How likely each fault is, from 0 (never) to 1 (always). Left out: 0. */
  staleIndex?: number
  conflict?: number
  throttle?: number
  unprocessed?: number
  lostResponse?: number
}

/** How many answers of an index are remembered, to be given again as stale ones. */
const REMEMBERED_ANSWERS = 200

export function hostileDb(db: Db, hostility: Hostility): Db {
  const random = seededRandom(hostility.seed)
  const strikes = (probability = 0) => probability > 0 && random() < probability
  const earlier = new Map<string, PageOutput>()

  async function write<T>(call: () => Promise<T>, conflicting: () => Error): Promise<T> {
    if (strikes(hostility.throttle)) throw throttled()
    if (strikes(hostility.conflict)) throw conflicting()
    const lost = strikes(hostility.lostResponse)
    const answer = await call()
    if (lost) throw named('TimeoutError', 'The answer got lost after the write')
    return answer
  }

  async function read<T>(call: () => Promise<T>): Promise<T> {
    if (strikes(hostility.throttle)) throw throttled()
    return call()
  }

  /** An index may be behind: it then answers as it did before, or as if nothing were there yet. */
  async function readIndex(input: object, call: () => Promise<PageOutput>): Promise<PageOutput> {
    const question = JSON.stringify(input, comparable)
    const before = earlier.get(question) ?? { Items: [], Count: 0, ScannedCount: 0 }
    if (strikes(hostility.staleIndex)) return before
    const answer = await call()
    if (earlier.size >= REMEMBERED_ANSWERS) earlier.clear()
    earlier.set(question, answer)
    return answer
  }

  /** Splits a batch into what is done now and what is left undone; something is always done. */
  function split<T>(requests: T[]): { done: T[]; undone: T[] } {
    if (requests.length < 2 || !strikes(hostility.unprocessed))
      return { done: requests, undone: [] }
    const cut = 1 + Math.floor(random() * (requests.length - 1))
    return { done: requests.slice(0, cut), undone: requests.slice(cut) }
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
        const { done, undone } = split(request.Keys)
        now[table] = { ...request, Keys: done }
        if (undone.length > 0) later[table] = { ...request, Keys: undone }
      }
      const output = await read(() => db.batchGetItem({ RequestItems: now }))
      return { ...output, UnprocessedKeys: { ...output.UnprocessedKeys, ...later } }
    },

    async batchWriteItem(input) {
      const now: typeof input.RequestItems = {}
      const later: typeof input.RequestItems = {}
      for (const [table, requests] of Object.entries(input.RequestItems)) {
        const { done, undone } = split(requests)
        now[table] = done
        if (undone.length > 0) later[table] = undone
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

function comparable(_name: string, value: unknown): unknown {
  if (value instanceof Set) return [...value]
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value
}

/** mulberry32: small, fast, and the same everywhere. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
