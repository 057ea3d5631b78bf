/** Query: the items of one partition of a table or index, in sort key order. */
import type { PageOutput, QueryInput } from '../db.ts'
import { constraintViolated, validationError } from '../errors.ts'
import { parseCondition } from '../expressions/condition.ts'
import { keyConditionsIn, planKeys } from '../expressions/key-condition.ts'
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
  parsePageFilter,
  parsePageProjection,
  rejectPathsIntoKeys,
} from './expressions.ts'
import { readPlaceholders, readStartKey, wireForm } from './form.ts'
import { readFilter, readKeyConditions } from './legacy-conditions.ts'
import { readAttributesToGet } from './legacy-updates.ts'
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
import { checkQueryStart, checkStartNames, checkStartType } from './start-key.ts'

export const select = oneOf(
  'SPECIFIC_ATTRIBUTES',
  'COUNT',
  'ALL_ATTRIBUTES',
  'ALL_PROJECTED_ATTRIBUTES',
)

export const query: Operation<QueryInput, PageOutput> = {
  name: 'Query',
  input: structure('QueryInput', {
    Limit: integer(),
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
    if (given(input.Limit) && input.Limit < 1) {
      throw constraintViolated('Limit', 'Member must have value greater than or equal to 1')
    }
    checkExpressionParameters(
      input,
      ['ProjectionExpression', 'FilterExpression', 'KeyConditionExpression'],
      ['AttributesToGet', 'QueryFilter', 'ConditionalOperator', 'KeyConditions'],
    )
    const legacyFilter = readFilter(form, input.QueryFilter, input.ConditionalOperator)
    const attributesToGet = readAttributesToGet(input.AttributesToGet)
    const startKey = input.ExclusiveStartKey && readStartKey(form, input.ExclusiveStartKey)
    checkSelect(input)
    const { KeyConditionExpression: keyExpression } = input
    if (!given(keyExpression) && !input.KeyConditions) {
      throw validationError(
        'Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.',
      )
    }
    const placeholders = readPlaceholders(input, form, false)
    const keyCondition = given(keyExpression)
      ? parseCondition(keyExpression, 'KeyConditionExpression', placeholders)
      : undefined
    const filter = legacyFilter ?? parsePageFilter(input, placeholders)
    const projection = attributesToGet ?? parsePageProjection(input, placeholders)
    placeholders.assertAllUsed()
    const conditions = keyCondition
      ? keyConditionsIn(keyCondition)
      : readKeyConditions(form, input.KeyConditions ?? {})

    const table = existingTable(context.storage, input.TableName)
    const index = requestedIndex(table, input)
    const keys = index?.keys ?? table.keys
    if (startKey) checkStartNames(table, index, startKey)
    const condition = planKeys(
      conditions,
      keys,
      startKey ? (key) => checkStartType(startKey, key) : undefined,
    )
    if (startKey) checkQueryStart(table, index, startKey, condition)
    rejectPathsIntoKeys(table, { projection })
    const filterNames = conditionNames(filter)
    for (const { name } of keyAttributes(keys)) {
      if (filterNames.includes(name)) {
        const parameter = input.QueryFilter ? 'QueryFilter' : 'Filter Expression'
        throw validationError(
          `${parameter} can only contain non-primary key attributes: Primary key attribute: ${name}`,
        )
      }
    }
    const shown = requestedNames(input, { table, index, projection })
    rejectPathsIntoKeys(table, { condition: filter })
    rejectUnprojectedFilter({ table, index }, filterNames)

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

function given<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null
}
