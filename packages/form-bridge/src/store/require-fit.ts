/**
 * An update tells the store what to change and not what the item then is, so its values are held
 * to the schema of the item before it goes out.
 */
import type { Item } from '@strongroom/kit/db'
import { ItemMismatch } from '@strongroom/kit/item-mismatch'
import type { z } from 'zod'
import { formBridgeTable } from '../table.ts'

export function requireFit<Schema extends z.ZodObject>(
  schema: Schema,
  key: Item,
  values: Partial<z.infer<Schema>>,
): void {
  const result = schema.partial().safeParse(values)
  if (!result.success) throw new ItemMismatch(formBridgeTable, key, 'write', result.error)
}
