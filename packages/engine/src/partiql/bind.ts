/** Gives a parsed statement its parameters, and makes of its conditions what can be evaluated. */
import { validationError } from '../errors.ts'
import { bindCondition, type Condition } from '../expressions/condition.ts'
import type { Placeholders } from '../expressions/placeholders.ts'
import type { ConditionSyntax } from '../expressions/syntax.ts'
import { copiedValue } from '../operations/copy.ts'
import { assertDepth } from '../values/depth.ts'
import { type Item, setAttribute, type Value } from '../values/types.ts'
import type { Insert, Literal, Statement } from './syntax.ts'
import { withoutKind } from './texts.ts'

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
    // Statements are cached, and what becomes of a value is not known here.
    return copiedValue(literal.value)
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

export function boundWhere(
  { placeholders }: Bound,
  where: ConditionSyntax | undefined,
): Condition | undefined {
  if (!where) return undefined
  return withoutKind(() => bindCondition('ConditionExpression', where, placeholders))
}

export function boundItem({ valueOf }: Bound, { item }: Insert): Item {
  const bound: Item = {}
  for (const [name, literal] of item) setAttribute(bound, name, valueOf(literal))
  return bound
}
