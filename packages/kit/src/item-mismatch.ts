import type { z } from 'zod'
import type { Item } from './db.ts'
import type { Table } from './table.ts'

/**
 * An item that does not fit its schema: a defect of ours when writing, a foreign or damaged item
 * when reading. Names table, key and attributes, never the values of the attributes.
 */
export class ItemMismatch extends Error {
  override readonly name = 'ItemMismatch'
  readonly table: string
  readonly key: Item
  /** The attributes at fault, as paths. */
  readonly attributes: string[]

  constructor(
    table: Table,
    item: Item,
    action: 'read' | 'write',
    { issues }: Pick<z.ZodError, 'issues'>,
  ) {
    const attributes = [...new Set(issues.flatMap(attributesOf))]
    super(`Cannot ${action} an item of ${table.name}: check ${attributes.join(', ')}`)
    this.table = table.name
    this.key = keyOf(table, item)
    this.attributes = attributes
  }
}

function attributesOf(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.join('.')
  if (issue.code !== 'unrecognized_keys') return [path]
  return issue.keys.map((key) => (path ? `${path}.${key}` : key))
}

function keyOf({ partitionKey, sortKey }: Table, item: Item): Item {
  const names = sortKey ? [partitionKey.name, sortKey.name] : [partitionKey.name]
  return Object.fromEntries(
    Object.entries(item).filter(([name, value]) => names.includes(name) && value !== undefined),
  )
}
