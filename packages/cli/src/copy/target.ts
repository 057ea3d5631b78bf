/** Prepares the target of a copy: its tables, and whether this copy may write to it. */
import { randomUUID } from 'node:crypto'
import { Failure } from '@strongroom/kit/errors'
import type { Table } from '@strongroom/kit/table'
import { createTables, findMissingTables } from '@strongroom/kit/tables'
import type { Clock } from '@strongroom/platform/clock'
import { type StoreCopyItem, STORE_COPY, type TableProgress } from '@strongroom/server/copies/item'
import { createCopyState } from '@strongroom/server/copies/state'
import { everyTable } from '@strongroom/server/data-model'
import { requireDeclaredTables } from '@strongroom/server/tables'
import { classifyItem, isAuditLog } from './scope.ts'
import type { Side } from './side.ts'
import { repeatIfLost } from './write-items.ts'

/** On a data directory missing tables are created; elsewhere only if the user asks for it. */
export async function prepareTables({ store, name }: Side, mayCreate: boolean): Promise<void> {
  const { db, kind, recoveryDays } = store
  if (kind === 'embedded' || mayCreate) await createTables(db, everyTable, { recoveryDays })
  const [missing] = await findMissingTables(db, everyTable)
  if (missing !== undefined) {
    throw new Failure(
      'failed',
      `The target has no table ${missing}: pass --create-tables, deploy the tables, or correct --${name}-prefix`,
    )
  }
  await requireDeclaredTables(store, everyTable)
}

export interface CopyProgress {
  /** Whether an earlier run has begun this copy. */
  isResumed: boolean
  tableProgress(table: Table): TableProgress | undefined
  saveTable(table: Table, progress: TableProgress): Promise<void>
  complete(): Promise<void>
}

/** Reserves the target for this copy, or takes over where an earlier run of it stopped. */
export async function beginCopy(
  { store }: Side,
  copy: { source: string; kmsArn: string },
  { overwrite, clock }: { overwrite: boolean; clock: Clock },
): Promise<CopyProgress> {
  const { db } = store
  const state = createCopyState(db)
  const before = await state.load()
  const isSame = before?.source === copy.source && before.kmsArn === copy.kmsArn
  if (before && !isSame && !overwrite) throw anotherCopy(before)
  if (!before && !overwrite) await requireEmpty(db, clock)
  let item: StoreCopyItem = {
    ...STORE_COPY,
    ...copy,
    state: 'copying',
    run: randomUUID(),
    startedAt: isSame ? before.startedAt : new Date(clock.now()).toISOString(),
    tables: isSame ? before.tables : {},
  }
  if (!(await state.begin(item, before))) throw takenOver()

  async function save(changed: StoreCopyItem): Promise<void> {
    if (!(await repeatIfLost(() => state.save(changed)))) throw takenOver()
    item = changed
  }
  return {
    isResumed: isSame,
    tableProgress: ({ name }) => item.tables[name],
    saveTable: ({ name }, progress) =>
      save({ ...item, tables: { ...item.tables, [name]: progress } }),
    complete: () => save({ ...item, state: 'complete' }),
  }
}

function anotherCopy({ source, state }: StoreCopyItem): Failure {
  const what = state === 'complete' ? 'a copy' : 'an unfinished copy'
  return new Failure(
    'failed',
    `The target is ${what} of ${source} or for another KMS key: pass the same --from and --to-key, or --overwrite to begin again`,
  )
}

function takenOver(): Failure {
  return new Failure(
    'failed',
    'Another process copies into the same target and has taken over: wait until it ends',
  )
}

async function requireEmpty(db: Side['store']['db'], clock: Clock): Promise<void> {
  for (const table of everyTable) {
    let after: object | undefined
    do {
      const page = await db.scan({
        TableName: table.name,
        ConsistentRead: true,
        ...(after && { ExclusiveStartKey: after as never }),
      })
      const found = (page.Items ?? []).some(
        (item) => classifyItem(table, item, clock) === 'copied' && !isAuditLog(table, item),
      )
      if (found) {
        throw new Failure(
          'failed',
          `The target is not empty (${table.name}): choose another one, or pass --overwrite to replace what it has; nothing was changed`,
        )
      }
      after = page.LastEvaluatedKey
    } while (after)
  }
}
