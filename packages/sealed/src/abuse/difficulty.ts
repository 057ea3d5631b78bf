/**
 * The proof-of-work difficulty of a new secret. From a number of creations per minute it rises by one
 * bit, and by one more with each doubling of that number, so that a flood becomes expensive.
 *
 * It counts creations instead of tokens: tokens are free, and a client could raise the difficulty for
 * everyone by requesting many.
 */
import { allowance, emptyCells, rollCells } from '@strongroom/kit/sliding-window'
import type { Clock } from '@strongroom/platform/clock'

const MAX_EXTRA_BITS = 8
/** With a limit of 0, the allowance of the window is minus its estimated count. */
const MINUTE = { name: 'minute', limit: 0, windowSeconds: 60 }

export interface Difficulty {
  /** Bits for a secret of up to 1 KB. */
  now(): number
  /** Only for secrets that were paid for with work. */
  recordCreation(): void
}

export function createDifficulty(options: {
  clock: Clock
  base: number
  /** Creations per minute from which it rises; 0 disables this. */
  busyCreations: number
}): Difficulty {
  const { clock, base, busyCreations } = options
  let cells = emptyCells
  return {
    now() {
      const nowMs = clock.now()
      cells = rollCells(cells, MINUTE, nowMs)
      const recent = cells.current - allowance(cells, MINUTE, nowMs)
      if (busyCreations === 0 || recent < busyCreations) return base
      return base + Math.min(MAX_EXTRA_BITS, 1 + Math.floor(Math.log2(recent / busyCreations)))
    },
    recordCreation() {
      cells = rollCells(cells, MINUTE, clock.now())
      cells = { ...cells, current: cells.current + 1 }
    },
  }
}
