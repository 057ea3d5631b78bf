/** INSERT, UPDATE, DELETE and EXISTS as actions on one item, alone or in a transaction. */
import { duplicateItem, validationError } from '../errors.ts'
import { bindUpdate, type Update } from '../expressions/bind-update.ts'
import type { Condition } from '../expressions/condition.ts'
import { bindAction, type TableAction } from '../operations/transact-action.ts'
import { checkItemSize } from '../operations/write.ts'
import type { Storage, TableRecord } from '../storage/storage.ts'
import { keyAttributes } from '../validation/keys.ts'
import { existingTable } from '../validation/names.ts'
import { attribute, type Item } from '../values/types.ts'
import { withoutKind } from './errors.ts'
import { type Bound, bindItem, bindWhere } from './statement.ts'
import { allOf, assertKeyType, type OneItem, oneItem } from './key-values.ts'
import type { Change, Exists, Insert, Statement } from './syntax.ts'

export type WriteBody = Insert | Change | Exists

export interface WriteAction {
  action: TableAction
  /** Decides what RETURNING returns. */
  update: Update | undefined
  /** The written item, which counts towards the size of a transaction. */
  item: Item
}

type OnFailure = 'NONE' | 'ALL_OLD' | undefined

export function isWrite(body: Statement['body']): body is WriteBody {
  return body.type !== 'select'
}

export function writeAction(
  storage: Storage,
  body: WriteBody,
  bound: Bound,
  onFailure: OnFailure,
): WriteAction {
  const table = existingTable(storage, body.type === 'exists' ? body.select.table : body.table)
  switch (body.type) {
    case 'insert':
      return insertion(table, bindItem(bound, body))
    case 'exists':
      return existence(table, bindWhere(bound, body.select.where), onFailure)
    default:
      return change(table, body, bound, onFailure)
  }
}

function insertion(table: TableRecord, item: Item): WriteAction {
  checkItemSize(item)
  const put = bindAction(table, {
    kind: 'Put',
    item,
    condition: undefined,
    update: undefined,
    onFailure: undefined,
  })
  const action: TableAction = {
    ...put,
    needsOld: true,
    check() {
      for (const key of keyAttributes(table.keys)) {
        const value = attribute(item, key.name)
        if (value === undefined) {
          throw validationError(`Key attribute should be present in the item: Key ${key.name}`)
        }
        assertKeyType(key, value)
      }
      put.check()
    },
    decide(_tx, old) {
      if (old) throw duplicateItem()
      return item
    },
  }
  return { action, update: undefined, item }
}

function change(table: TableRecord, body: Change, bound: Bound, onFailure: OnFailure): WriteAction {
  const { key, rest } = mandatoryKey(table, bindWhere(bound, body.where))
  if (body.type === 'update') {
    const update = withoutKind(() => bindUpdate(body.actions, bound.placeholders))
    const condition = there(table, rest)
    const action = bindAction(table, { kind: 'Update', item: key, condition, update, onFailure })
    return { action, update, item: key }
  }
  const removal = bindAction(table, {
    kind: 'Delete',
    item: key,
    condition: rest,
    update: undefined,
    onFailure,
  })
  // Deleting a missing item succeeds without evaluating the condition.
  const action: TableAction = {
    ...removal,
    decide: (tx, old) => old && removal.decide(tx, old),
  }
  return { action, update: undefined, item: key }
}

function existence(
  table: TableRecord,
  where: Condition | undefined,
  onFailure: OnFailure,
): WriteAction {
  const found = oneItem(table, where)
  if (!found?.rest) {
    throw validationError('EXISTS() must contain a single item read with additional condition')
  }
  const action = bindAction(table, {
    kind: 'ConditionCheck',
    item: found.key,
    condition: there(table, found.rest),
    update: undefined,
    onFailure,
  })
  return { action, update: undefined, item: found.key }
}

/** Succeeds if the item exists and meets the condition. */
function there(table: TableRecord, condition: Condition | undefined): Condition | undefined {
  const exists: Condition = { type: 'exists', path: [table.keys.partition.name], expected: true }
  return allOf(condition ? [exists, condition] : [exists])
}

function mandatoryKey(table: TableRecord, where: Condition | undefined): OneItem {
  const found = oneItem(table, where)
  if (found) return found
  throw validationError('Where clause does not contain a mandatory equality on all key attributes')
}
