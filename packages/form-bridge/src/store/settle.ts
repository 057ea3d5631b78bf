/**
 * Transactions by the names of their parts.
 *
 * A transaction whose answer got lost is repeated with the same token, which the store remembers
 * for ten minutes: it then answers as it did, and nobody is left with credentials that were made
 * and never delivered.
 */
import { randomUUID } from 'node:crypto'
import type { Db, Item, TransactWriteItem } from '@strongroom/kit/db'
import { isNamed, TransactionFailed } from '@strongroom/kit/db-errors'
import { transact } from '@strongroom/kit/entity'

type Parts<Name extends string> = Partial<Record<Name, TransactWriteItem>>

/** Whose conditions did not hold, each with the item as it stood; undefined if all was written. */
export type Refusal<Name extends string> = Map<Name, Item | undefined>

const ATTEMPTS = 4

/** What says nothing of whether the write happened. */
const lostAnswers = [
  'TimeoutError',
  'NetworkingError',
  'InternalServerError',
  'TransactionInProgressException',
]

export async function settle<Name extends string>(
  db: Db,
  parts: Parts<Name>,
): Promise<Refusal<Name> | undefined> {
  const names = Object.keys(parts) as Name[]
  const token = randomUUID()
  for (let attempt = 1; ; attempt++) {
    try {
      await transact(
        db,
        Object.values<TransactWriteItem>(parts as Record<Name, TransactWriteItem>),
        {
          token,
        },
      )
      return undefined
    } catch (error) {
      const refusal = refusalIn(error, names)
      if (refusal) return refusal
      if (attempt >= ATTEMPTS || !isNamed(error, ...lostAnswers)) throw error
    }
  }
}

function refusalIn<Name extends string>(error: unknown, names: Name[]): Refusal<Name> | undefined {
  if (!(error instanceof TransactionFailed)) return undefined
  const refused = names.flatMap((name, part): [Name, Item | undefined][] =>
    error.conditionFailed(part) ? [[name, error.reasons[part]?.item]] : [],
  )
  return refused.length > 0 ? new Map(refused) : undefined
}
