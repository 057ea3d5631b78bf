/**
 * Rate limits that hold under any concurrency and on any number of machines.
 *
 * All limits of one caller (per minute, hour, day) are counted in one item by one conditional update,
 * all or none: one write for each admitted request and no read. Rejected requests are not counted, or
 * a client that keeps retrying would stay locked out.
 */
import type { Clock } from '@strongroom/platform/clock'
import { LRUCache } from 'lru-cache'
import type { Db, Item } from './db.ts'
import { ConditionFailed, rethrowOutcome, StoreBusy } from './db-errors.ts'
import { Attr, expr, Expression, Placeholders } from './expression.ts'
import { CONFLICT, retryOnConflict } from './retry-on-conflict.ts'
import {
  allowance,
  type Cells,
  emptyCells,
  type RateLimit,
  rollCells,
  secondsUntilAdmitted,
} from './sliding-window.ts'
import type { Table } from './table.ts'

export interface RateDecision {
  admitted: boolean
  /** The limit that was exceeded, or the one with the fewest requests left. */
  limit: RateLimit
  remaining: number
  /** Seconds until the window of that limit ends. */
  resetSeconds: number
  /** 0 if admitted. */
  retryAfterSeconds: number
}

export interface RateLimiter {
  /** Counts one request of a caller, whose counters are stored under the key, if every limit allows it. */
  take(key: Item): Promise<RateDecision>
  /** The requests that count against each limit now. */
  usage(key: Item): Promise<{ rate: RateLimit; used: number }[]>
}

const MAX_ATTEMPTS = 20

/** The counters of these callers are cached, so that a flood is rejected without calling the store. */
const MAX_CACHED_CALLERS = 10_000

