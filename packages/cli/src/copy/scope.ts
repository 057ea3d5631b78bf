/** Which items a copy consists of. */
import type { Item, Value } from '@strongroom/kit/db'
import { operationsTable } from '@strongroom/kit/operations-table'
import { serverTable } from '@strongroom/kit/server-table'
import type { Table } from '@strongroom/kit/table'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import { secretsTable } from '@strongroom/sealed/tables'

/** `own` belongs to one store and is never copied, nor deleted at the target. */
export type ItemClass = 'copied' | 'expired' | 'own' | 'ended'

export function classifyItem(table: Table, item: Item, clock: Clock): ItemClass {
  if (isOwnItem(table, item)) return 'own'
  const now = epochSeconds(clock)
  if (table.ttl !== undefined && isPast(item[table.ttl], now)) return 'expired'
  // The server deletes versions of its secrets that are no longer accepted.
  if (isServerSecret(table, item) && isPast(item['acceptedUntil'], now)) return 'expired'
  return table === secretsTable && !isLiveSecret(item) ? 'ended' : 'copied'
}

/**
 * The keys of the embedded KMS would not open without its master key; figures and the last backup
 * are about the processes and files of one store.
 */
export function isOwnItem(table: Table, item: Item): boolean {
  const partition = textOf(item['PK'])
  if (table === serverTable)
    return partition === 'KMSKEY' || partition.startsWith('KMSKEY#') || partition === 'COPY'
  return table === operationsTable && (partition === 'FIGURES' || partition === 'BACKUP')
}

export function isServerSecret(table: Table, item: Item): boolean {
  return table === serverTable && textOf(item['PK']).startsWith('SECRET#')
}

/** Creating tables is recorded, so a target that is otherwise empty may have an audit log. */
export function isAuditLog(table: Table, item: Item): boolean {
  return table === operationsTable && textOf(item['PK']).startsWith('AUDIT#')
}

/** Not a tombstone, and not a secret whose last view was used. */
function isLiveSecret(item: Item): boolean {
  return item['ciphertext'] !== undefined && Number(item['remainingViews']) > 0
}

/** The text of an attribute; empty for other types. */
export function textOf(value: Value | undefined): string {
  return typeof value === 'string' ? value : ''
}

function isPast(time: Value | undefined, now: number): boolean {
  return typeof time === 'number' && time <= now
}

export function keyOf({ partitionKey, sortKey }: Table, item: Item): Item {
  const names = sortKey ? [partitionKey.name, sortKey.name] : [partitionKey.name]
  return Object.fromEntries(names.map((name) => [name, item[name] as Value]))
}
