/** Branch keys, wherever they are: on the configured store, or behind a server. */
import {
  type BranchKeyDescription,
  type BranchKeyPage,
  createBranchKeys,
  type NewBranchKey,
} from '@strongroom/key-store/branch-keys'
import { rethrowForOperators } from '@strongroom/key-store/errors'
import type { KeyStore } from '@strongroom/key-store/key-store'
import { openKeyStoreOn, openListingOn } from '@strongroom/key-store/service'
import { branchKeysTable } from '@strongroom/key-store/table'
import { systemClock } from '@strongroom/kit/clock'
import { serverTable } from '@strongroom/kit/server-table'
import { openKms, type OpenKms } from '@strongroom/server/kms'
import { requireTables } from '@strongroom/server/tables'
import type { CommandInput } from '../command.ts'
import { operatorApiIfGiven } from '../operator-api.ts'
import { passphraseAsker } from '../passphrase.ts'
import { withStore } from '../with-store.ts'
import { remoteKeys } from './keys-remote.ts'

export interface KeyAccess {
  /** Sees that keys can be made and rotated, so that what is wrong with KMS is not told for each key. */
  ready(): Promise<void>
  create(input: NewBranchKey): Promise<{ id: string }>
  rotate(id: string): Promise<{ version: string }>
  pages(): AsyncIterable<Pick<BranchKeyPage, 'items' | 'unreadable'>>
  describe(id: string): Promise<BranchKeyDescription>
  /** The beacon key in the clear, in base64; refused over HTTP. */
  revealBeacon(id: string): Promise<string>
}

export async function withKeys<T>(
  input: CommandInput,
  work: (keys: KeyAccess) => Promise<T>,
): Promise<T> {
  const ask = operatorApiIfGiven(input, 'key-store')
  return ask ? work(remoteKeys(ask)) : withLocalKeys(input, work)
}

const PAGE = 100

async function withLocalKeys<T>(
  input: CommandInput,
  work: (keys: KeyAccess) => Promise<T>,
): Promise<T> {
  return withStore(input, async (store, configured) => {
    await requireTables(store, [serverTable, branchKeysTable])
    const [db, clock] = [store.db, systemClock]
    let kms: Promise<OpenKms> | undefined
    /** Opened when it is needed: to look at keys takes no KMS. */
    const keyStore = async (): Promise<KeyStore> => {
      kms ??= openKms(configured, store, { clock, askPassphrase: passphraseAsker(input) })
      return openKeyStoreOn({ db, clock, kmsKey: (await kms).key })
    }
    const { list, ...verbs } = createBranchKeys({
      keyStore: {
        createKey: async (given) => (await keyStore()).createKey(given),
        versionKey: async (given) => (await keyStore()).versionKey(given),
      },
      listing: openListingOn(db),
      clock,
    })
    try {
      return await work({
        ...verbs,
        ready: async () => void (await keyStore()),
        async *pages() {
          let after: BranchKeyPage['next']
          do {
            const page = await list({ limit: PAGE, after })
            yield page
            after = page.next
          } while (after)
        },
        async revealBeacon(id) {
          const opened = await keyStore()
          const { beaconKey } = await opened
            .getBeaconKey({ branchKeyIdentifier: id })
            .catch(rethrowForOperators)
          const text = Buffer.from(beaconKey).toString('base64')
          beaconKey.fill(0)
          return text
        },
      })
    } finally {
      await (await kms)?.close()
    }
  })
}
