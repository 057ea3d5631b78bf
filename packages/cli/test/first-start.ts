/** Creates the store, the master key and the KMS key, as the first start of a server does. */
import { join } from 'node:path'
import { serverTable } from '@strongroom/kit/server-table'
import { systemClock } from '@strongroom/platform/clock'
import { openKms } from '@strongroom/server/kms/open'
import { settings } from '@strongroom/server/settings'
import { openStore } from '@strongroom/server/store'
import { requireTables } from '@strongroom/server/tables'

export async function firstStart(cwd: string, { data = 'data', env = {} } = {}): Promise<void> {
  const configured = settings.parse({ ...env, STRONGROOM_DATA: join(cwd, data) })
  const store = await openStore(configured)
  try {
    await requireTables(store, [serverTable])
    await (await openKms(configured, store, { clock: systemClock })).close()
  } finally {
    await store.close()
  }
}
