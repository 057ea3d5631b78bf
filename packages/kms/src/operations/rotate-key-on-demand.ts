import type { KeyInput } from '../api.ts'
import { parseKeyId } from '../checks.ts'
import { conflict, limitExceeded } from '../errors.ts'
import { MAX_BACKING_KEYS } from '../key-storage.ts'
import { requireWrappedBy } from '../keys.ts'
import { newBackingKey, usableKey } from './cryptography.ts'
import type { Operation } from './operation.ts'

/** New blobs use a new backing key; the earlier ones are kept for old blobs. */
export const rotateKeyOnDemand: Operation<KeyInput, KeyInput> = {
  name: 'RotateKeyOnDemand',
  async run({ storage, keys, wrapping, clock }, input, trail) {
    trail.key = parseKeyId(input.KeyId)
    const key = await usableKey(keys, trail.key)
    trail.key = key.arn
    const { id, currentVersion, revision } = key.record
    // All versions of a key must be wrapped by the same master key.
    requireWrappedBy(wrapping, key)
    await keys.currentMaterial(key)
    if (currentVersion >= MAX_BACKING_KEYS) {
      throw limitExceeded(
        `${key.arn} was rotated ${MAX_BACKING_KEYS - 1} times: create another key`,
      )
    }
    const next = newBackingKey(wrapping, clock, id, currentVersion + 1)
    if (!(await storage.addVersion(id, next, revision))) {
      throw conflict(`${key.arn} was changed at the same moment: see whether to rotate it again`)
    }
    return { KeyId: key.arn }
  },
}
