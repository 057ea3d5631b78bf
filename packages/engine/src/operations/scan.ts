/** Scan: all items of a table or index, or of one segment of it. */
import type { PageOutput, ScanInput } from '../db.ts'
import { validationError } from '../errors.ts'
import { existingTable } from '../validation/names.ts'
import { checkExpressionParameters } from '../validation/parameters.ts'
import {
  attributes,
  boolean,
  expressionNames,
  indexName,
  integer,
  legacy,
  returnConsumedCapacity,
  string,
  structure,
  tableName,
} from '../validation/shapes.ts'
import { parsePageFilter, parsePageProjection, rejectPathsIntoKeys } from './expressions.ts'
import { readPlaceholders, readStartKey, wireForm } from './form.ts'
import { readFilter } from './legacy-conditions.ts'
import { readAttributesToGet } from './legacy-updates.ts'
import type { Operation } from './operation.ts'
import { wantsWholeItems, readWirePage, WirePage } from './wire-page.ts'
import { checkSelect, pageText, readPage, requestedIndex, requestedNames } from './page.ts'
import { select } from './query.ts'
import { checkScanStart } from './start-key.ts'

export const scan: Operation<ScanInput, PageOutput> = {
  name: 'Scan',
  input: structure('ScanInput', {
    Limit: integer({ min: 1 }),
    ReturnConsumedCapacity: returnConsumedCapacity,
    AttributesToGet: legacy.AttributesToGet,
    Segment: integer({ min: 0, max: 999_999 }),
    Select: select,
    ScanFilter: legacy.Conditions,
    ConditionalOperator: legacy.ConditionalOperator,
    TotalSegments: integer({ min: 1, max: 1_000_000 }),
    'TableName!': tableName,
    ExclusiveStartKey: attributes,
    IndexName: indexName,
    ConsistentRead: boolean,
    FilterExpression: string(),
    ProjectionExpression: string(),
    ExpressionAttributeValues: attributes,
    ExpressionAttributeNames: expressionNames,
  }),

  run(context, input, form) {
    checkExpressionParameters(
      input,
      ['ProjectionExpression', 'FilterExpression'],
      ['AttributesToGet', 'ScanFilter', 'ConditionalOperator'],
    )
    const attributesToGet = readAttributesToGet(input.AttributesToGet)
    const legacyFilter = readFilter(form, input.ScanFilter, input.ConditionalOperator)
    const startKey = input.ExclusiveStartKey && readStartKey(form, input.ExclusiveStartKey)
    const segment = readSegment(input)
    checkSelect(input)
    const placeholders = readPlaceholders(input, form)
    const filter = legacyFilter ?? parsePageFilter(input, placeholders)
    const projection = attributesToGet ?? parsePageProjection(input, placeholders)
    placeholders.assertAllUsed()

    const table = existingTable(context.storage, input.TableName)
    const index = requestedIndex(table, input)
    if (startKey) checkScanStart(table, index, startKey, segment)
    rejectPathsIntoKeys(table, { condition: filter, projection })
    const shown = requestedNames(input, { table, index, projection })

    const plan = {
      table,
      index,
      filter,
      projection,
      shown,
      ranges: [
        {
          ...(startKey && { startKey }),
          ...(segment && { segment }),
          consistent: input.ConsistentRead === true,
        },
      ],
    }
    const isWire = form === wireForm && wantsWholeItems(input, plan)
    return isWire ? readWirePage(context, input, plan) : readPage(context, input, plan)
  },

  text: (page) => (page instanceof WirePage ? page.json : pageText(page)),
}

function readSegment(input: ScanInput): { index: number; total: number } | undefined {
  const index = whole(input.Segment)
  const total = whole(input.TotalSegments)
  if (index === undefined && total === undefined) return undefined
  if (total === undefined) {
    throw validationError(
      'The TotalSegments parameter is required but was not present in the request when Segment parameter is present',
    )
  }
  if (index === undefined) {
    throw validationError(
      'The Segment parameter is required but was not present in the request when parameter TotalSegments is present',
    )
  }
  if (index >= total) {
    throw validationError(
      `The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: ${index} is not less than TotalSegments: ${total}`,
    )
  }
  return { index, total }
}

/** AWS truncates fractions. */
function whole(number: number | null | undefined): number | undefined {
  return number === undefined || number === null ? undefined : Math.floor(number)
}
