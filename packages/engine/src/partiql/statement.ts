/** Parses a statement of a request and binds it to its parameters. */
import { validationError } from '../errors.ts'
import { bindCondition, type Condition } from '../expressions/condition.ts'
import type { Placeholders } from '../expressions/placeholders.ts'
import type { ConditionSyntax } from '../expressions/syntax.ts'
import { type Form, copyValue } from '../operations/form.ts'
import { attribute, list, string } from '../validation/shapes.ts'
import { assertDepth } from '../values/depth.ts'
import { type Value, type Item, setAttribute } from '../values/types.ts'
import { withoutKind } from './errors.ts'
import { parseStatement } from './parse-statement.ts'
import type { Statement, Insert, Literal } from './syntax.ts'

/** The shapes of the members that all requests with statements have. */
export const statementText = string({ min: 1, max: 8192 })
export const statementParameters = list(attribute, { min: 1 })

export interface ReadStatement {
  body: Statement['body']
  bound: Bound
  parameters: readonly Value[]
}

export function readStatement(
  form: Form,
  text: string,
  parameters: readonly unknown[] | null | undefined,
): ReadStatement {
  const statement = parseStatement(text)
  const values = (parameters ?? []).map((parameter) => form.ownValue(parameter))
  return { body: statement.body, bound: bind(statement, values), parameters: values }
}

// Binds a parsed statement to its parameters and turns its conditions into trees to evaluate.

/** A statement with the values of its parameters. */
export interface Bound {
  readonly placeholders: Placeholders
  readonly valueOf: (literal: Literal) => Value
}

export function bind(statement: Statement, parameters: readonly Value[]): Bound {
  if (parameters.length < statement.parameters) {
    throw validationError("Number of parameters in request and statement don't match.")
  }
  const valueOf = (literal: Literal): Value => {
    if ('parameter' in literal) return parameters[literal.parameter] as Value
    assertDepth(literal.value, 1)
    // A copy, because statements are cached and the caller may modify the value.
    return copyValue(literal.value)
  }
  const at = (placeholder: string) => Number(placeholder.slice(1))
  return {
    valueOf,
    placeholders: {
      name: (placeholder) => statement.names[at(placeholder)],
      value: (placeholder) => valueOf(statement.literals[at(placeholder)] as Literal),
      assertAllUsed() {},
    },
  }
}

export function bindWhere(
  { placeholders }: Bound,
  where: ConditionSyntax | undefined,
): Condition | undefined {
  if (!where) return undefined
  return withoutKind(() => bindCondition('ConditionExpression', where, placeholders))
}

export function bindItem({ valueOf }: Bound, { item }: Insert): Item {
  const bound: Item = {}
  for (const [name, literal] of item) setAttribute(bound, name, valueOf(literal))
  return bound
}
