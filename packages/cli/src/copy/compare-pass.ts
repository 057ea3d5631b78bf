/**
 * The second pass: compares every item of the source with the target's, corrects what differs and
 * deletes what the source does not have. Item by item, so its memory does not grow with the tables.
 */
import type { Db, Item } from '@strongroom/kit/db'
import { Failure } from '@strongroom/kit/errors'
import type { Table } from '@strongroom/kit/table'
import { classifyItem, keyOf } from './scope.ts'
import { Checksum, itemBytes } from './item-bytes.ts'
import { type CopySession, isCopied, MAX_KMS_CALLS, scanPages, transferItems } from './session.ts'
import { deleteItems, forEachLimited } from './write-items.ts'

/** DynamoDB's limit. */
const MAX_KEYS = 100
const MAX_READS_IN_FLIGHT = 4

export interface TableReport {
  table: string
  items: number
  /** Of the items as the target returned them, without what KMS wrapped. */
  checksum: string
  /** Items that contain something that KMS wrapped. */
  rewrapped: number
  /** Items of the source that have expired or ended. */
  skipped: number
  /** Items that differed or were missing, or that the source no longer has. */
  corrected: number
}

export async function compareTable(session: CopySession, table: Table): Promise<TableReport> {
  const checksum = new Checksum()
  const counts = { rewrapped: 0, skipped: 0, corrected: 0 }
  for await (const { items } of scanPages(session, session.source, table)) {
    const copied = items.filter((item) => isCopied(session, table, item))
    counts.skipped += items.filter((item) => {
      const kind = classifyItem(table, item, session.clock)
      return kind === 'expired' || kind === 'ended'
    }).length
    const found = await readItems(session.target, table, copied)
    await forEachLimited(copied, MAX_KMS_CALLS, async (item) => {
      const outcome = await compareItem(session, table, item, found.get(keyText(table, item)))
      if (!outcome) return
      const { target, isCorrected } = outcome
      if (isCorrected) counts.corrected += 1
      const comparable = session.rewrapper.toComparable(table, target)
      if (comparable !== target) counts.rewrapped += 1
      checksum.add(itemBytes(comparable))
    })
  }
  counts.corrected += await deleteExtraItems(session, table)
  return { table: table.name, items: checksum.items, checksum: String(checksum), ...counts }
}

/** Copies one item again if it differs. Undefined if it is not part of the copy any more. */
async function compareItem(
  session: CopySession,
  table: Table,
  seen: Item,
  found: Item | undefined,
): Promise<{ target: Item; isCorrected: boolean } | undefined> {
  if (found && (await session.rewrapper.isSame(table, seen, found)))
    return { target: found, isCorrected: false }
  const target = await copyItem(session, table, keyOf(table, seen))
  return target && { target, isCorrected: true }
}

const MAX_ATTEMPTS = 5

/**
 * Makes the target's item equal to the source's one, and returns it as the target stores it. The
 * source may change it between two reads, so both are read again after the write.
 */
export async function copyItem(
  session: CopySession,
  table: Table,
  key: Item,
): Promise<Item | undefined> {
  const { source, target, rewrapper } = session
  const read = async (db: Db) =>
    (await db.getItem({ TableName: table.name, Key: key, ConsistentRead: true })).Item
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const item = await read(source)
    if (!item || !isCopied(session, table, item)) {
      const stored = await read(target)
      if (stored && isCopied(session, table, stored)) await deleteItems(target, table, [key])
      return undefined
    }
    await transferItems(session, table, [item])
    const stored = await read(target)
    const now = await read(source)
    if (stored && now && (await rewrapper.isSame(table, now, stored))) return stored
  }
  throw new Failure(
    'failed',
    `An item of ${table.name} is not at the target after ${MAX_ATTEMPTS} attempts: check that nothing else writes to the target, and run the same command again`,
  )
}

/** Deletes items that the source does not have, or no longer; returns how many. */
async function deleteExtraItems(session: CopySession, table: Table): Promise<number> {
  let deleted = 0
  for await (const { items } of scanPages(session, session.target, table)) {
    const copied = items.filter((item) => isCopied(session, table, item))
    const found = await readItems(session.source, table, copied)
    const extra = copied.filter((item) => {
      const original = found.get(keyText(table, item))
      return !original || !isCopied(session, table, original)
    })
    for (const item of extra) {
      // The source may have created it after it was read.
      if ((await copyItem(session, table, keyOf(table, item))) === undefined) deleted += 1
    }
  }
  return deleted
}

/** The items with the keys of these items, by key. */
async function readItems(db: Db, table: Table, items: readonly Item[]): Promise<Map<string, Item>> {
  const found = new Map<string, Item>()
  const batches = Array.from({ length: Math.ceil(items.length / MAX_KEYS) }, (_, at) =>
    items.slice(at * MAX_KEYS, (at + 1) * MAX_KEYS),
  )
  await forEachLimited(batches, MAX_READS_IN_FLIGHT, async (batch) => {
    // The engine and DynamoDB return at most 16 MB and name the keys that are left.
    let keys: Item[] | undefined = batch.map((item) => keyOf(table, item))
    while (keys && keys.length > 0) {
      const output = await db.batchGetItem({
        RequestItems: { [table.name]: { Keys: keys, ConsistentRead: true } },
      })
      for (const item of output.Responses?.[table.name] ?? []) found.set(keyText(table, item), item)
      keys = output.UnprocessedKeys?.[table.name]?.Keys
    }
  })
  return found
}

export function keyText(table: Table, item: Item): string {
  return JSON.stringify(Object.values(keyOf(table, item)))
}
