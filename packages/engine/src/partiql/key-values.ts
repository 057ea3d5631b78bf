/**
 * Finds the key values in a WHERE clause. Only comparisons with values that are joined by AND at the top
 * level count, because they must always hold.
 */
import { validationError } from '../errors.ts'
import type { Condition } from '../expressions/condition.ts'
import type { AttributeCondition } from '../expressions/key-condition.ts'
import type { KeyAttribute, TableRecord } from '../storage/storage.ts'
import { keyAttributes } from '../validation/keys.ts'
import { equal } from '../values/compare.ts'
import { type Item, setAttribute, typeOf, type Value } from '../values/types.ts'

/** The conditions that must all hold. */
export function conjuncts(where: Condition | undefined): Condition[] {
  if (!where) return []
  return where.type === 'and' ? where.conditions.flatMap(conjuncts) : [where]
}

export function allOf(conditions: readonly Condition[]): Condition | undefined {
  return conditions.length < 2 ? conditions[0] : { type: 'and', conditions }
}

/** The key of the item that a statement is about, and the remaining conditions on it. */
export interface OneItem {
  key: Item
  rest: Condition | undefined
}

/** Undefined unless the clause has an equality for every key attribute. */
export function oneItem(table: TableRecord, where: Condition | undefined): OneItem | undefined {
  let left = conjuncts(where)
  const key: Item = {}
  for (const attribute of keyAttributes(table.keys)) {
    const equalities = left.flatMap((condition) => {
      const comparison = comparisonOf(attribute.name, condition)
      return comparison?.op === '=' ? [{ condition, value: comparison.values[0] as Value }] : []
    })
    const [first, ...others] = equalities
    if (!first) return undefined
    if (others.some(({ value }) => !equal(value, first.value))) {
      throw validationError(
        `Multiple conditions on same key ${attribute.name}. Only single item Update/Insert/Delete are supported`,
      )
    }
    assertKeyType(attribute, first.value)
    setAttribute(key, attribute.name, first.value)
    left = left.filter((condition) => !equalities.some((used) => used.condition === condition))
  }
  return { key, rest: allOf(left) }
}

/** A comparison of the attribute with values that can be used for a key lookup. */
export function comparisonOf(name: string, condition: Condition): AttributeCondition | undefined {
  switch (condition.type) {
    case 'compare': {
      const { left, right, comparator } = condition
      if (comparator === '<>') return undefined
      if (isAttribute(name, left) && right.type === 'value') {
        return { op: comparator, values: [right.value] }
      }
      if (isAttribute(name, right) && left.type === 'value') {
        return { op: MIRRORED[comparator], values: [left.value] }
      }
      return undefined
    }
    case 'between': {
      const { operand, low, high } = condition
      if (!isAttribute(name, operand) || low.type !== 'value' || high.type !== 'value') {
        return undefined
      }
      return { op: 'BETWEEN', values: [low.value, high.value] }
    }
    case 'begins_with': {
      const { left, right } = condition
      if (!isAttribute(name, left) || right.type !== 'value') return undefined
      return { op: 'begins_with', values: [right.value] }
    }
    default:
      return undefined
  }
}

const MIRRORED = { '=': '=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const

/** The possible values of the attribute: from `=`, IN, or several of these joined by OR. */
export function choicesOf(name: string, condition: Condition): Value[] | undefined {
  if (condition.type === 'in') {
    if (!isAttribute(name, condition.operand)) return undefined
    const values = condition.choices.map((choice) =>
      choice.type === 'value' ? choice.value : undefined,
    )
    return values.some((value) => value === undefined) ? undefined : (values as Value[])
  }
  if (condition.type === 'or') {
    const parts = condition.conditions.map((part) => choicesOf(name, part))
    return parts.some((part) => !part) ? undefined : (parts.flat() as Value[])
  }
  const comparison = comparisonOf(name, condition)
  return comparison?.op === '=' ? comparison.values : undefined
}

function isAttribute(name: string, operand: { type: string; path?: readonly unknown[] }): boolean {
  return operand.type === 'path' && operand.path?.length === 1 && operand.path[0] === name
}

export function assertKeyType({ name, type }: KeyAttribute, value: Value): void {
  if (typeOf(value) === type) return
  throw validationError(
    `Key attribute's data type should match its data type in table's schema: Key ${name}`,
  )
}
