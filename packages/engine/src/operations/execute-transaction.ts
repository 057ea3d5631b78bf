/** ExecuteTransaction: up to 100 statements, all of which read or all of which write, as one. */
import { createHash } from 'node:crypto'
import type { ExecuteTransactionInput, ExecuteTransactionOutput } from '../db-partiql.ts'
import { DynamoError, validationError } from '../errors.ts'
import { project } from '../expressions/projection.ts'
import { type OneRead, readOne } from '../partiql/run.ts'
import {
  type ReadStatement,
  readStatement,
  statementParameters,
  statementText,
} from '../partiql/statement.ts'
import type { Select } from '../partiql/syntax.ts'
import { isWrite, writeAction } from '../partiql/write-action.ts'
import {
  list,
  returnConsumedCapacity,
  returnOnFailure,
  string,
  structure,
} from '../validation/shapes.ts'
import { itemToWire, toWire } from '../values/wire.ts'
import type { Context, Operation } from './operation.ts'
import { readTogether } from './transact-get-items.ts'
import { writeAll } from './transact-write-items.ts'
import { MAX_ACTIONS } from './transaction.ts'

export const executeTransaction: Operation<ExecuteTransactionInput, ExecuteTransactionOutput> = {
  name: 'ExecuteTransaction',
  input: structure('ExecuteTransactionInput', {
    'TransactStatements!': list(
      structure('ParameterizedStatement', {
        'Statement!': statementText,
        Parameters: statementParameters,
        ReturnValuesOnConditionCheckFailure: returnOnFailure,
      }),
      { min: 1, max: MAX_ACTIONS },
    ),
    ClientRequestToken: string({ min: 1, max: 36 }),
    ReturnConsumedCapacity: returnConsumedCapacity,
  }),

  async run(context, input, form) {
    const statements = input.TransactStatements.map(({ Statement, Parameters }, at) =>
      inStatement(at, () => readStatement(form, Statement, Parameters)),
    )
    const writes = statements.filter(({ body }) => isWrite(body)).length
    if (writes > 0 && writes < statements.length) {
      throw validationError(
        'ExecuteTransaction API does not support both read and write operations in the same request.',
      )
    }
    return writes > 0 ? write(context, input, statements) : read(context, input, statements)
  },

  toResponse: ({ Responses, ...rest }) => ({
    Responses: (Responses ?? []).map(({ Item }) => (Item ? { Item: itemToWire(Item) } : {})),
    ...rest,
  }),
}

async function write(
  context: Context,
  input: ExecuteTransactionInput,
  statements: readonly ReadStatement[],
): Promise<ExecuteTransactionOutput> {
  const writes = statements.map(({ body, bound }, at) =>
    inStatement(at, () => {
      if (!isWrite(body)) throw validationError('Only statements that write were expected')
      if ('returning' in body && body.returning) {
        throw validationError('RETURNING clause is not supported in ExecuteTransaction.')
      }
      const onFailure = input.TransactStatements[at]?.ReturnValuesOnConditionCheckFailure
      return writeAction(context.storage, body, bound, onFailure)
    }),
  )
  const consumed = await writeAll(context, input, {
    targets: writes.map(({ action }) => action),
    items: writes.map(({ item }) => item),
    fingerprint: () => fingerprint(input, statements),
  })
  return { Responses: [], ...(consumed.length > 0 && { ConsumedCapacity: consumed }) }
}

function read(
  context: Context,
  input: ExecuteTransactionInput,
  statements: readonly ReadStatement[],
): ExecuteTransactionOutput {
  const reads = statements.map(({ body, bound }, at) =>
    inStatement(at, () => singleRead(context, body as Select, bound)),
  )
  const { items, consumed } = readTogether(context, reads, input.ReturnConsumedCapacity)
  return {
    Responses: items.map((item, at) => {
      const projection = reads[at]?.projection
      if (!item) return {}
      return { Item: projection ? project(projection, item) : item }
    }),
    ...(consumed.length > 0 && { ConsumedCapacity: consumed }),
  }
}

function singleRead(context: Context, body: Select, bound: ReadStatement['bound']): OneRead {
  if (body.index !== undefined) {
    throw validationError('Reads on indices are not supported within transactions.')
  }
  const found = readOne(context.storage, body, bound)
  if (found) return found
  throw validationError(
    'Select statements within ExecuteTransaction must specify the primary key in the where clause.',
  )
}

/** A statement that cannot be planned is named by its place. */
function inStatement<T>(at: number, plan: () => T): T {
  try {
    return plan()
  } catch (error) {
    if (!(error instanceof DynamoError) || error.name !== 'ValidationException') throw error
    if (error.message.startsWith("Statement wasn't well formed")) throw error
    throw validationError(`Validation failed in TransactStatements[${at}]: ${error.message}`)
  }
}

function fingerprint(input: ExecuteTransactionInput, statements: readonly ReadStatement[]): string {
  const parts = input.TransactStatements.map((statement, at) => [
    statement.Statement,
    statements[at]?.parameters.map(toWire),
    statement.ReturnValuesOnConditionCheckFailure,
  ])
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64')
}
