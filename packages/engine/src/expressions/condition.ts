/**
 * Conditions ready for evaluation: parsed once per text, then bound to the placeholders of a request.
 *
 * Binding makes the checks that AWS makes before it reads an item, in AWS's order: operands before their
 * operator, from left to right. A condition that does not fit the types of an item is false, not an
 * error.
 */
import { compare } from '../values/order.ts'
import { numberText } from '../values/numbers.ts'
import { NumberValue, type TypeName, typeOf, type Value } from '../values/types.ts'
import { cachedByText } from './cache.ts'
import { checkConditionSyntax } from './check-syntax.ts'
import {
  assertDistinct,
  assertOperandCount,
  bindPath,
  bindValue,
  incorrectType,
  type Operand,
  requiresPath,
  staticType,
} from './operands.ts'
import { conditionSyntax } from './parse-condition.ts'
import { expressionError } from './parser.ts'
import type { Path } from './paths.ts'
import type { Placeholders } from './placeholders.ts'
import type { CallSyntax, Comparator, ConditionSyntax, OperandSyntax } from './syntax.ts'

export type ConditionKind = 'ConditionExpression' | 'FilterExpression' | 'KeyConditionExpression'

export type Condition =
  | { readonly type: 'exists'; readonly path: Path; readonly expected: boolean }
  | { readonly type: 'attribute_type'; readonly operand: Operand; readonly name: string }
  | { readonly type: 'begins_with' | 'contains'; readonly left: Operand; readonly right: Operand }
  | {
      readonly type: 'compare'
      readonly comparator: Comparator
      readonly left: Operand
      readonly right: Operand
    }
  | {
      readonly type: 'between'
      readonly operand: Operand
      readonly low: Operand
      readonly high: Operand
    }
  | { readonly type: 'in'; readonly operand: Operand; readonly choices: readonly Operand[] }
  | { readonly type: 'not'; readonly count: number; readonly condition: Condition }
  | { readonly type: 'and' | 'or'; readonly conditions: readonly Condition[] }

const MAX_OPERATORS = 300
const MAX_CHOICES = 100
const TYPE_NAMES: ReadonlySet<string> = new Set<TypeName>([
  'S',
  'N',
  'B',
  'BOOL',
  'NULL',
  'L',
  'M',
  'SS',
  'NS',
  'BS',
])

const parsers: Record<ConditionKind, (text: string) => ConditionSyntax> = {
  ConditionExpression: cachedParser('ConditionExpression'),
  FilterExpression: cachedParser('FilterExpression'),
  KeyConditionExpression: cachedParser('KeyConditionExpression'),
}

function cachedParser(kind: ConditionKind) {
  return cachedByText((text) => {
    const syntax = conditionSyntax(kind, text)
    checkConditionSyntax(kind, syntax)
    return syntax
  })
}

export function parseCondition(
  text: string,
  kind: ConditionKind,
  placeholders: Placeholders,
): Condition {
  return bindCondition(kind, parsers[kind](text), placeholders)
}

export function bindCondition(
  kind: ConditionKind,
  syntax: ConditionSyntax,
  placeholders: Placeholders,
): Condition {
  return new Binder(kind, placeholders).condition(syntax)
}

class Binder {
  readonly #kind: ConditionKind
  readonly #placeholders: Placeholders
  #operators = 0

  constructor(kind: ConditionKind, placeholders: Placeholders) {
    this.#kind = kind
    this.#placeholders = placeholders
  }

  condition(syntax: ConditionSyntax): Condition {
    switch (syntax.type) {
      case 'call':
        return this.#function(syntax)
      case 'compare':
        return this.#comparison(syntax)
      case 'between':
        return this.#between(syntax)
      case 'in':
        return this.#in(syntax)
      case 'not': {
        const condition = this.condition(syntax.condition)
        this.#count(syntax.count)
        return { type: 'not', count: syntax.count, condition }
      }
      case 'and':
      case 'or': {
        const conditions = syntax.conditions.map((part) => this.condition(part))
        this.#count(conditions.length - 1)
        return { type: syntax.type, conditions }
      }
    }
  }

