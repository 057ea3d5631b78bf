/**
 * The expressions of one request, read in AWS's order: first all placeholders, then update,
 * condition, key condition, filter and projection, and at last that no placeholder is unused.
 *
 * A key condition needs the table and is planned later; until then its text has been read with the
 * others so that its placeholders count as used.
 */
import { createPlaceholders, type Placeholders } from '../expressions/placeholders.ts'
import { type Form, readExpressionValues } from './form.ts'

interface WithPlaceholders {
  ExpressionAttributeNames?: Record<string, string>
  ExpressionAttributeValues?: object
}

export function readPlaceholders(input: WithPlaceholders, form: Form): Placeholders {
  const { ExpressionAttributeNames: names, ExpressionAttributeValues: values } = input
  return createPlaceholders(
    names ?? undefined,
    values ? readExpressionValues(form, values) : undefined,
  )
}
