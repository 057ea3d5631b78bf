/** Every conformance suite, in the order they run. */
import { conditionExpressions } from './condition-expressions.ts'
import { deleteItem } from './delete-item.ts'
import { expressionErrors } from './expression-errors.ts'
import { getItem } from './get-item.ts'
import { putItem } from './put-item.ts'
import { pagination } from './pagination.ts'
import { projectionExpressions } from './projection-expressions.ts'
import { query } from './query.ts'
import { scan } from './scan.ts'
import type { Target } from './target.ts'
import { updateExpressions } from './update-expressions.ts'
import { updateItem } from './update-item.ts'

const suites = [putItem, getItem, updateItem, deleteItem, conditionExpressions, expressionErrors, updateExpressions, query, scan, projectionExpressions, pagination]

/** Registers all suites as tests of this target, which is closed after the last of them. */
export function runSuites(target: Target): void {
  for (const suite of suites) suite(target)
}
