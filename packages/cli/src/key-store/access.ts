/** Access to branch keys, on the configured store or through a server. */
import {
  type BranchKeyDescription,
  type BranchKeyPage,
  createBranchKeys,
  type NewBranchKey,
} from '@strongroom/key-store/branch-keys/service'
import { createAuditedBranchKeys } from '@strongroom/key-store/branch-keys/audited'
import { rethrowForOperators } from '@strongroom/key-store/errors'
import { openKeyStoreOn, openListingOn } from '@strongroom/key-store/start'
import type { KeyStore } from '@strongroom/key-store/store/key-store'
import { branchKeysTable } from '@strongroom/key-store/tables'
import type { Db } from '@strongroom/kit/db'
import { systemClock } from '@strongroom/platform/clock'
import { openKms, type OpenKms } from '@strongroom/server/kms/open'
import { createOperatorClientIfRequested, type ApiClient } from '../api-client.ts'
import { type CommandInput, usageError } from '../command.ts'
import { askMasterKeyPassphrase } from '../input.ts'
import { withAuditedStore } from '../server/audited-store.ts'

export interface KeyAccess {
  /** Checks KMS, so that an outage is reported once and not for each key. */
  ready(): Promise<void>
  create(input: NewBranchKey): Promise<{ id: string }>
  rotate(id: string): Promise<{ version: string }>
  pages(): AsyncIterable<Pick<BranchKeyPage, 'items' | 'unreadable'>>
  describe(id: string): Promise<BranchKeyDescription>
  /** The plaintext beacon key in base64; rejected over HTTP. */
  revealBeacon(id: string): Promise<string>
}

export async function withKeys<T>(
  input: CommandInput,
  work: (keys: KeyAccess) => Promise<T>,
): Promise<T> {
  const api = createOperatorClientIfRequested(input, 'key-store')
  return api ? work(remoteKeys(api)) : withLocalKeys(input, work)
}

const PAGE_SIZE = 100

async function withLocalKeys<T>(
  input: CommandInput,
  work: (keys: KeyAccess) => Promise<T>,
): Promise<T> {
  return withAuditedStore(input, [branchKeysTable], async ({ store, configured, auditLog, by }) => {
    const [db, clock] = [store.db, systemClock]
    let kms: Promise<OpenKms> | undefined
    /** Opened on first use, because reading keys needs no KMS. */
    const keyStore = async (on = db): Promise<KeyStore> => {
      kms ??= openKms(configured, store, { clock, askPassphrase: askMasterKeyPassphrase(input) })
      return openKeyStoreOn({ db: on, clock, kmsKey: (await kms).key })
    }
    const branchKeysOn = (on: Db) =>
      createBranchKeys({
        keyStore: {
          createKey: async (given) => (await keyStore(on)).createKey(given),
          versionKey: async (given) => (await keyStore(on)).versionKey(given),
        },
        listing: openListingOn(db),
        clock,
      })
    const { list, describe } = branchKeysOn(db)
    const audited = createAuditedBranchKeys({ auditLog, branchKeysOn })
    try {
      return await work({
        describe,
        create: (given) => audited.create(by, given),
        rotate: (id) => audited.rotate(by, id),
        ready: async () => void (await keyStore()),
        async *pages() {
          let after: BranchKeyPage['next']
          do {
            const page = await list({ limit: PAGE_SIZE, after })
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

/** Over HTTP, with an operator's token. */
function remoteKeys(api: ApiClient): KeyAccess {
  return {
    ready: async () => {},

    create: ({ id, encryptionContext }: NewBranchKey) =>
      api('POST', '/keys', { id, encryptionContext }),

    rotate: (id) => api('POST', `${pathOf(id)}/versions`),

    describe: (id) => api<BranchKeyDescription>('GET', pathOf(id)),

    async *pages() {
      let cursor: string | null = null
      do {
        const from: string = cursor === null ? '' : `&cursor=${cursor}`
        const page: Pick<BranchKeyPage, 'items' | 'unreadable'> & { cursor: string | null } =
          await api('GET', `/keys?limit=${PAGE_SIZE}${from}`)
        yield page
        cursor = page.cursor
      } while (cursor !== null)
    },

    async revealBeacon() {
      throw usageError(
        'A key is never sent over HTTP: use --reveal with --local where the store is',
      )
    },
  }
}

function pathOf(id: string): string {
  // URLs resolve both as path segments, even if they are encoded.
  if (id === '.' || id === '..')
    throw usageError(`A URL cannot contain the key id "${id}": use --local where the store is`)
  return `/keys/${encodeURIComponent(id)}`
}
