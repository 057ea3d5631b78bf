/**
 * TransactWriteItems: up to 100 actions on as many items, all or none.
 *
 * Every action is decided before the first one is written. A client's token is remembered with the
 * transaction itself, so a retry after a crash or from another process is recognised as well.
 */
import { createHash } from 'node:crypto'
import type { ConsumedCapacity, TransactWriteItemsInput, TransactWriteItemsOutput } from '../db.ts'
import { idempotentParameterMismatch, validationError } from '../errors.ts'
import { existingTable } from '../validation/names.ts'
import {
  attributes,
  expressionNames,
  list,
  returnConsumedCapacity,
  returnItemCollectionMetrics,
  returnOnFailure,
  string,
  structure,
  tableName,
} from '../validation/shapes.ts'
import { isWithin, itemSize } from '../values/size.ts'
import type { Item } from '../values/types.ts'
import { itemToWire } from '../values/wire.ts'
import { capacityMeter, isMetered } from './capacity.ts'
import { allCollectionMetrics, wireCollections } from './item-collections.ts'
import { keyIdentity } from './key-identity.ts'
import type { Context, Operation } from './operation.ts'
import { type Action, readAction, type TableAction } from './transact-action.ts'
import { assertNoReasons, MAX_ACTIONS, MAX_TRANSACTION_BYTES, reasonOf } from './transaction.ts'

const TOKEN_LIFETIME_MS = 10 * 60 * 1000

const conditional = {
  ExpressionAttributeNames: expressionNames,
  ExpressionAttributeValues: attributes,
  ReturnValuesOnConditionCheckFailure: returnOnFailure,
}

export const transactWriteItems: Operation<TransactWriteItemsInput, TransactWriteItemsOutput> = {
  name: 'TransactWriteItems',
  input: structure('TransactWriteItemsInput', {
    'TransactItems!': list(
      structure('TransactWriteItem', {
        ConditionCheck: structure('ConditionCheck', {
          'Key!': attributes,
          'TableName!': tableName,
          'ConditionExpression!': string(),
          ...conditional,
        }),
        Put: structure('Put', {
          'Item!': attributes,
          'TableName!': tableName,
          ConditionExpression: string(),
          ...conditional,
        }),
        Delete: structure('Delete', {
          'Key!': attributes,
          'TableName!': tableName,
          ConditionExpression: string(),
          ...conditional,
        }),
        Update: structure('Update', {
          'Key!': attributes,
          'UpdateExpression!': string(),
          'TableName!': tableName,
          ConditionExpression: string(),
          ...conditional,
        }),
      }),
      { min: 1, max: MAX_ACTIONS },
    ),
    ReturnConsumedCapacity: returnConsumedCapacity,
    ReturnItemCollectionMetrics: returnItemCollectionMetrics,
    ClientRequestToken: string({ min: 1, max: 36 }),
  }),

  async run(context, input, form) {
    const actions = input.TransactItems.map((item) => readAction(item, form))
    const targets = actions.map((action) =>
      action.on(existingTable(context.storage, action.tableName)),
    )
    const consumed = await writeAll(context, input, {
      targets,
      items: actions.map(({ item }) => item),
      fingerprint: () => fingerprint(actions),
    })
    return {
      ...(consumed.length > 0 && { ConsumedCapacity: consumed }),
      ...allCollectionMetrics(
        targets.map(({ table, key }) => ({ table, item: key })),
        input.ReturnItemCollectionMetrics,
      ),
    }
  },

  toResponse: ({ ItemCollectionMetrics, ...rest }) => ({
    ...rest,
    ...wireCollections(ItemCollectionMetrics),
  }),
}

interface Transaction {
  targets: readonly TableAction[]
  /** The items to put, and the keys of those to change. */
  items: readonly Item[]
  /** Equal for equal transactions. */
  fingerprint(): string
}

/** Checks and executes actions, all or none. Answers with what that consumed. */
export async function writeAll(
  { storage, clock }: Context,
  input: Pick<TransactWriteItemsInput, 'ClientRequestToken' | 'ReturnConsumedCapacity'>,
  { targets, items, fingerprint: hashOf }: Transaction,
): Promise<ConsumedCapacity[]> {
  for (const target of targets) target.refuseEmptyKeys()
  assertNoReasons(targets.map((target) => reasonOf(() => target.check())))
  const identities = targets.map(({ table, key }) => keyIdentity(table, key))
  if (new Set(identities).size < identities.length) {
    throw validationError('Transaction request cannot include multiple operations on one item')
  }
  checkPayload(items)

  const token = input.ClientRequestToken ?? undefined
  const hash = token === undefined ? '' : hashOf()
  return storage.write((tx) => {
    const known = token === undefined ? undefined : tx.token(token)
    if (known && known.hash !== hash) throw idempotentParameterMismatch()
    const showsOld = known !== undefined || isMetered(input.ReturnConsumedCapacity)
    const old = targets.map(({ table, key, needsOld, attributes: only }) =>
      needsOld || showsOld ? tx.get(table, key, showsOld ? undefined : only) : undefined,
    )
    // A repeated request has happened already; AWS then charges it as a read.
    if (known) return repeatedOutput(input, targets, old)

    const next: (Item | undefined)[] = []
    assertNoReasons(
      targets.map((target, at) => reasonOf(() => void (next[at] = target.decide(tx, old[at])))),
    )
    const meter = capacityMeter(input.ReturnConsumedCapacity, 'write')
    targets.forEach((target, at) => {
      target.write(tx, old[at], next[at])
      meter.write(target.table, old[at], next[at])
    })
    if (token !== undefined) {
      tx.rememberToken(token, hash, clock.now() + TOKEN_LIFETIME_MS)
    }
    return meter.consumed()
  })
}

function repeatedOutput(
  input: Pick<TransactWriteItemsInput, 'ReturnConsumedCapacity'>,
  targets: readonly TableAction[],
  old: readonly (Item | undefined)[],
) {
  const meter = capacityMeter(input.ReturnConsumedCapacity, 'read')
  targets.forEach(({ table }, at) => {
    const item = old[at]
    meter.read(table, undefined, Math.max(1, Math.ceil((item ? itemSize(item) : 0) / 4096)))
  })
  return meter.consumed()
}

function checkPayload(items: readonly Item[]): void {
  const share = MAX_TRANSACTION_BYTES / items.length
  if (items.every((item) => isWithin(item, share))) return
  const bytes = items.reduce((sum, item) => sum + itemSize(item), 0)
  if (bytes > MAX_TRANSACTION_BYTES) {
    throw validationError(`Transaction payload size cannot exceed 4MB. Payload Size: ${bytes}`)
  }
}

/** Equal for equal transactions, whichever face they came through and in whatever order of members. */
function fingerprint(actions: readonly Action[]): string {
  const hash = createHash('sha256')
  for (const { kind, tableName: name, item, expressions } of actions) {
    hash.update(JSON.stringify([kind, name, itemToWire(item), expressions()], sortKeys))
  }
  return hash.digest('base64')
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1))
  return entries.flat()
}
