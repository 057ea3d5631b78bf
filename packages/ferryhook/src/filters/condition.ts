/** One condition of a filter: `{ path: '$.type', operator: 'equals', value: 'invoice.paid' }`. */
import * as z from 'zod'
import { hasNumber, isDeeperThan } from './json.ts'
import { InvalidPath, longestPath, parsePath } from './path.ts'
import { compilePattern, InvalidPattern } from './pattern.ts'

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

/** So deep that comparing it needs no care for the stack. */
const deepestValue = 16
const mostChoices = 100

const Shape = z.strictObject({
  path: z.string().max(longestPath).superRefine(checked(parsePath, InvalidPath)),
  operator: z.enum(operators),
  value: z.unknown().optional(),
})
export type Condition = z.infer<typeof Shape>

/** As it is stored, perhaps since before its numbers had to be certain: it goes on as it did. */
export const StoredCondition = Shape.superRefine(valueWithout(problemOfValue))

/** As somebody gives it. */
export const Condition = Shape.superRefine(
  valueWithout((condition) => problemOfValue(condition) ?? problemOfNumbers(condition)),
)

function valueWithout(problemOf: (condition: Condition) => string | undefined) {
  return (condition: Condition, context: z.core.$RefinementCtx): void => {
    const problem = problemOf(condition)
    if (problem) context.addIssue({ code: 'custom', path: ['value'], message: problem })
  }
}

function problemOfValue({ operator, value }: Condition): string | undefined {
  if (operator === 'exists' || operator === 'not_exists') {
    return value === undefined ? undefined : `Is not used by ${operator}: leave it out`
  }
  if (value === undefined) return 'Is required'
  if (isDeeperThan(value, deepestValue)) return 'Is nested too deeply'
  switch (operator) {
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return typeof value === 'number' || typeof value === 'string'
        ? undefined
        : 'Is a number, or text that sorts, such as a date of ISO 8601'
    case 'in':
      return Array.isArray(value) && value.length > 0 && value.length <= mostChoices
        ? undefined
        : `Is a list of 1 to ${mostChoices} values`
    case 'regex':
      return problemOfPattern(value)
    case 'starts_with':
    case 'ends_with':
      return typeof value === 'string' && value !== '' ? undefined : 'Is text, and not empty'
    default:
      return undefined
  }
}

/** Of a value that has no other problem. */
function problemOfNumbers({ operator, value }: Condition): string | undefined {
  if (hasNumber(value, (number) => !Number.isFinite(number))) return 'Has too large a number'
  const isOrder = /^[gl]te?$/.test(operator)
  if (isOrder || !hasNumber(value, isUncertain)) return undefined
  return `Has a number beyond ${Number.MAX_SAFE_INTEGER}, which is the same as its neighbours`
}

function isUncertain(number: number): boolean {
  return Number.isInteger(number) && !Number.isSafeInteger(number)
}

function problemOfPattern(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'Is the text of a regular expression'
  try {
    compilePattern(value)
    return undefined
  } catch (error) {
    if (error instanceof InvalidPattern) return error.message
    throw error
  }
}

/** For text that is right if it can be parsed, and whose parser says what is wrong with it. */
export function checked(
  parse: (text: string) => unknown,
  problem: new (message: string) => Error,
): (text: string, context: z.core.$RefinementCtx) => void {
  return (text, context) => {
    try {
      parse(text)
    } catch (error) {
      if (!(error instanceof problem)) throw error
      context.addIssue({ code: 'custom', message: error.message })
    }
  }
}
