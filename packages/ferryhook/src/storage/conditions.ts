/** Conditions and key conditions that several stores use. */
import type { Value } from '@strongroom/kit/db'
import { Attr, Expression, expr } from '@strongroom/kit/expression'

const PK = new Attr<string>(['PK'])
const SK = new Attr<string>(['SK'])

/** The item exists. */
export const exists = expr`attribute_exists(${PK})`

/** No item with this key exists. */
export const absent = expr`attribute_not_exists(${PK})`

/** The attribute has this value; if the value is undefined, the item lacks the attribute. */
export function equalsOrAbsent<T>(attribute: Attr<T>, value: T): Expression {
  if (value === undefined) return expr`attribute_not_exists(${attribute})`
  return new Expression(['', ' = ', ''], [attribute, value as Value])
}

/** Selects the items of a partition whose sort key starts with this one. */
export function startsWith(key: { PK: string; SK: string }): Expression {
  return expr`${PK} = ${key.PK} AND begins_with(${SK}, ${key.SK})`
}

/** Selects the items with exactly this key of an index, such as `{ GSI3PK, GSI3SK }`. */
export function indexKey(key: Record<string, string>): Expression {
  const [[hashName, hash], [rangeName, range]] = Object.entries(key) as [Pair, Pair]
  return expr`${new Attr<string>([hashName])} = ${hash} AND ${new Attr<string>([rangeName])} = ${range}`
}

type Pair = [name: string, value: string]