export function createRateLimiter(options: {
  db: Db
  table: Table
  clock: Clock
  limits: [RateLimit, ...RateLimit[]]
}): RateLimiter {
  const { db, table, clock, limits } = options
  const cache = new LRUCache<string, KnownCells>({ max: MAX_CACHED_CALLERS })

  return {
    async take(key) {
      const caller = JSON.stringify(key)
      let known = cache.get(caller)
      return retryOnConflict<RateDecision>(
        async () => {
          const nowMs = clock.now()
          const counters = limits.map((rate, at): Counter => {
            const before = known?.[at]
            const cells = rollCells(before ?? emptyCells, rate, nowMs)
            return { rate, before, cells, allowed: allowance(cells, rate, nowMs) }
          })
          // Counts only rise within a window, so a cached counter that is full is full.
          if (counters.some(isFull)) return toRejected(counters, nowMs)
          const { isCounted, stored } = await count(key, counters, nowMs)
          // A conflict returns the stored item, from which the next attempt starts without a read.
          known = stored && limits.map((rate) => cellsIn(rate, stored))
          if (known) cache.set(caller, known)
          else cache.delete(caller)
          return isCounted ? toAdmitted(counters, known, nowMs) : CONFLICT
        },
        {
          maxAttempts: MAX_ATTEMPTS,
          exhausted: () =>
            new StoreBusy('Too many concurrent requests of one caller. Retry later.'),
        },
      )
    },

    async usage(key) {
      const nowMs = clock.now()
      const { Item: stored } = await db.getItem({
        TableName: table.name,
        Key: key,
        ConsistentRead: true,
      })
      return limits.map((rate) => {
        const cells = rollCells(cellsIn(rate, stored) ?? emptyCells, rate, nowMs)
        return { rate, used: cells.current + rate.limit - allowance(cells, rate, nowMs) }
      })
    },
  }

  /** Tries to count one more on top of the known cells; returns the stored item in either case. */
  async function count(key: Item, counters: Counter[], nowMs: number) {
    const placeholders = new Placeholders()
    const [update, condition] = counters.every(isCurrent)
      ? increment(counters)
      : roll(counters, table, nowMs)
    try {
      const { Attributes } = await db
        .updateItem({
          TableName: table.name,
          Key: key,
          UpdateExpression: placeholders.render(update),
          ConditionExpression: placeholders.render(condition),
          ...placeholders.parameters(),
          ReturnValues: 'ALL_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        })
        .catch(rethrowOutcome)
      return { isCounted: true, stored: Attributes }
    } catch (error) {
      if (error instanceof ConditionFailed) return { isCounted: false, stored: error.item }
      throw error
    }
  }
}

/** The cells that were last read from the store, in the order of the limits. */
type KnownCells = (Cells | undefined)[]

interface Counter {
  rate: RateLimit
  /** As last read from the store; undefined if unknown or not stored. */
  before: Cells | undefined
  /** At the current time. */
  cells: Cells
  allowed: number
}

const isFull = ({ cells, allowed }: Counter) => cells.current >= allowed
const isCurrent = ({ before, cells }: Counter) => before?.window === cells.window

type Write = [update: Expression, condition: Expression]

/** Adds one to each of the stored windows, if each has room. */
function increment(counters: Counter[]): Write {
  return [
    join(
      'ADD ',
      counters.map(({ rate }) => expr`${attr(rate, 'cur')} ${1}`),
      ', ',
    ),
    join(
      '',
      counters.map(
        ({ rate, cells, allowed }) =>
          expr`${attr(rate, 'win')} = ${cells.window} AND ${attr(rate, 'cur')} < ${allowed}`,
      ),
      ' AND ',
    ),
  ]
}

/** Moves to the current windows with one counted, if the counters have not changed since. */
function roll(counters: Counter[], table: Table, nowMs: number): Write {
  const ttlSeconds = 2 * Math.max(...counters.map(({ rate }) => rate.windowSeconds))
  const assignments = counters.flatMap(({ rate, cells }) => [
    expr`${attr(rate, 'win')} = ${cells.window}`,
    expr`${attr(rate, 'cur')} = ${cells.current + 1}`,
    expr`${attr(rate, 'prev')} = ${cells.previous}`,
  ])
  if (table.ttl) {
    const ttl = new Attr<number>([table.ttl])
    assignments.push(expr`${ttl} = ${Math.ceil(nowMs / 1000) + ttlSeconds}`)
  }
  const unchanged = counters.map(({ rate, before }) =>
    before
      ? expr`${attr(rate, 'win')} = ${before.window} AND ${attr(rate, 'cur')} = ${before.current}`
      : expr`attribute_not_exists(${attr(rate, 'win')})`,
  )
  return [join('SET ', assignments, ', '), join('', unchanged, ' AND ')]
}

function toAdmitted(
  counters: Counter[],
  stored: KnownCells | undefined,
  nowMs: number,
): RateDecision {
  const left = counters.map(({ rate, cells, allowed }, at) => ({
    rate,
    cells,
    remaining: Math.max(0, allowed - (stored?.[at] ?? cells).current),
  }))
  const nearest = left.reduce((least, each) => (each.remaining < least.remaining ? each : least))
  return {
    admitted: true,
    limit: nearest.rate,
    remaining: nearest.remaining,
    resetSeconds: resetSeconds(nearest, nowMs),
    retryAfterSeconds: 0,
  }
}

function toRejected(counters: Counter[], nowMs: number): RateDecision {
  const waits = counters.map(({ rate, cells }) => ({
    rate,
    cells,
    seconds: secondsUntilAdmitted(cells, rate, nowMs),
  }))
  const longest = waits.reduce((most, each) => (each.seconds > most.seconds ? each : most))
  return {
    admitted: false,
    limit: longest.rate,
    remaining: 0,
    resetSeconds: resetSeconds(longest, nowMs),
    retryAfterSeconds: longest.seconds,
  }
}

function resetSeconds({ rate, cells }: Pick<Counter, 'rate' | 'cells'>, nowMs: number): number {
  return Math.ceil(cells.window + rate.windowSeconds - nowMs / 1000)
}

function attr({ name }: RateLimit, cell: 'win' | 'cur' | 'prev'): Attr<number> {
  return new Attr([`${name}_${cell}`])
}

/** The cells of a limit; undefined if the limit is newer than the item. */
function cellsIn({ name }: RateLimit, item: Item | undefined): Cells | undefined {
  if (item?.[`${name}_win`] === undefined) return undefined
  const number = (cell: string) => Number(item[`${name}_${cell}`] ?? 0)
  return { window: number('win'), current: number('cur'), previous: number('prev') }
}

function join(start: string, parts: Expression[], separator: string): Expression {
  return new Expression([start, ...parts.slice(1).map(() => separator), ''], parts)
}
