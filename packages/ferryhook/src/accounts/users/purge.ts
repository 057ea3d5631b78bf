/**
 * Deletes an account. One write deletes the user and creates a task to delete what belongs to them.
 * If the process that runs the task stops, a worker resumes it.
 */
import type { Db } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import type { Log } from '@strongroom/kit/log'
import type { Clock } from '@strongroom/platform/clock'
import type { AlertSettingsStore } from '../../alerts/store.ts'
import type { LocalEvents } from '../../local-events.ts'
import type { Shards } from '../../queue/shards.ts'
import { type PurgeTask, PurgeTaskItem, purgeTaskKey } from '../../queue/tasks.ts'
import type { SourceStore } from '../../sources/store.ts'
import { WriteRejected } from '../../storage/write-rejected.ts'
import { eventsTable } from '../../tables.ts'
import type { ApiKeyStore } from '../api-keys/store.ts'
import type { Audited } from '../audit/store.ts'
import type { SecondFactorStore } from '../second-factor/store.ts'
import type { SessionStore } from '../sessions/store.ts'
import type { User } from './item.ts'
import type { UserStore } from './store.ts'

/** The process that begins a purge also finishes it; workers wait this long before they take over. */
const HEAD_START_MS = 60_000

type AccountPurge = ReturnType<typeof createAccountPurge>

export function createAccountPurge(deps: {
  db: Db
  clock: Clock
  shards: Pick<Shards, 'shardFor'>
  users: Pick<UserStore, 'delete'>
  sources: Pick<SourceStore, 'listByUser' | 'purge'>
  alertSettings: Pick<AlertSettingsStore, 'delete'>
  apiKeys: Pick<ApiKeyStore, 'listByUser' | 'delete'>
  sessions: Pick<SessionStore, 'listByUser' | 'revoke'>
  secondFactors: Pick<SecondFactorStore, 'delete'>
}) {
  const { db, clock, users, sources, alertSettings, apiKeys, sessions, secondFactors } = deps
  const tasks = entity(db, eventsTable, PurgeTaskItem)

  async function purgeSources(userId: string): Promise<string[]> {
    const purged = new Set<string>()
    // Repeat until none is left: a concurrent purge may stop half-way.
    for (;;) {
      const left = await sources.listByUser(userId, { includeDeleted: true })
      if (left.length === 0) return [...purged]
      for (const { sourceId } of left) {
        await sources.purge(sourceId, userId).catch(ignoreMissing)
        purged.add(sourceId)
      }
    }
  }

  return {
    /** Rejected with `password_changed`, before anything is deleted, unless the user is as expected. */
    async begin(
      { userId }: Pick<User, 'userId'>,
      { by, expected }: Audited & { expected?: User } = {},
    ): Promise<PurgeTask> {
      const dueAt = clock.now() + HEAD_START_MS
      const key = purgeTaskKey.of({ shard: await deps.shards.shardFor(userId), dueAt, userId })
      const task: PurgeTask = { ...key, kind: 'purge', dueAt, userId }
      await users.delete(userId, { expected, by, extraParts: [tasks.part.put(task)] })
      return task
    },

    /** Without a user nothing new is created, so one pass finds everything. Returns the source ids. */
    async finish({ PK, SK, userId }: PurgeTask): Promise<string[]> {
      await alertSettings.delete(userId)
      await secondFactors.delete(userId)
      for (const { keyId } of await apiKeys.listByUser(userId)) {
        await apiKeys.delete(keyId, userId).catch(ignoreMissing)
      }
      const purged = await purgeSources(userId)
      for (const { familyId } of await sessions.listByUser(userId)) {
        await sessions.revoke(userId, familyId)
      }
      await tasks.delete({ PK, SK })
      return purged
    },
  }
}

/** Finishes a purge that has begun, or leaves it to a worker: the user is deleted in any case. */
export async function finishPurge(
  deps: {
    stores: { accountPurge: Pick<AccountPurge, 'finish'> }
    localEvents: LocalEvents
    log: Log
  },
  task: PurgeTask,
): Promise<void> {
  const { stores, localEvents, log } = deps
  localEvents.userChanged(task.userId)
  try {
    const sourceIds = await stores.accountPurge.finish(task)
    for (const sourceId of sourceIds) localEvents.sourceChanged(sourceId)
  } catch (error) {
    log.warn('account purge failed, a worker will resume it', { error })
  }
  localEvents.workDue()
}

/** A concurrent purge deleted it first. */
function ignoreMissing(error: unknown): void {
  if (!(error instanceof WriteRejected && error.reason === 'not_found')) throw error
}
