/** ExecuteStatement: one statement of PartiQL; a SELECT in pages. */
import type { ExecuteStatementInput, ExecuteStatementOutput } from '../db-partiql.ts'
import { validationError } from '../errors.ts'
import { nextToken, readNextToken } from '../partiql/next-token.ts'
import { runWrite } from '../partiql/run.ts'
import { runSelect } from '../partiql/select.ts'
import {
  type ReadStatement,
  readStatement,
  statementParameters,
  statementText,
} from '../partiql/statement.ts'
import type { Select } from '../partiql/syntax.ts'
import { writeAction } from '../partiql/write-action.ts'
import {
  boolean,
  integer,
  returnConsumedCapacity,
  returnOnFailure,
  string,
  structure,
} from '../validation/shapes.ts'
import { itemToWire } from '../values/wire.ts'
import type { Context, Operation } from './operation.ts'

export const executeStatement: Operation<ExecuteStatementInput, ExecuteStatementOutput> = {
  name: 'ExecuteStatement',
  input: structure('ExecuteStatementInput', {
    'Statement!': statementText,
    Parameters: statementParameters,
    ConsistentRead: boolean,
    NextToken: string({ min: 1, max: 32_768 }),
    ReturnConsumedCapacity: returnConsumedCapacity,
    Limit: integer({ min: 1 }),
    ReturnValuesOnConditionCheckFailure: returnOnFailure,
  }),

  async run(context, input, form) {
    const { body, bound, parameters } = readStatement(form, input.Statement, input.Parameters)
    if (body.type === 'select') return selectPage(context, input, { body, bound, parameters })
    if (body.type === 'exists') {
      throw validationError('EXISTS can only be used in ExecuteTransaction write requests.')
    }
    const onFailure = input.ReturnValuesOnConditionCheckFailure
    const write = writeAction(context.storage, body, bound, onFailure)
    const returning = body.type === 'insert' ? undefined : body.returning
    const { Item, ...rest } = await runWrite(
      context,
      write,
      returning,
      input.ReturnConsumedCapacity,
    )
    return { Items: Item ? [Item] : [], ...rest }
  },

  toResponse: ({ Items, LastEvaluatedKey, ...rest }) => ({
    Items: (Items ?? []).map(itemToWire),
    ...rest,
    ...(LastEvaluatedKey && { LastEvaluatedKey: itemToWire(LastEvaluatedKey) }),
  }),
}

async function selectPage(
  context: Context,
  input: ExecuteStatementInput,
  { body, bound, parameters }: ReadStatement & { body: Select },
): Promise<ExecuteStatementOutput> {
  const { Statement, NextToken } = input
  const startKey = NextToken ? readNextToken(Statement, parameters, NextToken) : undefined
  const page = await runSelect(context, body, bound, input, startKey)
  const { Items = [], LastEvaluatedKey: key, ConsumedCapacity } = page
  return {
    Items,
    ...(key && { NextToken: nextToken(Statement, parameters, key), LastEvaluatedKey: key }),
    ...(ConsumedCapacity && { ConsumedCapacity }),
  }
}
