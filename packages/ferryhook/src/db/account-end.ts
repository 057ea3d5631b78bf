/**
 * The end of an account. The user is gone with one write, which leaves a task to remove what is theirs:
 * wherever the process that does so ends, a worker goes on with it.
 */
import type { Clock } from '@strongroom/kit/clock'
import type { Db } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { type PurgeTask, PurgeTaskItem, purgeTaskKey } from '../items/task.ts'
import type { User } from '../items/user.ts'
import { eventsTable } from '../table.ts'
import type { AlertSettingsBook } from './alert-settings.ts'
import type { ApiKeys } from './api-keys.ts'
import type { Logged } from './audit.ts'
import type { DueShards } from './due-shards.ts'
import type { RefreshTokens } from './refresh-tokens.ts'
import { Refused } from './refused.ts'
import type { Sources } from './sources.ts'
import type { Users } from './users.ts'

/** Whoever begins also finishes, unless their process ends: until then no worker does the same. */
const HEAD_START_MS = 60_000

export interface AccountEndDeps {
  db: Db
  clock: Clock
  shards: Pick<DueShards, 'of'>
  users: Pick<Users, 'delete'>
  sources: Pick<Sources, 'listByUser' | 'purge'>
  alertSettings: Pick<AlertSettingsBook, 'delete'>
  apiKeys: Pick<ApiKeys, 'listByUser' | 'delete'>
  refreshTokens: Pick<RefreshTokens, 'listByUser' | 'revoke'>
}

export function createAccountEnd(deps: AccountEndDeps) {
  const { db, clock, users, sources, alertSettings, apiKeys, refreshTokens } = deps
  const tasks = entity(db, eventsTable, PurgeTaskItem)

  async function purgeSources(userId: string): Promise<string[]> {
    const purged = new Set<string>()
    // Until there is none: of one that somebody else purges too, they may leave the rest to us.
    for (;;) {
      const left = await sources.listByUser(userId, { includeDeleted: true })
      if (left.length === 0) return [...purged]
      for (const { sourceId } of left) {
        await sources.purge(sourceId, userId).catch(unlessGone)
        purged.add(sourceId)
      }
    }
  }

  return {
    /** Refused with `password_changed` if it is not the one that was seen; then nothing has ended. */
    async begin(seen: User, { by }: Logged = {}): Promise<PurgeTask> {
      const { userId } = seen
      const dueAt = clock.now() + HEAD_START_MS
      const key = purgeTaskKey.of({ shard: await deps.shards.of(userId), dueAt, userId })
      const task: PurgeTask = { ...key, kind: 'purge', dueAt, userId }
      await users.delete(userId, { seen, by, also: [tasks.part.put(task)] })
      return task
    },

    /** Without a user nothing is made any more, so that what is there now is all. Tells the sources. */
    async finish({ PK, SK, userId }: PurgeTask): Promise<string[]> {
      await alertSettings.delete(userId)
      for (const { keyId } of await apiKeys.listByUser(userId)) {
        await apiKeys.delete(keyId, userId).catch(unlessGone)
      }
      const purged = await purgeSources(userId)
      for (const { familyId } of await refreshTokens.listByUser(userId)) {
        await refreshTokens.revoke(userId, familyId)
      }
      await tasks.delete({ PK, SK })
      return purged
    },
  }
}

/** Somebody who does the same at once was faster. */
function unlessGone(error: unknown): void {
  if (!(error instanceof Refused && error.reason === 'not_found')) throw error
}
