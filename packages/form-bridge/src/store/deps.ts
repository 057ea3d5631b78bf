import type { Clock } from '@strongroom/kit/clock'
import type { Db, Item } from '@strongroom/kit/db'

/** What every part of the store is made of. */
export interface StoreDeps {
  db: Db
  clock: Clock
}

/** Which page of a list. */
export interface PageRequest {
  limit?: number
  /** `next` of the page before; a service seals it for its clients, see `kit/cursor`. */
  after?: Item | undefined
}

export const DEFAULT_LIMIT = 50
