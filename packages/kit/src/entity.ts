/**
 * One kind of item in a table: its schema, and typed operations on it. Whole items are validated when
 * they are put and when they are read; the values of update expressions are checked by the compiler.
 *
 * The schema has the stored attribute names, so items are stored as they are. Unknown attributes are
 * rejected in both directions; a schema that allows them declares a `catchall`.
 */
import type { z } from 'zod'
import type { Db, Item, TransactWriteItem } from './db.ts'
import { ItemMismatch, rethrowOutcome } from './db-errors.ts'
import { Attr, type Expression, Placeholders } from './expression.ts'
import type { NumberValue } from './number-value.ts'
import { type Page, type PageQuery, queryPage } from './paging.ts'
import type { Table } from './table.ts'

export interface Entity<T, Key> {
  /** An attribute, or a path inside one, for expressions. */
  attr<Name extends keyof T & string, const Inner extends readonly Step[] = []>(
    name: Name,
    ...inner: [At<T[Name], Inner>] extends [never] ? never : Inner
  ): Attr<At<T[Name], Inner>>

  /** Reads consistently; `eventual` is cheaper and may be slightly stale. */
  get(key: Key, options?: { eventual?: boolean }): Promise<T | undefined>
  put(item: T, condition?: Expression): Promise<void>
  /** Returns the new item. Without a condition it creates a missing item. */
  update(key: Key, update: Expression, condition?: Expression): Promise<T>
  /** The same without returning the item, for large items. */
  change(key: Key, update: Expression, condition?: Expression): Promise<void>
  /** Returns the deleted item. */
  delete(key: Key, condition?: Expression): Promise<T | undefined>
  query(query: PageQuery): Promise<Page<T>>

  /** The same writes as parts of a transaction, see `transact.ts`. */
  part: {
    put(item: T, condition?: Expression): TransactWriteItem
    update(key: Key, update: Expression, condition?: Expression): TransactWriteItem
    delete(key: Key, condition?: Expression): TransactWriteItem
    check(key: Key, condition: Expression): TransactWriteItem
  }

  /** Validates a stored item from another source, such as `ConditionFailed.item`. */
  parse(stored: Item): T
}

type Step = string | number

type At<T, Path extends readonly Step[]> = Path extends readonly [infer Head, ...infer Rest]
  ? Rest extends readonly Step[]
    ? Head extends Inside<NonNullable<T>>
      ? At<NonNullable<T>[Head & keyof NonNullable<T>], Rest>
      : never
    : never
  : T

/** The steps into a value: indexes of a list, names of a map; strings, bytes and sets have none. */
type Inside<T> = T extends readonly unknown[]
  ? number
  : T extends string | number | boolean | Uint8Array | ReadonlySet<unknown> | NumberValue
    ? never
    : keyof T

export function entity<Schema extends z.ZodObject, Key extends string>(
  db: Db,
  table: Table<Key>,
  schema: Schema,
): Entity<z.infer<Schema>, Pick<z.infer<Schema>, Key & keyof z.infer<Schema>>> {
  type T = z.infer<Schema>
  type KeyOfT = Pick<T, Key & keyof T>
  const strict = schema.def.catchall ? schema : schema.strict()
  const TableName = table.name

  function validate(candidate: Item, action: 'write' | 'read'): T {
    const result = strict.safeParse(candidate)
    if (!result.success) throw new ItemMismatch(table, candidate, action, result.error)
    // A schema with a `catchall` would drop this name without an error.
    if (Object.hasOwn(candidate, '__proto__'))
      throw new ItemMismatch(table, candidate, action, { issues: [PROTO] })
    return result.data as T
  }

  const parse = (stored: Item): T => validate(stored, 'read')
  const parseIfAny = (stored: Item | undefined) => stored && parse(stored)

  const part = {
    put: (item: T, condition?: Expression) => ({
      Put: {
        TableName,
        Item: withoutUndefined(validate(item as Item, 'write')),
        ...when(condition),
      },
    }),
    update(key: KeyOfT, update: Expression, condition?: Expression) {
      const placeholders = new Placeholders()
      const UpdateExpression = placeholders.render(update)
      const conditions = whenBeside(condition, placeholders)
      return { Update: { TableName, Key: key as Item, UpdateExpression, ...conditions } }
    },
    delete: (key: KeyOfT, condition?: Expression) => ({
      Delete: { TableName, Key: key as Item, ...when(condition) },
    }),
    check(key: KeyOfT, condition: Expression) {
      const placeholders = new Placeholders()
      const ConditionExpression = placeholders.render(condition)
      const conditions = { ConditionExpression, ...ALL_OLD, ...placeholders.parameters() }
      return { ConditionCheck: { TableName, Key: key as Item, ...conditions } }
    },
  }

  return {
    attr: (name, ...inner) => new Attr([name, ...(inner as readonly Step[])]),

    async get(key, { eventual = false } = {}) {
      const { Item: stored } = await db.getItem({
        TableName,
        Key: key as Item,
        ConsistentRead: !eventual,
      })
      return parseIfAny(stored)
    },

    async put(item, condition) {
      await db.putItem(part.put(item, condition).Put).catch(rethrowOutcome)
    },

    async update(key, update, condition) {
      const input = part.update(key, update, condition).Update
      const { Attributes = {} } = await db
        .updateItem({ ...input, ReturnValues: 'ALL_NEW' })
        .catch(rethrowOutcome)
      return parse(Attributes)
    },

    async change(key, update, condition) {
      await db.updateItem(part.update(key, update, condition).Update).catch(rethrowOutcome)
    },

    async delete(key, condition) {
      const input = part.delete(key, condition).Delete
      const { Attributes } = await db
        .deleteItem({ ...input, ReturnValues: 'ALL_OLD' })
        .catch(rethrowOutcome)
      return parseIfAny(Attributes)
    },

    query: (query) => queryPage(db, table, query, parse),
    part,
    parse,
  }
}

const PROTO: z.core.$ZodIssue = {
  code: 'unrecognized_keys',
  keys: ['__proto__'],
  path: [],
  message: 'Cannot be an attribute name',
}

// A failed condition returns the stored item, so that finding the reason needs no second read.
const ALL_OLD = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const

type Conditions = Pick<
  NonNullable<TransactWriteItem['Put']>,
  'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
>

/** Most conditions are created once and used for every write, so they are rendered once. */
const renderedConditions = new WeakMap<Expression, Conditions>()

function when(condition: Expression | undefined): Conditions {
  if (!condition) return {}
  let known = renderedConditions.get(condition)
  if (!known) {
    known = whenBeside(condition, new Placeholders())
    renderedConditions.set(condition, known)
  }
  return known
}

/** For a condition that shares its placeholders with an update. */
function whenBeside(condition: Expression | undefined, placeholders: Placeholders): Conditions {
  if (!condition) return placeholders.parameters()
  const ConditionExpression = placeholders.render(condition)
  return { ConditionExpression, ...ALL_OLD, ...placeholders.parameters() }
}

/** An optional attribute that is undefined is not stored. */
function withoutUndefined(item: object): Item {
  const isComplete = Object.values(item).every((value) => value !== undefined)
  if (isComplete) return item as Item
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined))
}
