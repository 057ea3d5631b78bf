/**
 * Checks which parameters can be combined in a request: expressions and their placeholders, or the legacy
 * parameters that expressions replaced.
 */
import { validationError } from '../errors.ts'

type Given = Record<string, unknown>

const given = (input: Given, name: string) => input[name] !== undefined && input[name] !== null

/**
 * `expressions` are the expression parameters of the operation, `legacy` those they replaced, both
 * in AWS's order. Only the former may use ExpressionAttributeValues, except a projection. AWS names the
 * missing expressions, unless `namesMissing` is false.
 */
export function checkExpressionParameters(
  request: object,
  expressions: readonly string[],
  legacy: readonly string[],
  namesMissing = true,
): void {
  const input = request as Given
  const placeholders =
    given(input, 'ExpressionAttributeNames') || given(input, 'ExpressionAttributeValues')
  if (!placeholders && !legacy.some((name) => given(input, name))) return
  const used = expressions.filter((name) => given(input, name))
  const old = legacy.filter((name) => given(input, name) && !isKeyOfFilter(input, name))
  if (used.length > 0 && old.length > 0) {
    throw validationError(
      `Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {${old.join(', ')}} Expression parameters: {${used.join(', ')}}`,
    )
  }
  if (given(input, 'ExpressionAttributeNames') && used.length === 0) {
    throw validationError('ExpressionAttributeNames can only be specified when using expressions')
  }
  if (given(input, 'ExpressionAttributeValues')) {
    checkValuesHaveAUse(expressions, used, namesMissing)
  }
}

/** KeyConditions can be combined with FilterExpression, but not with KeyConditionExpression. */
function isKeyOfFilter(input: Given, name: string): boolean {
  return name === 'KeyConditions' && !given(input, 'KeyConditionExpression')
}

function checkValuesHaveAUse(
  expressions: readonly string[],
  used: readonly string[],
  namesMissing: boolean,
): void {
  const takeValues = expressions.filter((name) => name !== 'ProjectionExpression')
  if (takeValues.length === 0 || used.some((name) => takeValues.includes(name))) return
  const verb = takeValues.length > 1 ? 'are' : 'is'
  const missing = namesMissing ? `: ${takeValues.join(' and ')} ${verb} null` : ''
  throw validationError(
    `ExpressionAttributeValues can only be specified when using expressions${missing}`,
  )
}
