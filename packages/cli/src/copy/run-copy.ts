/** Copies a store: every item, then a comparison of both sides, then what changed meanwhile. */
import { createAuditLog } from '@strongroom/kit/audit-log'
import { Failure } from '@strongroom/kit/errors'
import { branchKeysTable } from '@strongroom/key-store/tables'
import { serverTable } from '@strongroom/kit/server-table'
import type { Table } from '@strongroom/kit/table'
import { findMissingTables } from '@strongroom/kit/tables'
import type { Clock } from '@strongroom/platform/clock'
import { secretsTable } from '@strongroom/sealed/tables'
import { requireNoUnfinishedCopy } from '@strongroom/server/copies/state'
import { requireKnownVersion } from '@strongroom/server/store-version/store-version'
import { everyTable } from '@strongroom/server/data-model'
import { localActor } from '@strongroom/server/local-actor'
import { type ChangeFeed, openChangeFeed } from './change-feed.ts'
import { compareTable, copyItem, type TableReport } from './compare-pass.ts'
import { copyTable } from './copy-pass.ts'
import { isOwnItem } from './scope.ts'
import { type CopySession, isCopied } from './session.ts'
import type { Side } from './side.ts'
import { findUsers } from './store-users.ts'
import type { CopyProgress } from './target.ts'
import { wrappedParts } from './wrapped-parts.ts'

/** How often everything is compared if the source has no streams. */
const MAX_PASSES = 3
/** How often the changes of a running source are copied. */
const MAX_ROUNDS = 10

export interface CopyOutcome {
  tables: TableReport[]
  /** Items that the source changed during the last round; they were copied, and may have changed since. */
  remaining: number
}

/** The tables of the source that are copied. Stores of earlier versions have fewer. */
export async function tablesToCopy(source: Side, withSealed: boolean): Promise<Table[]> {
  const missing = new Set(await findMissingTables(source.store.db, everyTable))
  if (missing.has(serverTable.name)) {
    throw new Failure(
      'failed',
      `The source has no table ${serverTable.name}: correct --from or --from-prefix`,
    )
  }
  await requireNoUnfinishedCopy(source.store.db)
  await requireKnownVersion(source.store.db)
  return everyTable.filter(
    (table) => !missing.has(table.name) && (withSealed || table !== secretsTable),
  )
}

export async function requireStopped(side: Side, clock: Clock, advice: string): Promise<void> {
  const users = await findUsers(side, clock)
  if (users.length === 0) return
  throw new Failure('failed', `The ${side.role} is in use (${users.join('; ')}): ${advice}`)
}

/** Re-wraps one item of each kind without storing it, so that a wrong KMS fails before anything is written. */
export async function checkRewrapping(session: CopySession): Promise<void> {
  const { source, rewrapper } = session
  for (const table of [serverTable, branchKeysTable]) {
    const missing = await findMissingTables(source, [table])
    if (missing.length > 0) continue
    const { Items = [] } = await source.scan({ TableName: table.name, ConsistentRead: true })
    const wrapped = Items.find(
      (item) => isCopied(session, table, item) && wrappedParts(table, item).length > 0,
    )
    if (!wrapped) continue
    const { item } = await rewrapper.toTarget(table, wrapped)
    if (await rewrapper.isSame(table, wrapped, item)) continue
    throw new Failure(
      'failed',
      'The KMS of the target cannot decrypt what it encrypted: check --to-kms and --to-key; nothing was changed',
    )
  }
}

export async function runCopy(
  session: CopySession,
  sides: { from: Side; to: Side },
  tables: readonly Table[],
  progress: CopyProgress,
  { whileRunning }: { whileRunning: boolean },
): Promise<CopyOutcome> {
  const { from, to } = sides
  const hasStreams = whileRunning && from.store.kind === 'embedded'
  const prefix = from.settings.STRONGROOM_TABLE_PREFIX
  const feed = hasStreams ? await openChangeFeed(from.store.location, prefix, tables) : undefined
  try {
    for (const table of tables) {
      await copyTable(session, table, progress.tableProgress(table), (each) =>
        progress.saveTable(table, each),
      )
    }
    if (feed) await copyChanges(session, feed, tables)
    const outcome = await compareAll(session, tables, { whileRunning, feed })
    if (!whileRunning) await requireStopped(from, session.clock, STARTED_MEANWHILE)
    await createAuditLog({ db: to.store.db, clock: session.clock }).record({
      ...localActor(),
      action: 'server.store.copied',
      after: { from: from.label },
    })
    await progress.complete()
    return outcome
  } finally {
    await feed?.close()
  }
}

const STARTED_MEANWHILE =
  'it started during the copy. Stop it, or pass --while-running, and run the command again.'

async function compareAll(
  session: CopySession,
  tables: readonly Table[],
  { whileRunning, feed }: { whileRunning: boolean; feed: ChangeFeed | undefined },
): Promise<CopyOutcome> {
  const correctedBefore = new Map<Table, number>()
  for (let pass = 1; ; pass++) {
    const reports: TableReport[] = []
    let corrected = 0
    for (const table of tables) {
      session.progress(`${table.name}: comparing`)
      const report = await compareTable(session, table)
      corrected += report.corrected
      const total = report.corrected + (correctedBefore.get(table) ?? 0)
      correctedBefore.set(table, total)
      reports.push({ ...report, corrected: total })
    }
    if (feed) return { tables: reports, remaining: await copyChanges(session, feed, tables) }
    if (corrected === 0 || (whileRunning && pass === MAX_PASSES))
      return { tables: reports, remaining: corrected }
    session.progress(`${corrected} items differed and were copied again: comparing once more`)
    if (pass < MAX_PASSES) continue
    throw new Failure(
      'failed',
      `The source changes during the copy (${corrected} items in the last comparison). Stop what writes to it, or pass --while-running, and run the command again.`,
    )
  }
}

/** Copies what streams report until there is nothing new; returns how much the last round found. */
async function copyChanges(
  session: CopySession,
  feed: ChangeFeed,
  tables: readonly Table[],
): Promise<number> {
  let found = 0
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    found = 0
    for (const table of tables) {
      const keys = await feed.read(table)
      for (const key of keys) {
        if (isOwnItem(table, key)) continue
        await copyItem(session, table, key)
        found += 1
      }
    }
    if (found === 0) break
    session.progress(`${found} items that changed meanwhile were copied`)
  }
  return found
}
