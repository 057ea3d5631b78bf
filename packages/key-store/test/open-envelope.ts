/** Envelopes on a test store with an embedded KMS, each with a cache of its own, as servers are. */
import { createTables } from '@strongroom/kit/create-tables'
import type { Db } from '@strongroom/kit/db'
import type { TestStore } from '@strongroom/kit/testing/stores'
import { type TestClock, testClock } from '@strongroom/kit/testing/test-clock'
import { createKms, type EmbeddedKms } from '@strongroom/kms/kms'
import { memoryKeyStorage } from '@strongroom/kms/testing/memory-key-storage'
import { afterAll, beforeAll } from 'vitest'
import { cachedBranchKeys } from '../src/cache.ts'
import { createEnvelope, type Envelope } from '../src/envelope.ts'
import { type KeyStore, openKeyStore } from '../src/key-store.ts'
import { createKeyStorage } from '../src/storage.ts'
import { branchKeysTable } from '../src/table.ts'

export const TTL_SECONDS = 300

export interface OpenedEnvelope {
  db: Db
  clock: TestClock
  kms: EmbeddedKms
  kmsArn: string
  /** The operations that KMS was asked for. */
  kmsCalls: string[]
  keyStore: KeyStore
  envelope: Envelope
  /** Another server on the same store. */
  another(): Envelope
}

export function openEnvelope(store: TestStore): OpenedEnvelope {
  const opened = {} as OpenedEnvelope & { close(): Promise<void> }
  beforeAll(async () => {
    const { db, close } = await store.open()
    await createTables(db, [branchKeysTable])
    const clock = testClock()
    const kmsCalls: string[] = []
    const kms = await createKms({
      masterKey: new Uint8Array(32).fill(1),
      storage: memoryKeyStorage(),
      audit: ({ operation }) => void kmsCalls.push(operation),
    })
    const { Arn: kmsArn } = (await kms.createKey()).KeyMetadata
    const keyStore = openKeyStore({
      storage: createKeyStorage({
        db,
        tableName: branchKeysTable.name,
        logicalKeyStoreName: branchKeysTable.name,
      }),
      kms,
      kmsConfiguration: { kind: 'kmsKeyArn', arn: kmsArn },
      clock,
    })
    const another = () =>
      createEnvelope({
        keyStore,
        branchKeys: cachedBranchKeys(keyStore, { clock, ttlSeconds: TTL_SECONDS, capacity: 100 }),
      })
    const envelope = another()
    Object.assign(opened, { db, close, clock, kms, kmsArn, kmsCalls, keyStore, envelope, another })
  })
  afterAll(() => opened.close())
  return opened
}
