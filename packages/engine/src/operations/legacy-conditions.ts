/**
 * Expected, QueryFilter, ScanFilter and KeyConditions, the predecessors of expressions. They are checked
 * with AWS's messages and converted to the same trees as expressions.
 */
import type { Comparison, Expectation } from '../db.ts'
import { validationError } from '../errors.ts'
import type { Condition } from '../expressions/condition.ts'
import type { AttributeCondition } from '../expressions/key-condition.ts'
import { compare } from '../values/order.ts'
import { checkAttributeName, type TypeName, typeOf, type Value } from '../values/types.ts'
import type { Form } from './form.ts'

type Operator = Comparison['ComparisonOperator']
type Join = 'AND' | 'OR' | null | undefined

/** QueryFilter or ScanFilter. */
export function readFilter(
  form: Form,
  filter: Record<string, Comparison> | null | undefined,
  join: Join,
): Condition | undefined {
  const conditions = namedEntries(filter).map(([name, { ComparisonOperator, ...rest }]) =>
    conditionOf(name, ComparisonOperator, readValues(form, rest.AttributeValueList)),
  )
  return joinConditions(conditions, join)
}

export function readExpected(
  form: Form,
  expected: Record<string, Expectation> | null | undefined,
  join: Join,
): Condition | undefined {
  const conditions = namedEntries(expected).map(([name, each]) => expectation(form, name, each))
  return joinConditions(conditions, join)
}

function namedEntries<T>(conditions: Record<string, T> | null | undefined): [string, T][] {
  const entries = Object.entries(conditions ?? {})
  for (const [name] of entries) checkAttributeName(name)
  return entries
}

/** The conditions on a key by attribute; the planner checks which of them a key allows. */
export function readKeyConditions(
  form: Form,
  conditions: Record<string, Comparison>,
): Map<string, AttributeCondition> {
  const entries = Object.entries(conditions)
  if (entries.length === 0 || entries.length > 2) {
    throw validationError('Conditions can be of length 1 or 2 only')
  }
  return new Map(
    entries.map(([name, { ComparisonOperator: operator, AttributeValueList }]) => {
      const values = readValues(form, AttributeValueList)
      checkComparison(operator, values)
      const op = KEY_OPERATORS[operator]
      if (op) return [name, { op, values }]
      throw validationError('Attempted conditional constraint is not an indexable operation')
    }),
  )
}

const KEY_OPERATORS: Partial<Record<Operator, AttributeCondition['op']>> = {
  EQ: '=',
  LT: '<',
  LE: '<=',
  GT: '>',
  GE: '>=',
  BETWEEN: 'BETWEEN',
  BEGINS_WITH: 'begins_with',
}

function readValues(form: Form, values: readonly unknown[] | null | undefined): Value[] {
  return (values ?? []).map((value) => form.ownValue(value))
}

function joinConditions(conditions: readonly Condition[], join: Join): Condition | undefined {
  if (join) {
    if (conditions.length === 0) {
      throw validationError('ConditionalOperator cannot be used without Filter or Expected')
    }
    if (conditions.length === 1) {
      throw validationError(
        'ConditionalOperator can only be used when Filter or Expected has two or more elements',
      )
    }
  }
  if (conditions.length < 2) return conditions[0]
  return { type: join === 'OR' ? 'or' : 'and', conditions }
}

function expectation(form: Form, name: string, expected: Expectation): Condition {
  const { ComparisonOperator: operator, AttributeValueList: list, Exists: exists } = expected
  const given = (value: unknown) => value !== undefined && value !== null
  const hasValue = form.isGiven(expected.Value)
  if (given(list) && hasValue) {
    throw invalid(`Value and AttributeValueList cannot be used together for Attribute: ${name}`)
  }
  const values = hasValue ? [form.ownValue(expected.Value)] : readValues(form, list)
  if (operator) {
    if (given(exists)) {
      throw invalid(`Exists and ComparisonOperator cannot be used together for Attribute: ${name}`)
    }
    if (operator !== 'NULL' && operator !== 'NOT_NULL' && !given(list) && !hasValue) {
      throw invalid(
        `Value or AttributeValueList must be used with ComparisonOperator: ${operator} for Attribute: ${name}`,
      )
    }
    return conditionOf(name, operator, values)
  }
  if (given(list)) {
    throw invalid(
      `AttributeValueList can only be used with a ComparisonOperator for Attribute: ${name}`,
    )
  }
  if (exists === false) {
    if (hasValue) throw invalid(`Value cannot be used when Exists is false for Attribute: ${name}`)
    return { type: 'exists', path: [name], expected: false }
  }
  if (!hasValue) {
    throw invalid(
      `Value must be provided when Exists is ${exists ?? 'null'} for Attribute: ${name}`,
    )
  }
  return conditionOf(name, 'EQ', values)
}

