/** Counts the items of a list without reading them all into memory, up to a limit. */
import type { Db, Item } from '@strongroom/kit/db'
import { type Expression, Placeholders } from '@strongroom/kit/expression'
import { formBridgeTable } from './tables.ts'

export interface Counted {
  count: number
  /** False if there may be more. */
  is_complete: boolean
}

const READ_SIZE = 1_000

/** Of a partition of GSI2. */
export async function countItems(
  db: Db,
  key: Expression,
  max: number,
  filter?: Expression,
): Promise<Counted> {
  const placeholders = new Placeholders()
  const request = {
    TableName: formBridgeTable.name,
    IndexName: 'GSI2',
    KeyConditionExpression: placeholders.render(key),
    ...(filter && { FilterExpression: placeholders.render(filter) }),
    ...placeholders.parameters(),
    Select: 'COUNT',
    Limit: READ_SIZE,
  } as const
  let count = 0
  let after: Item | undefined
  for (let examined = 0; examined < max; examined += READ_SIZE) {
    const page = await db.query({ ...request, ...(after && { ExclusiveStartKey: after }) })
    count += page.Count ?? 0
    after = page.LastEvaluatedKey
    if (!after) return { count, is_complete: true }
  }
  return { count, is_complete: false }
}
