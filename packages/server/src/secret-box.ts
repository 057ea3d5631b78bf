/** The key store's envelope, which the server hands to the services that keep secrets. */
import { cachedBranchKeys } from '@strongroom/key-store/cache'
import { createEnvelope } from '@strongroom/key-store/envelope'
import { openKeyStoreOn } from '@strongroom/key-store/service'
import type { SecretBox } from '@strongroom/kit/secret-box'

/** A rotated branch key is seen after so long; until then the one before seals. */
const TTL_SECONDS = 300
/** A tenant has one branch key, and few versions of it are in use. */
const CAPACITY = 1_000

/** One for all services, so that they share what is cached. */
export function openSecretBox(on: Parameters<typeof openKeyStoreOn>[0]): SecretBox {
  const keyStore = openKeyStoreOn(on)
  const branchKeys = cachedBranchKeys(keyStore, {
    clock: on.clock,
    ttlSeconds: TTL_SECONDS,
    capacity: CAPACITY,
  })
  return createEnvelope({ keyStore, branchKeys })
}
