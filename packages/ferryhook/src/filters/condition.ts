/** One condition of a filter: `{ path: '$.type', operator: 'equals', value: 'invoice.paid' }`. */
import * as z from 'zod'
import { hasNumber, isDeeperThan, MAX_VALUE_DEPTH } from './json.ts'
import { FilterSyntaxError, MAX_PATH_LENGTH, parsePath } from './path.ts'
import { compilePattern } from './pattern.ts'

export const operators = [
  'equals',
  'not_equals',
  'contains',
  'not_contains',
  'exists',
  'not_exists',
  'regex',
  'gt',
  'lt',
  'gte',
  'lte',
  'in',
  'starts_with',
  'ends_with',
] as const
export type Operator = (typeof operators)[number]

const MAX_CHOICES = 100

const Shape = z.strictObject({
  path: z.string().max(MAX_PATH_LENGTH).superRefine(refineWithParser(parsePath)),
  operator: z.enum(operators),
  value: z.unknown().optional(),
})
export type Condition = z.infer<typeof Shape>

/** A stored condition. Those from before numbers were checked stay valid. */
export const StoredCondition = Shape.superRefine(refineValue(valueProblem))

/** A condition in a request. */
export const Condition = Shape.superRefine(
  refineValue((condition) => valueProblem(condition) ?? numberProblem(condition)),
)

function refineValue(problemOf: (condition: Condition) => string | undefined) {
  return (condition: Condition, context: z.core.$RefinementCtx): void => {
    const problem = problemOf(condition)
    if (problem) context.addIssue({ code: 'custom', path: ['value'], message: problem })
  }
}

function valueProblem({ operator, value }: Condition): string | undefined {
  if (operator === 'exists' || operator === 'not_exists') {
    return value === undefined ? undefined : `Is not used by ${operator}: leave it out`
  }
  if (value === undefined) return 'Is required'
  if (isDeeperThan(value, MAX_VALUE_DEPTH)) {
    return `Is nested too deeply: use at most ${MAX_VALUE_DEPTH} levels`
  }
  switch (operator) {
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return typeof value === 'number' || typeof value === 'string'
        ? undefined
        : 'Must be a number, or text that sorts, such as an ISO 8601 date'
    case 'in':
      return Array.isArray(value) && value.length > 0 && value.length <= MAX_CHOICES
        ? undefined
        : `Must be a list of 1 to ${MAX_CHOICES} values`
    case 'regex':
      return patternProblem(value)
    case 'starts_with':
    case 'ends_with':
      return typeof value === 'string' && value !== '' ? undefined : 'Must be text, and not empty'
    default:
      return undefined
  }
}

/** Only for a value without a `valueProblem`, which is not nested too deeply. */
function numberProblem({ operator, value }: Condition): string | undefined {
  if (hasNumber(value, (number) => !Number.isFinite(number))) return 'Contains too large a number'
  const isOrder = /^[gl]te?$/.test(operator)
  if (isOrder || !hasNumber(value, isUnsafeInteger)) return undefined
  return `Contains an integer beyond ${Number.MAX_SAFE_INTEGER}, which would also equal its neighbours`
}

function isUnsafeInteger(number: number): boolean {
  return Number.isInteger(number) && !Number.isSafeInteger(number)
}

function patternProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'Must be the text of a regular expression'
  try {
    compilePattern(value)
    return undefined
  } catch (error) {
    if (error instanceof FilterSyntaxError) return error.message
    throw error
  }
}

/** Turns the `FilterSyntaxError` of a parser into an issue. */
export function refineWithParser(
  parse: (text: string) => unknown,
): (text: string, context: z.core.$RefinementCtx) => void {
  return (text, context) => {
    try {
      parse(text)
    } catch (error) {
      if (!(error instanceof FilterSyntaxError)) throw error
      context.addIssue({ code: 'custom', message: error.message })
    }
  }
}
