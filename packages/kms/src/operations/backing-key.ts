import { randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { BackingKey } from '../key-storage.ts'
import { MASTER_KEY_BYTES, type Wrapping } from '../master-key.ts'

/** New material for a key; nothing but its wrapped form remains. */
export function newBackingKey(
  wrapping: Wrapping,
  clock: Clock,
  id: string,
  version: number,
): BackingKey {
  const material = randomBytes(MASTER_KEY_BYTES)
  const wrapped = wrapping.wrap(id, version, material)
  material.fill(0)
  return { version, createdAt: clock.now(), wrapped }
}
