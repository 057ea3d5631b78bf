/**
 * The engine: a DynamoDB in this process, stored in a directory.
 *
 * It is the in-process face (`Db`); the other two faces, `wire/server.ts` and `wire/sdk.ts`, call
 * `handle`. Several engines, even in different processes, can share a directory.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Clock, systemClock } from '@strongroom/platform/clock'
import type { Db, TableAdmin } from './db.ts'
import type { PartiQl } from './db-partiql.ts'
import type { BackupsDb } from './db-backups.ts'
import type { StreamsDb } from './db-streams.ts'
import { unknownOperation } from './errors.ts'
import { operations, wireOperations } from './operations/all.ts'
import { plainForm } from './operations/form.ts'
import type { Context, Operation } from './operations/operation.ts'
import { convertDirectory } from './storage/conversions/convert.ts'
import type { ConversionProgress } from './storage/conversions/progress.ts'
import { openStorage, type OpenStorage } from './storage/open-storage.ts'
import { checkRequest } from './validation/request.ts'

/**
 * Reads are synchronous internally, so a loop of awaited reads would starve the event loop. One in this
 * many calls waits for the next turn.
 */
const CALLS_PER_TURN = 256

export interface EngineOptions {
  /** Created if it does not exist. */
  directory: string
  clock?: Clock
  /** Part of ARNs only. */
  region?: string
  /** Interval of the deletion of expired items; with 0 only calls of `sweep` delete them. */
  sweepIntervalMs?: number
  /** @internal For tests: every new table is encrypted, also those with streams and recovery. */
  encrypted?: boolean
  /** False to fail if an older version wrote the directory; otherwise it is copied and converted. */
  mayConvert?: boolean
  /** Called while a directory of an older version is converted, which may take minutes. */
  onConversion?: ((progress: ConversionProgress) => void) | undefined
}

export interface Engine extends Db, TableAdmin, PartiQl, BackupsDb, StreamsDb, AsyncDisposable {
  readonly region: string
  /** @internal For features besides the operations, such as backups. */
  readonly storage: OpenStorage
  /**
   * Executes a request in its JSON form and returns the JSON response as text or bytes; throws as the
   * in-process face does. `address` is where the client reached the engine, for DescribeEndpoints.
   */
  handle(operation: string, request: unknown, address?: string): Promise<string | Buffer>
  /** Deletes items whose time to live has passed; resolves to their number. */
  sweep(): Promise<number>
  /** Resolves when no index is being filled and no deleted table is being removed. */
  settled(): Promise<void>
  /** Waits for writes in progress. Later calls are rejected. */
  close(): Promise<void>
}

/** The operations as methods of the in-process face. */
type Methods = {
  [Name in keyof typeof operations]: (typeof operations)[Name] extends Operation<
    infer Input,
    infer Output
  >
    ? (input: Input) => Promise<Output>
    : never
}

/** Opens the data directory; throws if a newer version wrote it, or another program. */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { directory, clock = systemClock, region = 'local', sweepIntervalMs } = options
  const { mayConvert = true, onConversion: onProgress } = options
  if (mayConvert) await convertDirectory(directory, { clock, onProgress })
  const storage = openStorage({
    directory,
    clock,
    ...(sweepIntervalMs !== undefined && { sweepIntervalMs }),
    ...(options.encrypted && { encrypted: true }),
  })
  const context: Context = { storage, clock, region }

  let calls = 0
  /** Async, so that every failure is a rejection. */
  const call =
    <Input, Output>(operation: Operation<Input, Output>) =>
    async (input: Input): Promise<Output> => {
      calls += 1
      if (calls % CALLS_PER_TURN === 0) await nextTurn()
      checkRequest(operation.input, input, 'plain')
      return operation.run(context, input, plainForm)
    }
  const methods = Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => [
      name,
      call(operation as Operation<unknown, unknown>),
    ]),
  ) as Methods

  return {
    ...methods,
    region,
    storage,
    listBackups: (input = {}) => methods.listBackups(input),
    listStreams: (input = {}) => methods.listStreams(input),
    describeLimits: (input = {}) => methods.describeLimits(input),
    describeEndpoints: (input = {}) => methods.describeEndpoints(input),
    async handle(operation, request, address) {
      const execute = wireOperations.get(operation)
      if (!execute) throw unknownOperation()
      calls += 1
      if (calls % CALLS_PER_TURN === 0) await nextTurn()
      return execute(address === undefined ? context : { ...context, address }, request)
    },
    sweep: () => storage.sweep(),
    settled: () => storage.settled(),
    close: () => storage.close(),
    [Symbol.asyncDispose]: () => storage.close(),
  }
}
