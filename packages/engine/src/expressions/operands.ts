/**
 * Operands with resolved placeholders: paths, values and functions of them, with the checks that AWS
 * makes on every operand before it reads an item.
 */
import type { DynamoError } from '../errors.ts'
import { type TypeName, typeOf, type Value } from '../values/types.ts'
import { expressionError } from './parser.ts'
import { equalPaths, type Path, pathText } from './paths.ts'
import type { Placeholders } from './placeholders.ts'
import type { ExpressionKind, PathSyntax, ValueSyntax } from './syntax.ts'

export interface PathOperand {
  readonly type: 'path'
  readonly path: Path
}

export interface ValueOperand {
  readonly type: 'value'
  readonly value: Value
}

export interface SizeOperand {
  readonly type: 'size'
  readonly of: PathOperand | ValueOperand
}

export type Operand = PathOperand | ValueOperand | SizeOperand

const MAX_PATH_DEPTH = 32

export function bindPath(
  kind: ExpressionKind,
  { parts }: PathSyntax,
  placeholders: Placeholders,
): Path {
  if (parts.length > MAX_PATH_DEPTH) {
    throw expressionError(
      kind,
      `The document path has too many nesting levels; nesting levels: ${parts.length}`,
    )
  }
  if (!parts.some(isPlaceholder)) return parts as Path
  return (parts as Path).map((part) => {
    if (!isPlaceholder(part)) return part
    const name = placeholders.name(part)
    if (name !== undefined) return name
    throw expressionError(
      kind,
      `An expression attribute name used in the document path is not defined; attribute name: ${part}`,
    )
  })
}

function isPlaceholder(part: string | number | bigint): part is string {
  return typeof part === 'string' && part.charCodeAt(0) === 35
}

export function bindValue(
  kind: ExpressionKind,
  { placeholder }: ValueSyntax,
  placeholders: Placeholders,
): Value {
  const value = placeholders.value(placeholder)
  if (value !== undefined) return value
  throw expressionError(
    kind,
    `An expression attribute value used in expression is not defined; attribute value: ${placeholder}`,
  )
}

/** The type of an operand; undefined if it depends on the item. */
export function staticType(operand: Operand): TypeName | undefined {
  if (operand.type === 'size') return 'N'
  return operand.type === 'value' ? typeOf(operand.value) : undefined
}

export function incorrectType(kind: ExpressionKind, operator: string, type: string): DynamoError {
  return expressionError(
    kind,
    `Incorrect operand type for operator or function; operator or function: ${operator}, operand type: ${type}`,
  )
}

export function assertOperandCount(
  kind: ExpressionKind,
  name: string,
  count: number,
  expected: number,
): void {
  if (count === expected) return
  throw expressionError(
    kind,
    `Incorrect number of operands for operator or function; operator or function: ${name}, number of operands: ${count}`,
  )
}

export function requiresPath(kind: ExpressionKind, name: string): DynamoError {
  return expressionError(
    kind,
    `Operator or function requires a document path; operator or function: ${name}`,
  )
}

interface AnyOperand {
  readonly type: string
  readonly path?: Path
}

/** Rejects the comparison of an attribute with itself, as AWS does. */
export function assertDistinct(
  kind: ExpressionKind,
  operator: string,
  first: AnyOperand,
  others: readonly AnyOperand[],
): void {
  if (first.type !== 'path' || !first.path) return
  for (const other of others) {
    if (other.type !== 'path' || !other.path || !equalPaths(first.path, other.path)) continue
    throw expressionError(
      kind,
      `The first operand must be distinct from the remaining operands for this operator or function; operator: ${operator}, first operand: ${pathText(first.path)}`,
    )
  }
}
