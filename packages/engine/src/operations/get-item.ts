/** GetItem: one item by its key. */
import type { GetItemInput, GetItemOutput } from '../db.ts'
import { parseProjection, project, type Projection } from '../expressions/projection.ts'
import { itemSize } from '../values/size.ts'
import { responseText, itemText } from '../values/wire-text.ts'
import { checkKey } from '../validation/keys.ts'
import { existingTable } from '../validation/names.ts'
import { checkExpressionParameters } from '../validation/parameters.ts'
import {
  attributes,
  boolean,
  expressionNames,
  legacy,
  returnConsumedCapacity,
  string,
  structure,
  tableName,
} from '../validation/shapes.ts'
import { capacityMeter, isMetered, readUnits } from './capacity.ts'
import { rejectPathsIntoKeys } from './expressions.ts'
import { readPlaceholders, type Form } from './form.ts'
import { readAttributesToGet } from './legacy-updates.ts'
import type { Operation } from './operation.ts'

export const getItem: Operation<GetItemInput, GetItemOutput> = {
  name: 'GetItem',
  input: structure('GetItemInput', {
    ReturnConsumedCapacity: returnConsumedCapacity,
    AttributesToGet: legacy.AttributesToGet,
    'TableName!': tableName,
    'Key!': attributes,
    ConsistentRead: boolean,
    ProjectionExpression: string(),
    ExpressionAttributeNames: expressionNames,
  }),

  run({ storage }, input, form) {
    checkExpressionParameters(input, ['ProjectionExpression'], ['AttributesToGet'])
    const key = form.item(input.Key)
    const projection = readProjection(input, form)
    const table = existingTable(storage, input.TableName)
    rejectPathsIntoKeys(table, { projection })
    checkKey(table, key)

    const consistent = input.ConsistentRead === true
    const item = storage.get(table, key, { consistent })
    const output: GetItemOutput = {}
    if (item) output.Item = projection ? project(projection, item) : item
    if (isMetered(input.ReturnConsumedCapacity)) {
      const meter = capacityMeter(input.ReturnConsumedCapacity)
      meter.read(table, undefined, readUnits(item ? itemSize(item) : 0, consistent))
      const [consumed] = meter.consumed()
      if (consumed) output.ConsumedCapacity = consumed
    }
    return output
  },

  text: ({ Item, ...rest }) => responseText({ Item: Item && itemText(Item) }, rest),
}

interface Projecting {
  ProjectionExpression?: string
  AttributesToGet?: string[]
  ExpressionAttributeNames?: Record<string, string>
}

/** The projection of a read without other expressions. */
export function readProjection(input: Projecting, form: Form): Projection | undefined {
  const { ProjectionExpression: text, AttributesToGet } = input
  if (AttributesToGet) return readAttributesToGet(AttributesToGet)
  if (text === undefined || text === null) return undefined
  const placeholders = readPlaceholders(input, form)
  const projection = parseProjection(text, placeholders)
  placeholders.assertAllUsed()
  return projection
}
