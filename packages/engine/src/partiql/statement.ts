/** One statement of a request: parsed, and bound to its parameters. */
import { attribute, list, string } from '../validation/shapes.ts'
import type { Form } from '../operations/form.ts'
import type { Value } from '../values/types.ts'
import { bind, type Bound } from './bind.ts'
import { parseStatement } from './parse-statement.ts'
import type { Statement } from './syntax.ts'

/** The shapes of its members, in every request. */
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
