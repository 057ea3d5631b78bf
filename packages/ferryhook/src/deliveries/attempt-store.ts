import { epochSeconds } from '@strongroom/platform/clock'
import type { TransactWriteItem } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { type Expression, expr } from '@strongroom/kit/expression'
import { type Attempt, AttemptItem, attemptKey, MAX_TEXT_CHARACTERS } from './item.ts'
import { EventRefItem, eventRefKey } from '../events/item.ts'
import { eventsTable } from '../tables.ts'
import { absent, exists } from '../storage/conditions.ts'
import type { StoreDeps } from '../stores.ts'
import { WriteRejected } from '../storage/write-rejected.ts'
import { isUnexpired, unlessExpired } from '../storage/time.ts'

export type AttemptResult = Pick<
  Attempt,
  'destinationUrl' | 'statusCode' | 'responseBody' | 'latencyMs' | 'error' | 'attemptedAt'
>

export type CreateAttemptInput = AttemptResult & {
  connectionId: string
  /** The run of the delivery; defaults to 1. */
  run?: number
}

export function createAttemptStore({ db, clock }: Pick<StoreDeps, 'db' | 'clock'>) {
  const attempts = entity(db, eventsTable, AttemptItem)
  const refs = entity(db, eventsTable, EventRefItem)
  /** Absent, or expired and not yet deleted by TTL. Cached for a second, because every attempt needs it. */
  let [cachedAt, cachedCondition]: [number, Expression | undefined] = [0, undefined]
  function absentOrExpired(): Expression {
    const now = epochSeconds(clock)
    if (cachedCondition === undefined || cachedAt !== now) {
      cachedAt = now
      cachedCondition = expr`${absent} OR ${attempts.attr('expiresAt')} <= ${now}`
    }
    return cachedCondition
  }

  async function stored(eventId: string): Promise<Attempt[]> {
    const { items } = await attempts.query({
      key: expr`${attempts.attr('PK')} = ${`EVT#${eventId}`} AND begins_with(${attempts.attr('SK')}, ${'ATT#'})`,
    })
    return items
  }

  return {
    /** Writes an attempt only. Workers write it in the transaction of the outcome, see `settlement`. */
    async create(eventId: string, attemptNum: number, input: CreateAttemptInput): Promise<Attempt> {
      const ref = unlessExpired(clock, await refs.get(eventRefKey.of({ eventId })))
      if (!ref) throw new WriteRejected('not_found')
      const { connectionId, run = 1, ...result } = input
      const id = { eventId, connectionId, run, attemptNumber: attemptNum }
      const attempt = attemptItem(id, result, ref.expiresAt)
      await attempts.put(attempt, absentOrExpired())
      return attempt
    },

    /** In the order of their numbers. */
    async listByEvent(eventId: string): Promise<Attempt[]> {
      return (await stored(eventId)).filter((attempt) => isUnexpired(clock, attempt))
    },

    putPart: (
      id: Pick<Attempt, 'eventId' | 'connectionId' | 'run' | 'attemptNumber'>,
      result: AttemptResult,
      expiresAt: number,
    ): TransactWriteItem =>
      attempts.part.put(attemptItem(id, result, expiresAt), absentOrExpired()),

    /** Extends the expiry of a delivery's attempts to that of the event. */
    async extendExpiryParts(
      { eventId, connectionId }: Pick<Attempt, 'eventId' | 'connectionId'>,
      expiresAt: number,
    ): Promise<TransactWriteItem[]> {
      const extend = expr`SET ${attempts.attr('expiresAt')} = ${expiresAt}`
      return (await stored(eventId))
        .filter((attempt) => attempt.connectionId === connectionId && attempt.expiresAt < expiresAt)
        .toSorted((a, b) => a.attemptedAt - b.attemptedAt)
        .slice(-MAX_EXTENDED_ATTEMPTS)
        .map((attempt) => attempts.part.update(attemptKey.of(attempt), extend, exists))
    },
  }
}

/** A transaction takes 100 parts. A delivery with more attempts loses the oldest first. */
const MAX_EXTENDED_ATTEMPTS = 80

export type AttemptStore = ReturnType<typeof createAttemptStore>

function attemptItem(
  id: Pick<Attempt, 'eventId' | 'connectionId' | 'run' | 'attemptNumber'>,
  result: AttemptResult,
  expiresAt: number,
): Attempt {
  const { eventId, connectionId, run, attemptNumber } = id
  const { destinationUrl, statusCode, responseBody, latencyMs, error, attemptedAt } = result
  const { PK, SK } = attemptKey.of(id)
  const attempt: Attempt = {
    PK,
    SK,
    eventId,
    connectionId,
    attemptNumber,
    run,
    destinationUrl,
    statusCode,
    latencyMs,
    attemptedAt,
    expiresAt,
  }
  if (responseBody !== undefined) attempt.responseBody = truncate(responseBody)
  if (error !== undefined) attempt.error = truncate(error)
  return attempt
}

/** The first 1,000 characters, without half of a surrogate pair. */
function truncate(text: string): string {
  const cut = text.slice(0, MAX_TEXT_CHARACTERS)
  return cut.replace(/[\uD800-\uDBFF]$/, '')
}
