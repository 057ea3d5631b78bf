/** Everything Two-key keeps for one app. */
import type { Clock } from '@strongroom/kit/clock'
import type { Db } from '@strongroom/kit/db'
import { createEventDedupe, type EventDedupe } from './event-dedupe.ts'
import { createExistenceCache, type ExistenceCache } from './existence-cache.ts'
import { appKeys } from './keys.ts'
import { createWorkspaceTokens, type WorkspaceTokens } from './workspace-tokens.ts'

export interface TwoKeyStore {
  cache: ExistenceCache
  tokens: WorkspaceTokens
  events: EventDedupe
}

/** Without an app it is the first one, whose keys have no prefix. */
export function createTwoKeyStore(options: { db: Db; clock: Clock; app?: string }): TwoKeyStore {
  const { db, clock, app } = options
  const parts = { db, clock, keys: appKeys(app) }
  return {
    cache: createExistenceCache(parts),
    tokens: createWorkspaceTokens(parts),
    events: createEventDedupe(parts),
  }
}
