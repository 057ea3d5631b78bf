import { type AddedUser, addUser as addTo } from '@strongroom/ferryhook/accounts/users/add-user'
import { ferryhookService } from '@strongroom/ferryhook/service'
import { systemClock } from '@strongroom/platform/clock'
import type { Settings } from './settings.ts'
import type { Store } from './store.ts'
import { requireTables, tablesOf } from './tables.ts'

/** Makes an account of Ferryhook. */
export async function addUser(
  store: Store,
  settings: Settings,
  user: { email: string; name: string },
): Promise<AddedUser> {
  await requireTables(store, tablesOf([ferryhookService]))
  // Parsed by the one table that has the settings of every service.
  return addTo({ db: store.db, clock: systemClock, config: settings as never }, user)
}
