import type { Clock } from '@strongroom/kit/clock'
import type { Cursors } from '@strongroom/kit/cursor'
import type { Db } from '@strongroom/kit/db'

/** What every part of the data layer is made from. */
export interface DataLayerDeps {
  /** Expected to wait out what passes by itself: `retryingDb`. */
  db: Db
  clock: Clock
  cursors: Cursors
}

/** A page of a listing, as the API shows it. */
export interface PaginatedResult<T> {
  items: T[]
  /** Where to continue; null if there is no more. */
  cursor: string | null
}
