/** An embedded KMS on a store and a master key of a test's own, whose master key is to be changed. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@strongroom/platform/clock'
import { createTables } from '@strongroom/kit/tables'
import { serverTable } from '@strongroom/kit/server-table'
import type { EmbeddedKms } from '@strongroom/kms/kms'
import { expect, onTestFinished } from 'vitest'
import { openEmbeddedKms } from '../src/kms/embedded.ts'
import { createKmsKeyStorage } from '../src/kms/key-storage.ts'
import { settings } from '../src/settings.ts'
import { openStore } from '../src/store.ts'

export type RekeyStorage = ReturnType<typeof createKmsKeyStorage>

export async function rekeyBench() {
  const directory = await mkdtemp(join(tmpdir(), 'strongroom-test-'))
  const store = await openStore(settings.parse({ STRONGROOM_DATA: directory }))
  onTestFinished(async () => {
    await store.close()
    await rm(directory, { recursive: true })
  })
  await createTables(store.db, [serverTable])
  const file = join(directory, 'keys', 'master.key')

  const start = (env = {}) =>
    openEmbeddedKms(store.db, settings.parse({ STRONGROOM_DATA: directory, ...env }), {
      clock: systemClock,
    })

  /** Two keys, one of them rotated, and what they have encrypted. */
  const filled = async () => {
    const { kms, id, close } = await start()
    const blobs: Uint8Array[] = []
    const seal = async (KeyId: string) => {
      const input = { KeyId, Plaintext: Buffer.from('hello') }
      blobs.push((await kms.encrypt(input)).CiphertextBlob)
    }
    await seal(id)
    await kms.rotateKeyOnDemand({ KeyId: id })
    await seal(id)
    const { KeyId: other } = (await kms.createKey()).KeyMetadata
    await seal(other)
    close()
    return { blobs, id, other }
  }

  const opened = (kms: EmbeddedKms, blobs: Uint8Array[]) =>
    Promise.all(
      blobs.map(async (CiphertextBlob) =>
        Buffer.from((await kms.decrypt({ CiphertextBlob })).Plaintext).toString(),
      ),
    )

  return {
    directory,
    store,
    storage: createKmsKeyStorage(store.db),
    /** That of the master key. */
    file,
    line: () => readFile(file, 'utf8'),
    files: async () => (await readdir(join(directory, 'keys'))).toSorted(),
    items: async () =>
      (await store.db.scan({ TableName: serverTable.name, ConsistentRead: true })).Items ?? [],
    start,
    filled,
    opened,
    allOpen: async (blobs: Uint8Array[], env = {}) => {
      const { kms, close } = await start(env)
      expect(await opened(kms, blobs)).toEqual(blobs.map(() => 'hello'))
      close()
    },
  }
}
