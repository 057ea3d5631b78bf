/** The filter and the projection of Query and Scan, in either of the two ways to say them. */
import type { Comparison, PageInput } from '../db.ts'
import { type Condition, parseCondition } from '../expressions/condition.ts'
import type { Placeholders } from '../expressions/placeholders.ts'
import { parseProjection, type Projection } from '../expressions/projection.ts'
import type { Form } from './form.ts'
import { readFilter } from './legacy-conditions.ts'
import { readAttributesToGet } from './legacy-updates.ts'

/** `comparisons` are the QueryFilter or the ScanFilter. An empty expression is a fault, not none. */
export function readPageFilter(
  input: PageInput,
  comparisons: Record<string, Comparison> | undefined,
  placeholders: Placeholders,
  form: Form,
): Condition | undefined {
  const { FilterExpression: text } = input
  if (text !== undefined && text !== null) {
    return parseCondition(text, 'FilterExpression', placeholders)
  }
  if (!comparisons && !input.ConditionalOperator) return undefined
  return readFilter(form, comparisons, input.ConditionalOperator)
}

export function readPageProjection(
  input: PageInput,
  placeholders: Placeholders,
): Projection | undefined {
  const { ProjectionExpression: text, AttributesToGet } = input
  if (AttributesToGet) return readAttributesToGet(AttributesToGet)
  return text === undefined || text === null ? undefined : parseProjection(text, placeholders)
}
