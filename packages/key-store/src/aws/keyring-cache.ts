/**
 * A cache for AWS's hierarchical keyring, in place of its own: that one wipes a key when it is put
 * in a second time or evicted, also under the hands of a caller who is about to encrypt with it. Up
 * to version 5.0.2 such messages are encrypted under a key of zeros.
 *
 * Here a key that was handed out is never touched; it goes with the last who holds it.
 */
import type { KmsHierarchicalKeyRingNode } from '@aws-crypto/client-node'
import { type Clock, systemClock } from '@strongroom/platform/clock'

type AwsCache = NonNullable<ConstructorParameters<typeof KmsHierarchicalKeyRingNode>[0]['cache']>
type Entry = Exclude<ReturnType<AwsCache['getBranchKeyMaterial']>, false>

export function awsBranchKeyCache({
  capacity = 1000,
  clock = systemClock,
}: { capacity?: number; clock?: Clock } = {}): AwsCache {
  /** The least recently used comes first. */
  const entries = new Map<string, Entry & { expires: number }>()

  return {
    putBranchKeyMaterial(key, response, maxAge = Infinity) {
      const now = clock.now()
      entries.delete(key)
      entries.set(key, { response, now, expires: now + maxAge })
      for (const oldest of entries.keys()) {
        if (entries.size <= capacity) break
        entries.delete(oldest)
      }
    },

    getBranchKeyMaterial(key) {
      const entry = entries.get(key)
      const now = clock.now()
      entries.delete(key)
      // If the clock was set back, nothing is known of the age.
      if (!entry || now < entry.now || now >= entry.expires) return false
      entries.set(key, entry)
      return entry
    },

    del: (key) => void entries.delete(key),

    putEncryptionMaterial: branchKeysOnly,
    putDecryptionMaterial: branchKeysOnly,
    getEncryptionMaterial: branchKeysOnly,
    getDecryptionMaterial: branchKeysOnly,
  }
}

function branchKeysOnly(): never {
  throw new TypeError('Cannot cache data keys here: give the caching materials manager its own')
}
