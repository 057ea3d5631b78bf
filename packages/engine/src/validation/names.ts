/**
 * Table names: a plain name, or an ARN that ends with one. Account and region of an ARN are ignored,
 * because an engine has only one of each.
 */
import { resourceNotFound, validationError } from '../errors.ts'
import type { Storage, TableRecord } from '../storage/storage.ts'

const patterns = new Map<string, RegExp>()
const ARN = /^arn:[^:]+:dynamodb:[^:]*:[^:]*:table\/([a-zA-Z0-9_.-]{3,255})$/

/** Whether the whole text matches; a table name can also be an ARN. */
export function matches(pattern: string, text: string, arn = false): boolean {
  let compiled = patterns.get(pattern)
  if (!compiled) {
    compiled = new RegExp(`^(?:${pattern})$`)
    patterns.set(pattern, compiled)
  }
  return compiled.test(text) || (arn && ARN.test(text))
}

export function nameOf(tableNameOrArn: string): string {
  return ARN.exec(tableNameOrArn)?.[1] ?? tableNameOrArn
}

/** The table of an item operation. */
export function existingTable(storage: Storage, tableNameOrArn: string): TableRecord {
  const table = storage.table(tableNameOrArn) ?? storage.table(nameOf(tableNameOrArn))
  if (!table || table.restoring) throw resourceNotFound()
  return table
}

/** The table of a table operation, for which AWS's message includes the name. */
export function namedTable(storage: Storage, tableNameOrArn: string): TableRecord {
  const name = nameOf(tableNameOrArn)
  const table = storage.table(name)
  if (!table) throw resourceNotFound(`Requested resource not found: Table: ${name} not found`)
  return table
}

/** The table with this ARN, for operations on resources. */
export function tableOfArn(storage: Storage, arn: string): TableRecord {
  if (!arn.startsWith('arn:')) throw validationError("ARNs must start with 'arn:'")
  const name = ARN.exec(arn)?.[1]
  if (name === undefined) {
    throw validationError(`Invalid TableArn: Invalid ResourceArn provided as input ${arn}`)
  }
  const table = storage.table(name)
  if (!table) throw resourceNotFound(`Requested resource not found: ResourcArn: ${arn} not found`)
  return table
}
