/** Branch keys kept in memory for a while, so that most reads need neither the store nor KMS. */
import type { Clock } from '@strongroom/kit/clock'
import type { BranchKeySource } from './materials.ts'

export interface CacheOptions {
  clock: Clock
  ttlSeconds: number
  /** How many keys are kept at most. */
  capacity: number
}

export interface CachedBranchKeys extends BranchKeySource {
  /** Drops all of a branch key, as after its rotation. */
  forget(branchKeyIdentifier: string): void
  clear(): void
}
