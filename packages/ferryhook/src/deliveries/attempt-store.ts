import { epochSeconds } from '@strongroom/platform/clock'
import type { TransactWriteItem } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { type Expression, expr } from '@strongroom/kit/expression'
import { type Attempt, AttemptItem, attemptKey, MAX_TEXT_CHARACTERS } from './item.ts'
import { eventsTable } from '../tables.ts'
import { absent, exists } from '../storage/conditions.ts'
import type { StoreDeps } from '../stores.ts'
import { isUnexpired } from '../storage/time.ts'

export type AttemptResult = Pick<
  Attempt,
  | 'destinationUrl'
  | 'statusCode'
  | 'requestHeaders'
  | 'requestBodyHash'
  | 'responseHeaders'
  | 'responseBody'
  | 'latencyMs'
  | 'error'
  | 'attemptedAt'
>

export type CreateAttemptInput = AttemptResult & {
  connectionId: string
  /** The run of the delivery. */
  run: number
  /** That of the event. */
  expiresAt: number
}

export function createAttemptStore({ db, clock }: Pick<StoreDeps, 'db' | 'clock'>) {
  const attempts = entity(db, eventsTable, AttemptItem)
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
    /** A part of the transaction that settles the attempt, see `settlement`. */
    create: (eventId: string, attemptNum: number, input: CreateAttemptInput): TransactWriteItem =>
      attempts.part.put(attemptItem(eventId, attemptNum, input), absentOrExpired()),

    /** In the order of their numbers. */
    async listByEvent(eventId: string): Promise<Attempt[]> {
      return (await stored(eventId)).filter((attempt) => isUnexpired(clock, attempt))
    },

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

function attemptItem(eventId: string, attemptNumber: number, input: CreateAttemptInput): Attempt {
  const { connectionId, run, destinationUrl, statusCode, responseBody } = input
  const { latencyMs, error, attemptedAt, expiresAt } = input
  const { PK, SK } = attemptKey.of({ eventId, attemptNumber, connectionId, run })
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
  if (input.requestHeaders !== undefined) attempt.requestHeaders = input.requestHeaders
  if (input.requestBodyHash !== undefined) attempt.requestBodyHash = input.requestBodyHash
  if (input.responseHeaders !== undefined) attempt.responseHeaders = input.responseHeaders
  if (responseBody !== undefined) attempt.responseBody = truncate(responseBody)
  if (error !== undefined) attempt.error = truncate(error)
  return attempt
}

/** The first 1,000 characters, without half of a surrogate pair. */
function truncate(text: string): string {
  const cut = text.slice(0, MAX_TEXT_CHARACTERS)
  return cut.replace(/[\uD800-\uDBFF]$/, '')
}
