/** Every operation, listed once: the methods of the engine and the targets of the wire derive from it. */
import { checkRequest } from '../validation/request.ts'
import { batchExecuteStatement } from './batch-execute-statement.ts'
import { batchGetItem } from './batch-get-item.ts'
import { batchWriteItem } from './batch-write-item.ts'
import { createBackup, deleteBackup, describeBackup, listBackups } from './backups.ts'
import { describeContinuousBackups, updateContinuousBackups } from './continuous-backups.ts'
import { createTable } from './create-table.ts'
import { deleteItem } from './delete-item.ts'
import { deleteTable } from './delete-table.ts'
import { describeEndpoints } from './describe-endpoints.ts'
import { describeLimits } from './describe-limits.ts'
import { describeTable } from './describe-table.ts'
import { describeTimeToLive } from './describe-time-to-live.ts'
import { executeStatement } from './execute-statement.ts'
import { executeTransaction } from './execute-transaction.ts'
import { wireForm } from './form.ts'
import { getItem } from './get-item.ts'
import { getRecords } from './get-records.ts'
import { listTables } from './list-tables.ts'
import type { Context, Operation } from './operation.ts'
import { putItem } from './put-item.ts'
import { query } from './query.ts'
import { restoreTableFromBackup, restoreTableToPointInTime } from './restore.ts'
import { scan } from './scan.ts'
import { getShardIterator } from './shard-iterator.ts'
import { describeStream, listStreams } from './streams.ts'
import { listTagsOfResource, tagResource, untagResource } from './tags.ts'
import { transactGetItems } from './transact-get-items.ts'
import { transactWriteItems } from './transact-write-items.ts'
import { updateItem } from './update-item.ts'
import { updateTable } from './update-table.ts'
import { updateTimeToLive } from './update-time-to-live.ts'

export const operations = {
  getItem,
  putItem,
  updateItem,
  deleteItem,
  query,
  scan,
  batchGetItem,
  batchWriteItem,
  transactGetItems,
  transactWriteItems,
  executeStatement,
  batchExecuteStatement,
  executeTransaction,
  createTable,
  describeTable,
  listTables,
  updateTable,
  deleteTable,
  updateTimeToLive,
  describeTimeToLive,
  updateContinuousBackups,
  describeContinuousBackups,
  tagResource,
  untagResource,
  listTagsOfResource,
  createBackup,
  describeBackup,
  listBackups,
  deleteBackup,
  restoreTableFromBackup,
  restoreTableToPointInTime,
  listStreams,
  describeStream,
  getShardIterator,
  getRecords,
  describeLimits,
  describeEndpoints,
}

/** Executes a request in its JSON form and returns the text of the JSON response, or its bytes. */
type WireOperation = (context: Context, request: unknown) => Promise<string | Buffer>

function onWire(operation: Operation<unknown, object>): [string, WireOperation] {
  return [
    operation.name,
    async (context, request) => {
      checkRequest(operation.input, request)
      const output = await operation.run(context, request, wireForm)
      if (operation.text) return operation.text(output)
      return JSON.stringify(operation.toResponse ? operation.toResponse(output) : output)
    },
  ]
}

/** Operations by their wire name. `checkRequest` verifies the input before an operation runs. */
export const wireOperations: ReadonlyMap<string, WireOperation> = new Map(
  Object.values(operations as unknown as Record<string, Operation<unknown, object>>).map(onWire),
)
