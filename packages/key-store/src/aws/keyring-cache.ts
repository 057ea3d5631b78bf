/**
 * A cache for AWS's hierarchical keyring that replaces its own. AWS's cache wipes a key when it is
 * replaced or evicted, even if a caller is about to encrypt with it. Up to version 5.0.2 such messages
 * are encrypted under a key of zeros.
 *
 * This cache never wipes a key that it has returned; the garbage collector frees it.
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
      // If the clock was set back, the age is unknown.
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
  throw new TypeError(
    'This cache does not support data keys: use another cache for the caching materials manager',
  )
}
