/** Creates branch keys of any age on the embedded store of a directory, in this process. */
import type { BranchKeys } from '@strongroom/key-store/branch-keys/service'
import { openBranchKeys } from '@strongroom/key-store/start'
import { branchKeysTable } from '@strongroom/key-store/tables'
import type { Db } from '@strongroom/kit/db'
import { serverTable } from '@strongroom/kit/server-table'
import { openKms } from '@strongroom/server/kms/open'
import { settings } from '@strongroom/server/settings'
import { openStore } from '@strongroom/server/store'
import { requireTables } from '@strongroom/server/tables'

export async function onBranchKeysOf<T>(
  cwd: string,
  { ageDays = 0 }: { ageDays?: number },
  work: (branchKeys: BranchKeys, db: Db) => Promise<T>,
): Promise<T> {
  const configured = settings.parse({ STRONGROOM_DATA: `${cwd}/data` })
  const clock = { now: () => Date.now() - ageDays * 86_400_000 }
  const store = await openStore(configured)
  try {
    await requireTables(store, [serverTable, branchKeysTable])
    const kms = await openKms(configured, store, { clock })
    try {
      return await work(openBranchKeys({ db: store.db, clock, kmsKey: kms.key }), store.db)
    } finally {
      await kms.close()
    }
  } finally {
    await store.close()
  }
}

/** Creates keys `key:0` to `key:{count - 1}`. */
export async function makeKeys(cwd: string, count: number, ageDays: number): Promise<void> {
  await onBranchKeysOf(cwd, { ageDays }, async (branchKeys) => {
    for (let number = 0; number < count; number++) {
      await branchKeys.create({ id: `key:${number}`, encryptionContext: { tenant: 'a' } })
    }
  })
}
