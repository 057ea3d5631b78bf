/**
 * Turns a key condition into one value of the partition key and at most one range of the sort key. The
 * two conditions and their operands can be in any order, as in AWS.
 */
import { type DynamoError, validationError } from '../errors.ts'
import { typeOf, type Value } from '../values/types.ts'
import type { Condition } from './condition.ts'
import { operandsOf } from './named-paths.ts'
import type { Operand } from './operands.ts'
import type { Path } from './paths.ts'
import type { Comparator } from './syntax.ts'

export type KeyType = 'S' | 'N' | 'B'

export interface KeyAttribute {
  name: string
  type: KeyType
}

export interface KeySchema {
  partition: KeyAttribute
  sort?: KeyAttribute | undefined
}

export type SortOperator = '=' | '<' | '<=' | '>' | '>=' | 'BETWEEN' | 'begins_with'

export interface KeyCondition {
  partition: Value
  sort?: { op: SortOperator; values: Value[] }
}

export interface AttributeCondition {
  op: SortOperator
  values: Value[]
}

/** KeyConditions can also have comparisons that no key can be found by. */
export interface RequestedCondition {
  op: SortOperator | undefined
  values: Value[]
}

/** The conditions of a KeyConditionExpression by attribute. */
export function keyConditionsIn(condition: Condition): Map<string, AttributeCondition> {
  const conditions = new Map<string, AttributeCondition>()
  collect(condition, conditions)
  checkConditionCount(conditions.size)
  return conditions
}

export function checkConditionCount(count: number): void {
  if (count !== 1 && count !== 2) {
    throw validationError('Conditions can be of length 1 or 2 only')
  }
}

/** AWS checks the start key of a page attribute by attribute together with the conditions. */
export function planKeys(
  conditions: ReadonlyMap<string, RequestedCondition>,
  keySchema: KeySchema,
  checkStartKey?: (key: KeyAttribute) => void,
): KeyCondition {
  checkStartKey?.(keySchema.partition)
  if (conditions.size === 2 && !keySchema.sort) throw notSupported()
  const partition = conditionOn(conditions, keySchema.partition)
  if (partition.op !== '=') throw notSupported()
  assertNotEmpty(partition, keySchema.partition)
  const value = partition.values[0] as Value
  if (keySchema.sort) checkStartKey?.(keySchema.sort)
  if (conditions.size === 1 || !keySchema.sort) return { partition: value }
  const sort = conditionOn(conditions, keySchema.sort)
  assertNotEmpty(sort, keySchema.sort)
  return { partition: value, sort }
}

function notSupported(): DynamoError {
  return validationError('Query key condition not supported')
}

function conditionOn(
  conditions: ReadonlyMap<string, RequestedCondition>,
  { name, type }: KeyAttribute,
): AttributeCondition {
  const condition = conditions.get(name)
  if (!condition) throw validationError(`Query condition missed key schema element: ${name}`)
  const { op, values } = condition
  if (!op) throw validationError('Attempted conditional constraint is not an indexable operation')
  for (const value of values) {
    if (typeOf(value) === type) continue
    throw validationError(
      'One or more parameter values were invalid: Condition parameter type does not match schema type',
    )
  }
  return { op, values }
}

function assertNotEmpty({ values }: AttributeCondition, { name }: KeyAttribute): void {
  for (const value of values) {
    if (value !== '' && !(value instanceof Uint8Array && value.length === 0)) continue
    const kind = value === '' ? 'string' : 'binary'
    throw validationError(
      `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty ${kind} value. Key: ${name}`,
    )
  }
}

/** Groups the conditions by attribute; throws for anything that a key condition cannot contain. */
function collect(condition: Condition, conditions: Map<string, AttributeCondition>): void {
  switch (condition.type) {
    case 'and':
      for (const part of condition.conditions) collect(part, conditions)
      return
    case 'compare':
      if (condition.comparator === '<>') throw invalidOperator('<>')
      return collectComparison(condition.comparator, operandsOf(condition), conditions)
    case 'between':
      return collectRange('BETWEEN', operandsOf(condition), conditions)
    case 'begins_with':
      return collectRange('begins_with', operandsOf(condition), conditions)
    case 'exists':
      throw invalidOperator(condition.expected ? 'attribute_exists' : 'attribute_not_exists')
    case 'or':
    case 'not':
    case 'in':
      throw invalidOperator(condition.type.toUpperCase())
    case 'contains':
    case 'attribute_type':
      throw invalidOperator(condition.type)
  }
}

function invalidOperator(operator: string): DynamoError {
  return validationError(`Invalid operator used in KeyConditionExpression: ${operator}`)
}

function collectComparison(
  comparator: Exclude<Comparator, '<>'>,
  operands: readonly Operand[],
  conditions: Map<string, AttributeCondition>,
): void {
  const [left, right] = operands as [Operand, Operand]
  if (left.type === 'size' || right.type === 'size') throw nestedOperations()
  if (left.type === 'path' && right.type === 'path') throw severalNames()
  if (left.type === 'path' && right.type === 'value') {
    return add(conditions, left.path, comparator, [right.value])
  }
  if (right.type === 'path' && left.type === 'value') {
    return add(conditions, right.path, MIRRORED[comparator], [left.value])
  }
  throw invalidCondition('No key attribute specified')
}

const MIRRORED = { '=': '=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const

function collectRange(
  op: 'BETWEEN' | 'begins_with',
  operands: readonly Operand[],
  conditions: Map<string, AttributeCondition>,
): void {
  const [first, ...others] = operands as [Operand, ...Operand[]]
  if (first.type === 'size') throw nestedOperations()
  if (first.type !== 'path') {
    throw invalidCondition(`${op} operator must have the key attribute as its first operand`)
  }
  const values = others.map((other) => {
    if (other.type === 'value') return other.value
    throw other.type === 'path' ? severalNames() : nestedOperations()
  })
  add(conditions, first.path, op, values)
}

function nestedOperations(): DynamoError {
  return validationError('KeyConditionExpressions cannot contain nested operations')
}

function severalNames(): DynamoError {
  return invalidCondition('Multiple attribute names used in one condition')
}

function invalidCondition(problem: string): DynamoError {
  return validationError(`Invalid condition in KeyConditionExpression: ${problem}`)
}

function add(
  conditions: Map<string, AttributeCondition>,
  path: Path,
  op: SortOperator,
  values: Value[],
): void {
  if (path.length > 1) {
    throw validationError('KeyConditionExpressions cannot have conditions on nested attributes')
  }
  const name = path[0] as string
  if (conditions.has(name)) {
    throw validationError('KeyConditionExpressions must only contain one condition per key')
  }
  conditions.set(name, { op, values })
}
