/**
 * The engine: a DynamoDB in this process, kept in a directory.
 *
 * It is the in-process face itself (`Db`), and `handle` is what the other two faces, `protocol.ts`
 * and `sdk.ts`, are made of. Several engines, also of other processes, may share a directory.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Clock, systemClock } from './clock.ts'
import type { Db, TableAdmin } from './db.ts'
import type { PartiQl } from './db-partiql.ts'
import type { BackupsDb } from './db-backups.ts'
import type { StreamsDb } from './db-streams.ts'
import { unknownOperation } from './errors.ts'
import { wireOperations } from './operations/all.ts'
import { batchExecuteStatement } from './operations/batch-execute-statement.ts'
import { batchGetItem } from './operations/batch-get-item.ts'
import { createBackup, deleteBackup, describeBackup, listBackups } from './operations/backups.ts'
import { batchWriteItem } from './operations/batch-write-item.ts'
import {
  describeContinuousBackups,
  updateContinuousBackups,
} from './operations/continuous-backups.ts'
import { createTable } from './operations/create-table.ts'
import { deleteItem } from './operations/delete-item.ts'
import { deleteTable } from './operations/delete-table.ts'
import { describeEndpoints } from './operations/describe-endpoints.ts'
import { describeLimits } from './operations/describe-limits.ts'
import { describeTable } from './operations/describe-table.ts'
import { describeTimeToLive } from './operations/describe-time-to-live.ts'
import { executeStatement } from './operations/execute-statement.ts'
import { executeTransaction } from './operations/execute-transaction.ts'
import { plainForm } from './operations/form.ts'
import { getItem } from './operations/get-item.ts'
import { getRecords } from './operations/get-records.ts'
import { listTables } from './operations/list-tables.ts'
import type { Context, Operation } from './operations/operation.ts'
import { putItem } from './operations/put-item.ts'
import { query } from './operations/query.ts'
import { restoreTableFromBackup, restoreTableToPointInTime } from './operations/restore.ts'
import { scan } from './operations/scan.ts'
import { getShardIterator } from './operations/shard-iterator.ts'
import { describeStream, listStreams } from './operations/streams.ts'
import { listTagsOfResource, tagResource, untagResource } from './operations/tags.ts'
import { transactGetItems } from './operations/transact-get-items.ts'
import { transactWriteItems } from './operations/transact-write-items.ts'
import { updateItem } from './operations/update-item.ts'
import { updateTable } from './operations/update-table.ts'
import { updateTimeToLive } from './operations/update-time-to-live.ts'
import { openStorage, type OpenStorage } from './storage/open.ts'
import { checkRequest } from './validation/request.ts'

/**
 * Reads are synchronous underneath, and a loop of awaited reads would never let go of the event loop.
 * So now and then a call waits for the next turn.
 */
const CALLS_PER_TURN = 256

export interface EngineOptions {
  /** Created if it does not exist. */
  directory: string
  clock?: Clock
  /** Part of ARNs only. */
  region?: string
  /** How often expired items are looked for; 0 leaves it to explicit calls of `sweep`. */
  sweepIntervalMs?: number
}

export interface Engine extends Db, TableAdmin, PartiQl, BackupsDb, StreamsDb, AsyncDisposable {
  readonly region: string
  /** For what stands beside the operations, such as backups. */
  readonly storage: OpenStorage
  /** Executes a request in its JSON form and answers with the text of JSON, or its bytes; throws as the in-process face does. */
  handle(operation: string, request: unknown): Promise<string | Buffer>
  /** Deletes items whose time to live has passed; resolves to how many there were. */
  sweep(): Promise<number>
  /** Resolves when no index is being filled and no deleted table is being removed. */
  settled(): Promise<void>
  /** Waits for writes under way. Everything afterwards is refused. */
  close(): Promise<void>
}

/** Opens the data directory; throws if its format is not known. */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { directory, clock = systemClock, region = 'local', sweepIntervalMs } = options
  const storage = openStorage({
    directory,
    clock,
    ...(sweepIntervalMs !== undefined && { sweepIntervalMs }),
  })
  const context: Context = { storage, clock, region }

  let calls = 0
  /** Async, so that every failure is a rejection. */
  const call =
    <Input, Output>(operation: Operation<Input, Output>) =>
    async (input: Input): Promise<Output> => {
      calls += 1
      if (calls % CALLS_PER_TURN === 0) await nextTurn()
      checkRequest(operation.input, input)
      return operation.run(context, input, plainForm)
    }
  const limits = call(describeLimits)
  const endpoints = call(describeEndpoints)
  const streams = call(listStreams)
  const backups = call(listBackups)

  return {
    region,
    storage,
    getItem: call(getItem),
    putItem: call(putItem),
    updateItem: call(updateItem),
    deleteItem: call(deleteItem),
    query: call(query),
    scan: call(scan),
    batchGetItem: call(batchGetItem),
    batchWriteItem: call(batchWriteItem),
    transactGetItems: call(transactGetItems),
    transactWriteItems: call(transactWriteItems),
    executeStatement: call(executeStatement),
    batchExecuteStatement: call(batchExecuteStatement),
    executeTransaction: call(executeTransaction),
    createTable: call(createTable),
    describeTable: call(describeTable),
    listTables: call(listTables),
    updateTable: call(updateTable),
    deleteTable: call(deleteTable),
    updateTimeToLive: call(updateTimeToLive),
    describeTimeToLive: call(describeTimeToLive),
    updateContinuousBackups: call(updateContinuousBackups),
    describeContinuousBackups: call(describeContinuousBackups),
    tagResource: call(tagResource),
    untagResource: call(untagResource),
    listTagsOfResource: call(listTagsOfResource),
    createBackup: call(createBackup),
    describeBackup: call(describeBackup),
    listBackups: (input = {}) => backups(input),
    deleteBackup: call(deleteBackup),
    restoreTableFromBackup: call(restoreTableFromBackup),
    restoreTableToPointInTime: call(restoreTableToPointInTime),
    listStreams: (input = {}) => streams(input),
    describeStream: call(describeStream),
    getShardIterator: call(getShardIterator),
    getRecords: call(getRecords),
    describeLimits: (input = {}) => limits(input),
    describeEndpoints: (input = {}) => endpoints(input),
    async handle(operation, request) {
      const execute = wireOperations.get(operation)
      if (!execute) throw unknownOperation()
      calls += 1
      if (calls % CALLS_PER_TURN === 0) await nextTurn()
      return execute(context, request)
    },
    sweep: () => storage.sweep(),
    settled: () => storage.settled(),
    close: () => storage.close(),
    [Symbol.asyncDispose]: () => storage.close(),
  }
}
