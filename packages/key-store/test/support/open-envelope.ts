/** Envelopes on a test store with an embedded KMS, each with its own cache, like servers. */
import type { TestStore } from '@strongroom/kit/testing/stores'
import { beforeAll } from 'vitest'
import { cachedBranchKeys } from '../../src/cache.ts'
import { createEnvelope, type Envelope } from '../../src/envelope/envelope.ts'
import type { KeyStore } from '../../src/store/key-store.ts'
import { type KmsCall, openTestKeyStore } from './open-key-store.ts'

export const TTL_SECONDS = 300

interface Opened {
  keyStore: KeyStore
  envelope: Envelope
  kmsCalls: KmsCall[]
}

export function openEnvelope(store: TestStore) {
  const opened = Object.assign(openTestKeyStore(store), {} as Opened)

  /** The envelope of another server on the same store. */
  function another(): Envelope {
    const { keyStore, clock } = opened
    const branchKeys = cachedBranchKeys(keyStore, {
      clock,
      ttlSeconds: TTL_SECONDS,
      capacity: 100,
    })
    return createEnvelope({ keyStore, branchKeys })
  }

  beforeAll(() => {
    const { keyStore, calls: kmsCalls } = opened.open()
    Object.assign(opened, { keyStore, kmsCalls })
    opened.envelope = another()
  })
  return Object.assign(opened, { another })
}
