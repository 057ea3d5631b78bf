/** A secret of a server, opened as the server does: with its store, its KMS and its master key. */
import { join } from 'node:path'
import { systemClock } from '@strongroom/platform/clock'
import { createServerSecrets, type ServerSecret } from '@strongroom/kit/server-secrets'
import { serverTable } from '@strongroom/kit/server-table'
import { openKms } from '@strongroom/server/kms/open'
import { settings } from '@strongroom/server/settings'
import { openStore } from '@strongroom/server/store'
import { requireTables } from '@strongroom/server/tables'

/** The accepted versions; created if there are none. */
export async function serverSecret(
  cwd: string,
  { name = 'cursor', data = 'data', env = {} } = {},
): Promise<readonly ServerSecret[]> {
  const configured = settings.parse({ ...env, STRONGROOM_DATA: join(cwd, data) })
  const store = await openStore(configured)
  try {
    await requireTables(store, [serverTable])
    const kms = await openKms(configured, store, { clock: systemClock })
    const secrets = createServerSecrets({ db: store.db, key: kms.key, clock: systemClock })
    try {
      return await secrets.accepted(name)
    } finally {
      await kms.close()
    }
  } finally {
    await store.close()
  }
}