  #operand(syntax: OperandSyntax): Operand {
    if (syntax.type === 'path') {
      return { type: 'path', path: bindPath(this.#kind, syntax, this.#placeholders) }
    }
    if (syntax.type === 'value') {
      return { type: 'value', value: bindValue(this.#kind, syntax, this.#placeholders) }
    }
    return this.#size(syntax)
  }

  #size(syntax: CallSyntax): Operand {
    const operands = syntax.operands.map((operand) => this.#operand(operand))
    this.#count(1)
    assertOperandCount(this.#kind, 'size', operands.length, 1)
    const of = operands[0] as Operand
    const type = staticType(of)
    if (of.type === 'size' || type === 'N' || type === 'BOOL' || type === 'NULL') {
      throw incorrectType(this.#kind, 'size', type ?? 'N')
    }
    return { type: 'size', of }
  }

  #function({ name, operands: syntax }: CallSyntax): Condition {
    const operands = syntax.map((operand) => this.#operand(operand))
    this.#count(1)
    const isExists = name === 'attribute_exists' || name === 'attribute_not_exists'
    assertOperandCount(this.#kind, name, operands.length, isExists ? 1 : 2)
    const [left, right] = operands as [Operand, Operand]
    if (isExists) {
      if (left.type !== 'path') throw requiresPath(this.#kind, name)
      return { type: 'exists', path: left.path, expected: name === 'attribute_exists' }
    }
    assertDistinct(this.#kind, name, left, [right])
    if (name === 'attribute_type') return this.#attributeType(left, right)
    if (name === 'contains') return { type: 'contains', left, right }
    for (const operand of operands) {
      const type = staticType(operand)
      if (type && type !== 'S' && type !== 'B') throw incorrectType(this.#kind, name, type)
    }
    return { type: 'begins_with', left, right }
  }

  #attributeType(operand: Operand, name: Operand): Condition {
    const type = staticType(name)
    if (name.type !== 'value' || typeof name.value !== 'string') {
      const types = type ?? '{NS,SS,L,BS,N,M,B,BOOL,NULL,S}'
      throw incorrectType(this.#kind, 'attribute_type', types)
    }
    if (!TYPE_NAMES.has(name.value)) {
      throw expressionError(
        this.#kind,
        `Invalid attribute type name found; type: ${name.value}, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}`,
      )
    }
    return { type: 'attribute_type', operand, name: name.value }
  }

  #comparison(syntax: ConditionSyntax & { type: 'compare' }): Condition {
    const left = this.#operand(syntax.left)
    const right = this.#operand(syntax.right)
    const { comparator } = syntax
    this.#count(1)
    assertDistinct(this.#kind, comparator, left, [right])
    if (comparator !== '=' && comparator !== '<>') {
      this.#assertOrdered(comparator, left)
      this.#assertOrdered(comparator, right)
    }
    return { type: 'compare', comparator, left, right }
  }

  #between(syntax: ConditionSyntax & { type: 'between' }): Condition {
    const operand = this.#operand(syntax.operand)
    const low = this.#operand(syntax.low)
    const high = this.#operand(syntax.high)
    this.#count(1)
    for (const bound of [operand, low, high]) this.#assertOrdered('BETWEEN', bound)
    assertDistinct(this.#kind, 'BETWEEN', operand, [low, high])
    if (low.type === 'value' && high.type === 'value') this.#assertBounds(low.value, high.value)
    return { type: 'between', operand, low, high }
  }

  #assertBounds(low: Value, high: Value): void {
    const isSameType = typeOf(low) === typeOf(high)
    if (isSameType && compare(low, high) <= 0) return
    const requirement = isSameType
      ? 'upper bound to be greater than or equal to lower bound'
      : 'same data type for lower and upper bounds'
    throw expressionError(
      this.#kind,
      `The BETWEEN operator requires ${requirement}; lower bound operand: ${attributeValueText(low)}, upper bound operand: ${attributeValueText(high)}`,
    )
  }

  #in(syntax: ConditionSyntax & { type: 'in' }): Condition {
    const operand = this.#operand(syntax.operand)
    const choices = syntax.choices.map((choice) => this.#operand(choice))
    this.#count(1)
    if (choices.length > MAX_CHOICES) {
      throw expressionError(
        this.#kind,
        `The IN operator is provided with too many operands; number of operands: ${choices.length}`,
      )
    }
    assertDistinct(this.#kind, 'IN', operand, choices)
    return { type: 'in', operand, choices }
  }

  #assertOrdered(operator: string, operand: Operand): void {
    const type = staticType(operand)
    if (type && type !== 'S' && type !== 'N' && type !== 'B') {
      throw incorrectType(this.#kind, operator, type)
    }
  }

  #count(operators: number): void {
    this.#operators += operators
    if (this.#operators > MAX_OPERATORS) {
      throw expressionError(
        this.#kind,
        `The expression contains too many operators; operator count: ${MAX_OPERATORS + 1}`,
      )
    }
  }
}

/** Prints a bound as AWS does; bytes as Java prints a buffer. */
function attributeValueText(value: Value): string {
  if (value instanceof Uint8Array) {
    const { length } = value
    return `AttributeValue: {B:java.nio.HeapByteBuffer[pos=0 lim=${length} cap=${length}]}`
  }
  if (typeof value === 'number' || value instanceof NumberValue) {
    return `AttributeValue: {N:${numberText(value)}}`
  }
  return `AttributeValue: {S:${typeof value === 'string' ? value : ''}}`
}
