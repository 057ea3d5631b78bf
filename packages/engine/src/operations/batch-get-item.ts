/** BatchGetItem: up to 100 items by key, from several tables, in no promised order. */
import type { BatchGetItemInput, BatchGetItemOutput, KeysAndAttributes } from '../db.ts'
import { constraintViolated, validationError } from '../errors.ts'
import { project } from '../expressions/projection.ts'
import { checkKeySchema, rejectEmptyKeys } from '../validation/keys.ts'
import { existingTable } from '../validation/names.ts'
import { checkExpressionParameters } from '../validation/parameters.ts'
import {
  attributes,
  boolean,
  expressionNames,
  legacy,
  list,
  map,
  returnConsumedCapacity,
  string,
  structure,
  tableNames,
} from '../validation/shapes.ts'
import { itemSize } from '../values/size.ts'
import type { Item } from '../values/types.ts'
import { itemToWire } from '../values/wire.ts'
import { capacityMeter, readUnits } from './capacity.ts'
import { rejectPathsIntoKeys } from './expressions.ts'
import { readProjection } from './get-item.ts'
import { keyIdentity } from './key-identity.ts'
import type { Operation } from './operation.ts'

const MAX_KEYS = 100
const MAX_BYTES = 16 * 1024 * 1024

export const batchGetItem: Operation<BatchGetItemInput, BatchGetItemOutput> = {
  name: 'BatchGetItem',
  input: structure('BatchGetItemInput', {
    ReturnConsumedCapacity: returnConsumedCapacity,
    'RequestItems!': map(
      structure('KeysAndAttributes', {
        'Keys!': list(attributes),
        AttributesToGet: legacy.AttributesToGet,
        ConsistentRead: boolean,
        ProjectionExpression: string(),
        ExpressionAttributeNames: expressionNames,
      }),
      { keys: tableNames },
    ),
  }),

  run({ storage }, input, form) {
    checkLengths(input)
    const read = Object.entries(input.RequestItems).map(([name, request]) => {
      checkExpressionParameters(request, ['ProjectionExpression'], ['AttributesToGet'])
      const projection = readProjection(request, form)
      return { name, request, projection, keys: request.Keys.map((key) => form.item(key)) }
    })
    if (read.reduce((sum, { keys }) => sum + keys.length, 0) > MAX_KEYS) {
      throw validationError('Too many items requested for the BatchGetItem call')
    }
    const plans = read.map((plan) => {
      const table = existingTable(storage, plan.name)
      rejectPathsIntoKeys(table, plan)
      for (const key of plan.keys) {
        rejectEmptyKeys(table, key)
        checkKeySchema(table, key)
      }
      const identities = plan.keys.map((key) => keyIdentity(table, key))
      if (new Set(identities).size < identities.length) {
        throw validationError('Provided list of item keys contains duplicates')
      }
      return { ...plan, table }
    })

    const meter = capacityMeter(input.ReturnConsumedCapacity)
    const responses: [string, Item[]][] = []
    const unprocessed: [string, KeysAndAttributes][] = []
    let bytes = 0
    for (const { name, request, projection, keys, table } of plans) {
      const consistent = request.ConsistentRead === true
      const found: Item[] = []
      const left: Item[] = []
      for (const key of keys) {
        const item = bytes > MAX_BYTES ? undefined : storage.get(table, key, { consistent })
        const size = item ? itemSize(item) : 0
        if (bytes + size > MAX_BYTES) {
          bytes = Infinity
          left.push(key)
          continue
        }
        bytes += size
        meter.read(table, undefined, readUnits(size, consistent))
        if (item) found.push(projection ? project(projection, item) : item)
      }
      responses.push([name, found])
      if (left.length > 0) unprocessed.push([name, { ...request, Keys: left }])
    }
    const consumed = meter.consumed()
    return {
      Responses: Object.fromEntries(responses),
      UnprocessedKeys: Object.fromEntries(unprocessed),
      ...(consumed.length > 0 && { ConsumedCapacity: consumed }),
    }
  },

  toResponse: ({ Responses, UnprocessedKeys, ...rest }) => ({
    Responses: mapped(Responses ?? {}, (items) => items.map(itemToWire)),
    UnprocessedKeys: mapped(UnprocessedKeys ?? {}, ({ Keys, ...request }) => ({
      Keys: Keys.map(itemToWire),
      ...request,
    })),
    ...rest,
  }),
}

function checkLengths({ RequestItems: requests }: BatchGetItemInput): void {
  const entries = Object.entries(requests)
  if (entries.length === 0) {
    throw constraintViolated('RequestItems', 'Member must have length greater than or equal to 1')
  }
  for (const [name, { Keys }] of entries) {
    if (Keys.length > 0 && Keys.length <= MAX_KEYS) continue
    throw constraintViolated(
      `RequestItems.${name}.member.Keys`,
      Keys.length === 0
        ? 'Member must have length greater than or equal to 1'
        : `Member must have length less than or equal to ${MAX_KEYS}`,
    )
  }
}

/** Maps the values of an object; entries become own properties, even `__proto__`. */
export function mapped<T, U>(
  record: Record<string, T>,
  change: (value: T) => U,
): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}