function conditionOf(name: string, operator: Operator, values: Value[]): Condition {
  checkComparison(operator, values)
  const left = { type: 'path', path: [name] } as const
  const [first, second] = values.map((value) => ({ type: 'value', value }) as const)
  switch (operator) {
    case 'NULL':
    case 'NOT_NULL':
      return { type: 'exists', path: left.path, expected: operator === 'NOT_NULL' }
    case 'IN':
      return {
        type: 'in',
        operand: left,
        choices: values.map((value) => ({ type: 'value', value })),
      }
    default:
  }
  // The number of values has been checked.
  if (!first) throw wrongCount(operator)
  switch (operator) {
    case 'BETWEEN':
      return { type: 'between', operand: left, low: first, high: second ?? first }
    case 'BEGINS_WITH':
      return { type: 'begins_with', left, right: first }
    case 'CONTAINS':
      return { type: 'contains', left, right: first }
    case 'NOT_CONTAINS': {
      // Unlike NOT contains(…), it is false if the attribute is missing.
      const contains: Condition = { type: 'contains', left, right: first }
      return {
        type: 'and',
        conditions: [
          { type: 'exists', path: left.path, expected: true },
          { type: 'not', count: 1, condition: contains },
        ],
      }
    }
    default:
      return { type: 'compare', comparator: COMPARATORS[operator], left, right: first }
  }
}

const COMPARATORS = { EQ: '=', NE: '<>', LT: '<', LE: '<=', GT: '>', GE: '>=' } as const

const SCALARS: readonly TypeName[] = ['S', 'N', 'B']
/** The types allowed for the values of a comparison; those not listed allow all types. */
const TYPES: Partial<Record<Operator, readonly TypeName[]>> = {
  LT: SCALARS,
  LE: SCALARS,
  GT: SCALARS,
  GE: SCALARS,
  IN: SCALARS,
  BETWEEN: SCALARS,
  BEGINS_WITH: ['S', 'B'],
  CONTAINS: [...SCALARS, 'BOOL', 'NULL'],
  NOT_CONTAINS: [...SCALARS, 'BOOL', 'NULL'],
}

function checkComparison(operator: Operator, values: readonly Value[]): void {
  if (!hasRightCount(operator, values.length)) throw wrongCount(operator)
  const [low, high] = values
  if (low === undefined) return
  const type = typeOf(low)
  if (values.some((value) => typeOf(value) !== type)) {
    throw invalid('AttributeValues inside AttributeValueList must be of same type')
  }
  if (!(TYPES[operator]?.includes(type) ?? true)) {
    throw invalid(`ComparisonOperator ${operator} is not valid for ${type} AttributeValue type`)
  }
  if (operator === 'BETWEEN' && high !== undefined && compare(low, high) > 0) {
    throw validationError(
      'The BETWEEN condition was provided a range where the lower bound is greater than the upper bound',
    )
  }
}

function hasRightCount(operator: Operator, count: number): boolean {
  if (operator === 'NULL' || operator === 'NOT_NULL') return count === 0
  if (operator === 'IN') return count > 0
  return count === (operator === 'BETWEEN' ? 2 : 1)
}

function wrongCount(operator: Operator): Error {
  return invalid(`Invalid number of argument(s) for the ${operator} ComparisonOperator`)
}

function invalid(reason: string): Error {
  return validationError(`One or more parameter values were invalid: ${reason}`)
}
