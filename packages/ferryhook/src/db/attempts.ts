import { epochSeconds } from '@strongroom/kit/clock'
import type { TransactWriteItem } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { type Expression, expr } from '@strongroom/kit/expression'
import { type Attempt, AttemptItem, attemptKey, longestText } from '../items/delivery.ts'
import { EventRefItem, eventRefKey } from '../items/event.ts'
import { eventsTable } from '../table.ts'
import type { DataLayerDeps } from './deps.ts'
import { Refused } from './refused.ts'
import { isLive, live } from './times.ts'

/** What happened, as the one who attempted it saw it. */
export type AttemptResult = Pick<
  Attempt,
  'destinationUrl' | 'statusCode' | 'responseBody' | 'latencyMs' | 'error' | 'attemptedAt'
>

export type CreateAttemptInput = AttemptResult & {
  connectionId: string
  /** Of the delivery; 1 unless told. */
  run?: number
}

export function createAttempts({ db, clock }: Pick<DataLayerDeps, 'db' | 'clock'>) {
  const attempts = entity(db, eventsTable, AttemptItem)
  const refs = entity(db, eventsTable, EventRefItem)
  /** Or expired, which is the same although TTL has not deleted it yet. Made anew each second. */
  let [absentAt, absentNow]: [number, Expression | undefined] = [0, undefined]
  function absent(): Expression {
    const now = epochSeconds(clock)
    if (absentNow === undefined || absentAt !== now) {
      absentAt = now
      absentNow = expr`attribute_not_exists(${attempts.attr('PK')}) OR ${attempts.attr('expiresAt')} <= ${now}`
    }
    return absentNow
  }
  const exists = expr`attribute_exists(${attempts.attr('PK')})`

  async function stored(eventId: string): Promise<Attempt[]> {
    const { items } = await attempts.query({
      key: expr`${attempts.attr('PK')} = ${`EVT#${eventId}`} AND begins_with(${attempts.attr('SK')}, ${'ATT#'})`,
    })
    return items
  }

  return {
    /** On its own; a worker writes the attempt together with what follows from it. */
    async create(eventId: string, attemptNum: number, input: CreateAttemptInput): Promise<Attempt> {
      const ref = live(clock, await refs.get(eventRefKey.of({ eventId })))
      if (!ref) throw new Refused('not_found')
      const { connectionId, run = 1, ...result } = input
      const id = { eventId, connectionId, run, attemptNumber: attemptNum }
      const attempt = attemptItem(id, result, ref.expiresAt)
      await attempts.put(attempt, absent())
      return attempt
    },

    /** In the order of their numbers. */
    async listByEvent(eventId: string): Promise<Attempt[]> {
      return (await stored(eventId)).filter((attempt) => isLive(clock, attempt))
    },

    putPart: (
      id: Pick<Attempt, 'eventId' | 'connectionId' | 'run' | 'attemptNumber'>,
      result: AttemptResult,
      expiresAt: number,
    ): TransactWriteItem => attempts.part.put(attemptItem(id, result, expiresAt), absent()),

    /** Keeps the attempts of a delivery as long as the event is kept. */
    async keepParts(
      { eventId, connectionId }: Pick<Attempt, 'eventId' | 'connectionId'>,
      expiresAt: number,
    ): Promise<TransactWriteItem[]> {
      const keep = expr`SET ${attempts.attr('expiresAt')} = ${expiresAt}`
      return (await stored(eventId))
        .filter((attempt) => attempt.connectionId === connectionId && attempt.expiresAt < expiresAt)
        .toSorted((a, b) => a.attemptedAt - b.attemptedAt)
        .slice(-longestHistory)
        .map((attempt) => attempts.part.update(attemptKey.of(attempt), keep, exists))
    },
  }
}

/** A transaction has room for 100 parts; a delivery replayed that often loses its oldest attempts first. */
const longestHistory = 80

export type Attempts = ReturnType<typeof createAttempts>

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
  if (responseBody !== undefined) attempt.responseBody = beginning(responseBody)
  if (error !== undefined) attempt.error = beginning(error)
  return attempt
}

/** The first 1,000 characters, and never half of one. */
function beginning(text: string): string {
  const cut = text.slice(0, longestText)
  return cut.replace(/[\uD800-\uDBFF]$/, '')
}
