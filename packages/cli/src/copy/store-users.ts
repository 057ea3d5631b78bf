/** Which processes use a store. */
import { resolve } from 'node:path'
import { openStorage } from '@strongroom/engine/storage/open-storage'
import { operationsTable } from '@strongroom/kit/operations-table'
import { findMissingTables } from '@strongroom/kit/tables'
import type { Clock } from '@strongroom/platform/clock'
import { createFiguresStore } from '@strongroom/server/figures/store'
import { MISSING_AFTER_MS, toProcesses } from '@strongroom/server/status/processes'
import type { Side } from './side.ts'

/**
 * What uses the store now. On a data directory every process counts, elsewhere the servers and workers
 * that report their figures; functions on AWS report none.
 */
export async function findUsers({ store }: Pick<Side, 'store'>, clock: Clock): Promise<string[]> {
  if (store.kind === 'embedded') return processesOn(store.location)
  const now = clock.now()
  // A store of an earlier version, or one whose tables are not created yet.
  if ((await findMissingTables(store.db, [operationsTable])).length > 0) return []
  const figures = await createFiguresStore({ db: store.db, clock }).listSince(
    now - MISSING_AFTER_MS,
  )
  const running = toProcesses(figures, now).filter(({ isMissing }) => !isMissing)
  return [...new Set(running.map(({ role, host, pid }) => `${role} on ${host}, process ${pid}`))]
}

export async function processesOn(directory: string): Promise<string[]> {
  const storage = openStorage({ directory: resolve(directory), sweepIntervalMs: 0 })
  try {
    return storage.environment.otherProcesses().map((pid) => `process ${pid}`)
  } finally {
    await storage.close()
  }
}
