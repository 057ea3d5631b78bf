/** Transactions: all parts are written, or none. */
import { randomUUID } from 'node:crypto'
import type { Db, Item, TransactWriteItem } from './db.ts'
import { rethrowOutcome, TransactionFailed } from './db-errors.ts'

/**
 * Writes all parts, or throws TransactionFailed. With a token, `retryingDb` repeats the call when its
 * response is lost, and the store executes it once.
 */
export async function transact(
  db: Db,
  parts: TransactWriteItem[],
  options: { token?: string } = {},
): Promise<void> {
  await db
    .transactWriteItems({
      TransactItems: parts,
      ...(options.token && { ClientRequestToken: options.token }),
    })
    .catch(rethrowOutcome)
}

export type Transacted<N extends string> =
  | { kind: 'done' }
  /** The parts whose conditions failed, each with its stored item; undefined if there is none. */
  | { kind: 'refused'; by: ReadonlyMap<N, Item | undefined> }

/**
 * Writes named parts, so that failed conditions are reported by name instead of by position.
 * Parts that are undefined are left out.
 *
 * Each call has its own token. `retryingDb` repeats a call with a token when its response is
 * lost, and the store executes it once; so there is no loop here.
 */
export async function transactParts<N extends string>(
  db: Db,
  parts: Partial<Record<N, TransactWriteItem>>,
): Promise<Transacted<N>> {
  const names: N[] = []
  const TransactItems: TransactWriteItem[] = []
  for (const name of Object.keys(parts) as N[]) {
    const part = parts[name]
    if (!part) continue
    names.push(name)
    TransactItems.push(part)
  }
  try {
    await transact(db, TransactItems, { token: randomUUID() })
    return { kind: 'done' }
  } catch (error) {
    if (!(error instanceof TransactionFailed) || !error.conditionFailed()) throw error
    const by = new Map<N, Item | undefined>()
    names.forEach((name, part) => {
      if (error.conditionFailed(part)) by.set(name, error.reasons[part]?.item)
    })
    return { kind: 'refused', by }
  }
}
