/** Every operation by its name on the wire. */
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

/** Executes a request in its JSON form and answers with the text of JSON, or its bytes. */
type WireOperation = (context: Context, request: unknown) => Promise<string | Buffer>

function onWire<Input, Output extends object>(
  operation: Operation<Input, Output>,
): [string, WireOperation] {
  return [
    operation.name,
    async (context, request) => {
      checkRequest(operation.input, request)
      const output = await operation.run(context, request as Input, wireForm)
      if (operation.text) return operation.text(output)
      return JSON.stringify(operation.answer ? operation.answer(output) : output)
    },
  ]
}

export const wireOperations: ReadonlyMap<string, WireOperation> = new Map([
  onWire(getItem),
  onWire(putItem),
  onWire(updateItem),
  onWire(deleteItem),
  onWire(query),
  onWire(scan),
  onWire(batchGetItem),
  onWire(batchWriteItem),
  onWire(transactGetItems),
  onWire(transactWriteItems),
  onWire(executeStatement),
  onWire(batchExecuteStatement),
  onWire(executeTransaction),
  onWire(createTable),
  onWire(describeTable),
  onWire(listTables),
  onWire(updateTable),
  onWire(deleteTable),
  onWire(updateTimeToLive),
  onWire(describeTimeToLive),
  onWire(updateContinuousBackups),
  onWire(describeContinuousBackups),
  onWire(tagResource),
  onWire(untagResource),
  onWire(listTagsOfResource),
  onWire(createBackup),
  onWire(describeBackup),
  onWire(listBackups),
  onWire(deleteBackup),
  onWire(restoreTableFromBackup),
  onWire(restoreTableToPointInTime),
  onWire(listStreams),
  onWire(describeStream),
  onWire(getShardIterator),
  onWire(getRecords),
  onWire(describeLimits),
  onWire(describeEndpoints),
])
