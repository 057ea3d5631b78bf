import { type Settings, settings } from '@strongroom/server/settings'
import { openStore, type Store } from '@strongroom/server/store'
import type { CommandInput } from './command.ts'

/** Opens the configured store for one command and closes it again, whatever happens. */
export async function withStore<T>(
  { env }: CommandInput,
  work: (store: Store, configured: Settings) => Promise<T>,
): Promise<T> {
  const configured = settings.parse(env)
  const store = await openStore(configured)
  try {
    return await work(store, configured)
  } finally {
    await store.close()
  }
}
