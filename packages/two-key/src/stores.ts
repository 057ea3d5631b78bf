/** The stores of one app. */
import type { Db } from '@strongroom/kit/db'
import type { Clock } from '@strongroom/platform/clock'
import { type TripleStore, createTripleStore } from './existence/triple-store.ts'
import { appKeys } from './keys.ts'
import { createEventStore, type EventStore } from './requests/event-store.ts'
import { createTokenStore, type TokenStore } from './tokens/store.ts'

export interface TwoKeyStores {
  cache: TripleStore
  tokens: TokenStore
  events: EventStore
}

/** Without a name: those of the first app, whose keys have no prefix. */
export function createStores(options: { db: Db; clock: Clock; app?: string }): TwoKeyStores {
  const { db, clock, app } = options
  const parts = { db, clock, keys: appKeys(app) }
  return {
    cache: createTripleStore(parts),
    tokens: createTokenStore(parts),
    events: createEventStore(parts),
  }
}
