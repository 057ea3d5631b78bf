/** Query: the items of one partition of a table or index, in sort key order. */
import type { PageOutput, QueryInput } from '../db.ts'
import { validationError } from '../errors.ts'
import { parseCondition } from '../expressions/condition.ts'
import { keyConditionsIn, planKeys } from '../expressions/key-condition.ts'
import type { Placeholders } from '../expressions/placeholders.ts'
import { keyAttributes } from '../validation/keys.ts'
import { existingTable } from '../validation/names.ts'
import { checkExpressionParameters } from '../validation/parameters.ts'
import {
  attributes,
  boolean,
  expressionNames,
  indexName,
  integer,
  legacy,
  oneOf,
  returnConsumedCapacity,
  string,
  structure,
  tableName,
} from '../validation/shapes.ts'
import {
  conditionNames,
  rejectPathsIntoKeys,
  readPageFilter,
  readPageProjection,
} from './expressions.ts'
import { readPlaceholders, type Form, readStartKey, wireForm } from './form.ts'
import { readKeyConditions } from './legacy-conditions.ts'
import type { Operation } from './operation.ts'
import { wantsWholeItems, readWirePage, WirePage } from './wire-page.ts'
import {
  checkSelect,
  pageText,
  readPage,
  rejectUnprojectedFilter,
  requestedIndex,
  requestedNames,
} from './page.ts'
import { checkQueryStart } from './start-key.ts'

export const select = oneOf(
  'SPECIFIC_ATTRIBUTES',
  'COUNT',
  'ALL_ATTRIBUTES',
  'ALL_PROJECTED_ATTRIBUTES',
)

export const query: Operation<QueryInput, PageOutput> = {
  name: 'Query',
  input: structure('QueryInput', {
    Limit: integer({ min: 1 }),
    ExclusiveStartKey: attributes,
    ReturnConsumedCapacity: returnConsumedCapacity,
    AttributesToGet: legacy.AttributesToGet,
    QueryFilter: legacy.Conditions,
    Select: select,
    ConditionalOperator: legacy.ConditionalOperator,
    KeyConditions: legacy.Conditions,
    'TableName!': tableName,
    ConsistentRead: boolean,
    IndexName: indexName,
    ScanIndexForward: boolean,
    KeyConditionExpression: string(),
    FilterExpression: string(),
    ProjectionExpression: string(),
    ExpressionAttributeValues: attributes,
    ExpressionAttributeNames: expressionNames,
  }),

  run(context, input, form) {
    checkExpressionParameters(
      input,
      ['ProjectionExpression', 'FilterExpression', 'KeyConditionExpression'],
      ['AttributesToGet', 'QueryFilter', 'ConditionalOperator', 'KeyConditions'],
    )
    const startKey = input.ExclusiveStartKey && readStartKey(form, input.ExclusiveStartKey)
    checkSelect(input)
    const placeholders = readPlaceholders(input, form)
    const conditions = readConditions(input, placeholders, form)
    const filter = readPageFilter(input, input.QueryFilter, placeholders, form)
    const projection = readPageProjection(input, placeholders)
    placeholders.assertAllUsed()

    const table = existingTable(context.storage, input.TableName)
    const index = requestedIndex(table, input)
    const keys = index?.keys ?? table.keys
    const condition = planKeys(conditions(), keys)
    if (startKey) checkQueryStart(table, index, startKey, condition)
    rejectPathsIntoKeys(table, { condition: filter, projection })
    const filterNames = conditionNames(filter)
    for (const { name } of keyAttributes(keys)) {
      if (filterNames.includes(name)) {
        const parameter = input.QueryFilter ? 'QueryFilter' : 'Filter Expression'
        throw validationError(
          `${parameter} can only contain non-primary key attributes: Primary key attribute: ${name}`,
        )
      }
    }
    rejectUnprojectedFilter({ table, index }, filterNames)
    const shown = requestedNames(input, { table, index, projection })

    const plan = {
      table,
      index,
      filter,
      projection,
      shown,
      ranges: [
        {
          partition: condition.partition,
          ...(condition.sort && { sort: condition.sort }),
          reverse: input.ScanIndexForward === false,
          ...(startKey && { startKey }),
          consistent: input.ConsistentRead === true,
        },
      ],
    }
    const isWire = form === wireForm && wantsWholeItems(input, plan)
    return isWire ? readWirePage(context, input, plan) : readPage(context, input, plan)
  },

  text: (page) => (page instanceof WirePage ? page.json : pageText(page)),
}

/** The keys in an expression are checked later, after all parameters have been read. */
function readConditions(input: QueryInput, placeholders: Placeholders, form: Form) {
  const { KeyConditionExpression: text, KeyConditions } = input
  if (text !== undefined && text !== null) {
    const condition = parseCondition(text, 'KeyConditionExpression', placeholders)
    return () => keyConditionsIn(condition)
  }
  if (!KeyConditions) {
    throw validationError(
      'Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.',
    )
  }
  const conditions = readKeyConditions(form, KeyConditions)
  return () => conditions
}
