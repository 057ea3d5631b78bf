/**
 * BatchExecuteStatement: up to 25 statements, either all reads or all writes. Each is about one item and
 * succeeds or fails independently.
 */
import type { ConsumedCapacity } from '../db.ts'
import type {
  BatchExecuteStatementInput,
  BatchExecuteStatementOutput,
  BatchStatementInput,
  BatchStatementResponse,
} from '../db-partiql.ts'
import { DynamoError, validationError } from '../errors.ts'
import { project } from '../expressions/projection.ts'
import { type OneRead, readOne, runWrite } from '../partiql/run.ts'
import { readStatement, statementParameters, statementText } from '../partiql/statement.ts'
import type { Returning } from '../partiql/syntax.ts'
import { type WriteAction, writeAction } from '../partiql/write-action.ts'
import type { TableRecord } from '../storage/storage.ts'
import {
  boolean,
  list,
  returnConsumedCapacity,
  returnOnFailure,
  structure,
} from '../validation/shapes.ts'
import { itemSize } from '../values/size.ts'
import type { Item } from '../values/types.ts'
import { itemToWire } from '../values/wire.ts'
import { capacityMeter, readUnits } from './capacity.ts'
import type { Form } from './form.ts'
import { keyIdentity } from './key-identity.ts'
import type { Context, Operation } from './operation.ts'
import { singleConsumption } from './write.ts'

const MAX_STATEMENTS = 25

type Detail = BatchExecuteStatementInput['ReturnConsumedCapacity']

export const batchExecuteStatement: Operation<
  BatchExecuteStatementInput,
  BatchExecuteStatementOutput
> = {
  name: 'BatchExecuteStatement',
  input: structure('BatchExecuteStatementInput', {
    'Statements!': list(
      structure('BatchStatementRequest', {
        'Statement!': statementText,
        Parameters: statementParameters,
        ConsistentRead: boolean,
        ReturnValuesOnConditionCheckFailure: returnOnFailure,
      }),
      { min: 1, max: MAX_STATEMENTS },
    ),
    ReturnConsumedCapacity: returnConsumedCapacity,
  }),

  async run(context, input, form) {
    const plans = input.Statements.map((statement) => planStatement(context, statement, form))
    const kinds = new Set(plans.flatMap(({ kind }) => kind ?? []))
    if (kinds.size > 1) {
      throw validationError('Read and write requests together in the same batch is not supported.')
    }
    const identities = plans.flatMap(({ work }) => (work ? keyIdentity(work.table, work.key) : []))
    if (new Set(identities).size < identities.length) {
      throw validationError('Provided list of item keys contains duplicates')
    }
    const detail = input.ReturnConsumedCapacity
    const outcomes = await Promise.all(plans.map((plan) => executePlan(context, plan, detail)))
    const consumed = outcomes.flatMap(({ ConsumedCapacity }) => ConsumedCapacity ?? [])
    return {
      Responses: outcomes.map(({ response }) => response),
      ...(consumed.length > 0 && { ConsumedCapacity: consumed }),
    }
  },

  toResponse: ({ Responses, ...rest }) => ({
    Responses: Responses?.map(({ Item, Error: error, ...response }) => ({
      ...(error && { Error: { ...error, ...(error.Item && { Item: itemToWire(error.Item) }) } }),
      ...response,
      ...(Item && { Item: itemToWire(Item) }),
    })),
    ...rest,
  }),
}

/** A statement that can be executed, or its error. */
interface Plan {
  kind?: 'read' | 'write'
  work?: Work
  failure?: DynamoError
}

interface Work {
  table: TableRecord
  key: Item
  run(context: Context, detail: Detail): Promise<Done>
}

interface Done {
  Item?: Item
  ConsumedCapacity?: ConsumedCapacity
}

function planStatement(context: Context, statement: BatchStatementInput, form: Form): Plan {
  let kind: Plan['kind']
  try {
    const { body, bound } = readStatement(form, statement.Statement, statement.Parameters)
    kind = body.type === 'select' ? 'read' : 'write'
    if (body.type === 'exists') {
      throw validationError('EXISTS can only be used in ExecuteTransaction write requests.')
    }
    if (body.type === 'select') {
      const read = readOne(context.storage, body, bound)
      if (!read) throw validationError('Only single item select is supported')
      return { kind, work: reading(read, statement.ConsistentRead === true) }
    }
    const onFailure = statement.ReturnValuesOnConditionCheckFailure
    const write = writeAction(context.storage, body, bound, onFailure)
    write.action.refuseEmptyKeys()
    write.action.check()
    return { kind, work: writing(write, body.type === 'insert' ? undefined : body.returning) }
  } catch (error) {
    if (!(error instanceof DynamoError)) throw error
    return { ...(kind && { kind }), failure: error }
  }
}

function reading({ table, key, projection }: OneRead, consistent: boolean): Work {
  return {
    table,
    key,
    async run({ storage }, detail) {
      const item = storage.get(table, key, { consistent })
      const meter = capacityMeter(detail)
      meter.read(table, undefined, readUnits(item ? itemSize(item) : 0, consistent))
      const shown = item && projection ? project(projection, item) : item
      return { ...(shown && { Item: shown }), ...singleConsumption(meter) }
    },
  }
}

function writing(write: WriteAction, returning: Returning | undefined): Work {
  const { table, key } = write.action
  return { table, key, run: (context, detail) => runWrite(context, write, returning, detail) }
}

async function executePlan(
  context: Context,
  { work, failure }: Plan,
  detail: Detail,
): Promise<{ response: BatchStatementResponse; ConsumedCapacity?: ConsumedCapacity }> {
  if (failure) return { response: { Error: errorOf(failure) } }
  if (!work) return { response: {} }
  const TableName = work.table.name
  try {
    const { Item, ...rest } = await work.run(context, detail)
    return { response: { TableName, ...(Item && { Item }) }, ...rest }
  } catch (error) {
    if (!(error instanceof DynamoError)) throw error
    return { response: { Error: errorOf(error), TableName } }
  }
}

const CODES: ReadonlyMap<string, string> = new Map([
  ['ValidationException', 'ValidationError'],
  ['ConditionalCheckFailedException', 'ConditionalCheckFailed'],
  ['DuplicateItemException', 'DuplicateItem'],
  ['ResourceNotFoundException', 'ResourceNotFound'],
])

function errorOf({ name, message, Item }: DynamoError): BatchStatementResponse['Error'] & object {
  return {
    Code: CODES.get(name) ?? 'InternalServerError',
    Message: message,
    ...(Item && { Item }),
  }
}
