import type { Item } from '@strongroom/kit/db'
import { ItemMismatch } from '@strongroom/kit/db-errors'
import type { z } from 'zod'
import { formBridgeTable } from './tables.ts'

/** An update sends values and not the whole item, so they are checked against the schema first. */
export function checkValues<Schema extends z.ZodObject>(
  schema: Schema,
  key: Item,
  values: Partial<z.infer<Schema>>,
): void {
  const result = schema.partial().safeParse(values)
  if (!result.success) throw new ItemMismatch(formBridgeTable, key, 'write', result.error)
}
