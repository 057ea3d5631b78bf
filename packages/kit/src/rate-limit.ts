/**
 * Rate limits that hold under any concurrency and on any number of machines.
 *
 * All limits of one caller (a minute, an hour, a day) are counted in one item and admitted by one
 * conditional update, all or none: one write for each admitted request and no read. Refused
 * requests are not counted, or a client that keeps trying would stay locked out for ever.
 */
import type { Clock } from './clock.ts'
import type { Db, Item } from './db.ts'
import { ConditionFailed, rethrowOutcome, StoreBusy } from './db-errors.ts'
import { Attr, expr, Expression, Placeholders } from './expression.ts'
import {
  allowance,
  type Cells,
  emptyCells,
  type RateLimit,
  rolled,
  secondsUntilAdmitted,
} from './sliding-window.ts'
import type { Table } from './table.ts'

export interface RateDecision {
  admitted: boolean
  /** The limit that refused, or the one that is nearest to it. */
  limit: RateLimit
  remaining: number
  /** Until the window of that limit ends. */
  resetSeconds: number
  /** 0 if admitted. */
  retryAfterSeconds: number
}

export interface RateLimiter {
  /** Counts one request of the caller whose counters the key names, if every limit allows it. */
  take(key: Item): Promise<RateDecision>
}

/** A failed attempt means that somebody else's succeeded, so few are ever needed. */
const ATTEMPTS = 20

/** Callers whose counters are remembered, so that a flood is refused without asking the store. */
const REMEMBERED_CALLERS = 10_000

export function createRateLimiter(options: {
  db: Db
  table: Table
  clock: Clock
  limits: [RateLimit, ...RateLimit[]]
}): RateLimiter {
  const { db, table, clock, limits } = options
  const remembered = new Map<string, Known>()

  return {
    async take(key) {
      const caller = JSON.stringify(key)
      let known = remembered.get(caller)
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const nowMs = clock.now()
        const counters = limits.map((rate, at): Counter => {
          const before = known?.[at]
          const cells = rolled(before ?? emptyCells, rate, nowMs)
          return { rate, before, cells, allowed: allowance(cells, rate, nowMs) }
        })
        // Counts only rise within a window, so what is remembered as full is full.
        if (counters.some(isFull)) return refused(counters, nowMs)
        const outcome = await count(key, counters, nowMs)
        known = outcome.stored && limits.map((rate) => cellsIn(rate, outcome.stored))
        remember(remembered, caller, known)
        if (outcome.counted) return admitted(counters, known, nowMs)
      }
      throw new StoreBusy('Cannot count a request: too many of the same caller at once')
    },
  }

  /** Tries to count one more on top of what is known; either way the answer tells what is stored. */
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
      return { counted: true, stored: Attributes }
    } catch (error) {
      if (error instanceof ConditionFailed) return { counted: false, stored: error.item }
      throw error
    }
  }
}

/** What the store was last seen to hold, limit by limit. */
type Known = (Cells | undefined)[]

interface Counter {
  rate: RateLimit
  /** As last seen in the store; undefined if nothing is there or nothing is known. */
  before: Cells | undefined
  /** As of now. */
  cells: Cells
  allowed: number
}

const isFull = ({ cells, allowed }: Counter) => cells.current >= allowed
const isCurrent = ({ before, cells }: Counter) => before?.window === cells.window

type Write = [update: Expression, condition: Expression]

/** One more in each of the windows that are stored, if each has room. */
function increment(counters: Counter[]): Write {
  return [
    joined(
      'ADD ',
      counters.map(({ rate }) => expr`${attr(rate, 'cur')} ${1}`),
      ', ',
    ),
    joined(
      '',
      counters.map(
        ({ rate, cells, allowed }) =>
          expr`${attr(rate, 'win')} = ${cells.window} AND ${attr(rate, 'cur')} < ${allowed}`,
      ),
      ' AND ',
    ),
  ]
}

/** Moves to the windows of now with one counted, if nobody has touched the counters since. */
function roll(counters: Counter[], table: Table, nowMs: number): Write {
  const keepSeconds = 2 * Math.max(...counters.map(({ rate }) => rate.windowSeconds))
  const settings = counters.flatMap(({ rate, cells }) => [
    expr`${attr(rate, 'win')} = ${cells.window}`,
    expr`${attr(rate, 'cur')} = ${cells.current + 1}`,
    expr`${attr(rate, 'prev')} = ${cells.previous}`,
  ])
  if (table.ttl) {
    const ttl = new Attr<number>([table.ttl])
    settings.push(expr`${ttl} = ${Math.ceil(nowMs / 1000) + keepSeconds}`)
  }
  const untouched = counters.map(({ rate, before }) =>
    before
      ? expr`${attr(rate, 'win')} = ${before.window} AND ${attr(rate, 'cur')} = ${before.current}`
      : expr`attribute_not_exists(${attr(rate, 'win')})`,
  )
  return [joined('SET ', settings, ', '), joined('', untouched, ' AND ')]
}

function admitted(counters: Counter[], stored: Known | undefined, nowMs: number): RateDecision {
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

function refused(counters: Counter[], nowMs: number): RateDecision {
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

/** The cells of a limit; undefined if it is newer than the item. */
function cellsIn({ name }: RateLimit, item: Item | undefined): Cells | undefined {
  if (item?.[`${name}_win`] === undefined) return undefined
  const number = (cell: string) => Number(item[`${name}_${cell}`] ?? 0)
  return { window: number('win'), current: number('cur'), previous: number('prev') }
}

function joined(start: string, parts: Expression[], separator: string): Expression {
  return new Expression([start, ...parts.slice(1).map(() => separator), ''], parts)
}

function remember(callers: Map<string, Known>, caller: string, cells: Known | undefined) {
  callers.delete(caller)
  if (cells) callers.set(caller, cells)
  const [oldest] = callers.keys()
  if (callers.size > REMEMBERED_CALLERS && oldest !== undefined) callers.delete(oldest)
}
