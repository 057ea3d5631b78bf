/**
 * One action of TransactWriteItems, in three steps: read from the request, bind to the table, decide on
 * the old item. Errors of the last two become the cancellation reason of the action.
 */
import type { TransactWriteItem } from '../db.ts'
import { validationError } from '../errors.ts'
import type { Condition } from '../expressions/condition.ts'
import type { Update } from '../expressions/update.ts'
import type { TableRecord, WriteTx } from '../storage/storage.ts'
import {
  checkIndexKeys,
  checkItemKeys,
  checkKeySchema,
  keyOf,
  rejectEmptyIndexKeys,
  rejectEmptyKeys,
} from '../validation/keys.ts'
import { checkExpressionParameters } from '../validation/parameters.ts'
import { itemToWire } from '../values/wire.ts'
import type { Item } from '../values/types.ts'
import { expressionAttributes, rejectPathsIntoKeys } from './expressions.ts'
import { readPlaceholders, type Form, readExpressionValues } from './form.ts'
import { checkTargets, readUpdate, updatedItem } from './update-item.ts'
import { assertCondition, checkItemSize, readCondition } from './write.ts'

type Kind = 'ConditionCheck' | 'Put' | 'Delete' | 'Update'
const KINDS: readonly Kind[] = ['ConditionCheck', 'Put', 'Delete', 'Update']

export interface Action {
  kind: Kind
  tableName: string
  /** The item to put, or the key of the item to change. */
  item: Item
  /** The rest of the action's identity, for idempotency. */
  expressions(): unknown
  on(table: TableRecord): TableAction
}

export interface TableAction {
  table: TableRecord
  key: Item
  /** Whether the result depends on the old item. */
  needsOld: boolean
  /** The attributes of the old item on which the result depends; undefined for all. */
  attributes: readonly string[] | undefined
  /** Makes the checks for which AWS rejects the whole request. */
  refuseEmptyKeys(): void
  /** Makes the checks that do not need the old item. */
  check(): void
  /** Returns the new item; undefined if there is none afterwards. */
  decide(tx: WriteTx, old: Item | undefined): Item | undefined
  write(tx: WriteTx, old: Item | undefined, next: Item | undefined): void
}

interface Read {
  kind: Kind
  item: Item
  condition: Condition | undefined
  update: Update | undefined
  onFailure: 'NONE' | 'ALL_OLD' | undefined
}

export function readAction(request: TransactWriteItem, form: Form): Action {
  const given = KINDS.filter((kind) => request[kind])
  const [kind] = given
  if (kind === undefined) {
    throw validationError(
      'Invalid Request: TransactWriteRequest should contain Delete or Put or Update request',
    )
  }
  if (given.length > 1) {
    throw validationError('TransactItems can only contain one of Check, Put, Update or Delete')
  }
  const action = request[kind] as NonNullable<TransactWriteItem[Kind]> & {
    Key: Item
    Item: Item
    UpdateExpression?: string
  }
  const names =
    kind === 'Update' ? ['UpdateExpression', 'ConditionExpression'] : ['ConditionExpression']
  checkExpressionParameters(action, names, [])
  const item = form.ownItem(kind === 'Put' ? action.Item : action.Key)
  if (kind === 'Put') checkItemSize(item)
  const placeholders = readPlaceholders(action, form)
  const update = kind === 'Update' ? readUpdate(action.UpdateExpression, placeholders) : undefined
  const condition = readCondition(action, placeholders, form)
  placeholders.assertAllUsed()

  const onFailure = action.ReturnValuesOnConditionCheckFailure
  const values = action.ExpressionAttributeValues
  return {
    kind,
    tableName: action.TableName,
    item,
    expressions: () => [
      action.ConditionExpression,
      action.UpdateExpression,
      onFailure,
      action.ExpressionAttributeNames,
      values && itemToWire(readExpressionValues(form, values)),
    ],
    on: (table) => bindAction(table, { kind, item, condition, update, onFailure }),
  }
}

export function bindAction(
  table: TableRecord,
  { kind, item, condition, update, onFailure }: Read,
): TableAction {
  const putting = kind === 'Put'
  const needsOld = !putting || condition !== undefined
  return {
    table,
    key: putting ? keyOf(table, item) : item,
    needsOld,
    attributes: onFailure === 'ALL_OLD' ? undefined : expressionAttributes({ condition, update }),
    refuseEmptyKeys() {
      rejectEmptyKeys(table, item)
      if (putting) rejectEmptyIndexKeys(table, item)
    },
    check() {
      if (putting) {
        checkItemKeys(table, item)
        checkIndexKeys(table, item)
      } else {
        checkKeySchema(table, item)
        checkTargets(table, update)
      }
      rejectPathsIntoKeys(table, { condition, update })
    },
    decide(tx, old) {
      assertCondition(condition, old, onFailure)
      switch (kind) {
        case 'Put':
          return item
        case 'Update':
          return updatedItem(table, update, { old, key: item, tx })
        case 'Delete':
          return undefined
        case 'ConditionCheck':
          return old
      }
    },
    write(tx, old, next) {
      if (kind === 'ConditionCheck') return
      if (!needsOld) tx.overwrite(table, item)
      else if (next && old && kind === 'Update') tx.update(table, next, old)
      else if (next) tx.put(table, next, old)
      else if (old) tx.delete(table, old)
    },
  }
}
