/**
 * Ends every secret that is over and was not ended at its time, because the process that should
 * have done it stopped. TTL would do it too, within two days.
 */
import { type Clock, epochSeconds } from '@strongroom/kit/clock'
import type { Db, Item } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { expr, Placeholders } from '@strongroom/kit/expression'
import { ItemMismatch } from '@strongroom/kit/item-mismatch'
import type { SecretStore } from './store.ts'
import { SecretItem, secretsTable } from './table.ts'

export interface Swept {
  looked: number
  /** When the first of those that are still being read is over; undefined if there is none. */
  again: number | undefined
  /** Items that cannot be read: one of them must not keep the others alive. */
  damaged: ItemMismatch[]
}

export async function sweep(options: {
  db: Db
  clock: Clock
  store: Pick<SecretStore, 'reduce'>
}): Promise<Swept> {
  const swept: Swept = { looked: 0, again: undefined, damaged: [] }
  for await (const id of endedIds(options.db, epochSeconds(options.clock))) {
    swept.looked++
    try {
      const again = await options.store.reduce(id)
      if (again !== undefined) swept.again = Math.min(again, swept.again ?? again)
    } catch (error) {
      if (!(error instanceof ItemMismatch)) throw error
      swept.damaged.push(error)
    }
  }
  return swept
}

/** The ids of all secrets that have expired, or have no view or no try left. */
async function* endedIds(db: Db, now: number): AsyncGenerator<string> {
  const { attr } = entity(db, secretsTable, SecretItem)
  const placeholders = new Placeholders()
  const filter = expr`attribute_exists(${attr('ciphertext')}) AND (${attr('expiresAt')} <= ${now}
    OR ${attr('remainingViews')} = ${0} OR ${attr('triesLeft')} = ${0})`
  const request = {
    TableName: secretsTable.name,
    FilterExpression: placeholders.render(filter),
    ProjectionExpression: placeholders.render(expr`${attr('id')}`),
    ...placeholders.parameters(),
    ConsistentRead: true,
  }
  let from: Item | undefined
  do {
    const page = await db.scan({ ...request, ...(from && { ExclusiveStartKey: from }) })
    for (const { id } of page.Items ?? []) if (typeof id === 'string') yield id
    from = page.LastEvaluatedKey
  } while (from)
}
