/** Every conformance suite, in the order they run. */
import { account } from './account.ts'
import { backups } from './backups.ts'
import { batchGetItem } from './batch-get-item.ts'
import { batchWriteItem } from './batch-write-item.ts'
import { conditionExpressions } from './condition-expressions.ts'
import { consumedCapacity } from './consumed-capacity.ts'
import { continuousBackups } from './continuous-backups.ts'
import { deleteItem } from './delete-item.ts'
import { expressionErrors } from './expression-errors.ts'
import { getItem } from './get-item.ts'
import { idempotency } from './idempotency.ts'
import { indexes } from './indexes.ts'
import { itemCollections } from './item-collections.ts'
import { keyConditions } from './key-conditions.ts'
import { legacyParameters } from './legacy-parameters.ts'
import { limits } from './limits.ts'
import { numbers } from './numbers.ts'
import { pagination } from './pagination.ts'
import { parameterLimits } from './parameter-limits.ts'
import { partiQlBatches } from './partiql-batches.ts'
import { partiQlTransactions } from './partiql-transactions.ts'
import { partiQlWrites } from './partiql-writes.ts'
import { partiQl } from './partiql.ts'
import { projectionExpressions } from './projection-expressions.ts'
import { putItem } from './put-item.ts'
import { query } from './query.ts'
import { recovery } from './recovery.ts'
import { reservedWords } from './reserved-words.ts'
import { restores } from './restores.ts'
import { scan } from './scan.ts'
import { sizes } from './sizes.ts'
import { streamLifecycle } from './stream-lifecycle.ts'
import { streams } from './streams.ts'
import { tableChanges } from './table-changes.ts'
import { tableDefinitions } from './table-definitions.ts'
import { tables } from './tables.ts'
import { tags } from './tags.ts'
import type { Target } from './target.ts'
import { timeToLive } from './time-to-live.ts'
import { transactGetItems } from './transact-get-items.ts'
import { transactWriteItems } from './transact-write-items.ts'
import { types } from './types.ts'
import { updateExpressions } from './update-expressions.ts'
import { updateItem } from './update-item.ts'
import { updateRefusals } from './update-refusals.ts'
import { updateTable } from './update-table.ts'
import { validationOrder } from './validation-order.ts'
import { wire } from './wire.ts'

const suites = [
  putItem,
  getItem,
  updateItem,
  deleteItem,
  query,
  keyConditions,
  scan,
  batchGetItem,
  batchWriteItem,
  transactGetItems,
  transactWriteItems,
  idempotency,
  conditionExpressions,
  updateExpressions,
  updateRefusals,
  projectionExpressions,
  expressionErrors,
  limits,
  parameterLimits,
  validationOrder,
  legacyParameters,
  partiQl,
  partiQlWrites,
  partiQlBatches,
  partiQlTransactions,
  pagination,
  types,
  numbers,
  sizes,
  reservedWords,
  tables,
  tableDefinitions,
  updateTable,
  tableChanges,
  indexes,
  consumedCapacity,
  itemCollections,
  timeToLive,
  tags,
  continuousBackups,
  backups,
  restores,
  recovery,
  streams,
  streamLifecycle,
  account,
  wire,
]

/** Registers all suites as tests of this target, which is closed after the last of them. */
export function runSuites(target: Target): void {
  for (const suite of suites) suite(target)
}
