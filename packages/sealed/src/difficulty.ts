/**
 * How much work a new secret costs. Above a number of creations a minute it rises by one bit, and
 * by one more with each doubling of that number: a flood pays for itself, and few feel it.
 *
 * Creations are counted and not tokens: those cost nothing, and whoever asked for many could make
 * the work of everyone else as hard as it gets.
 */
import type { Clock } from '@strongroom/kit/clock'
import { allowance, emptyCells, rolled } from '@strongroom/kit/sliding-window'

const MOST_MORE_BITS = 8
/** With a limit of none, what the window lacks of it is what it holds. */
const MINUTE = { name: 'minute', limit: 0, windowSeconds: 60 }

export interface Difficulty {
  /** In bits, for a secret of up to 1 KB. */
  now(): number
  /** One more secret has been made, and paid for with work. */
  count(): void
}

export function createDifficulty(options: {
  clock: Clock
  base: number
  /** The number of creations a minute from which on it rises; 0 never lets it. */
  busy: number
}): Difficulty {
  const { clock, base, busy } = options
  let cells = emptyCells
  return {
    now() {
      const nowMs = clock.now()
      cells = rolled(cells, MINUTE, nowMs)
      const lately = cells.current - allowance(cells, MINUTE, nowMs)
      if (busy === 0 || lately < busy) return base
      return base + Math.min(MOST_MORE_BITS, 1 + Math.floor(Math.log2(lately / busy)))
    },
    count() {
      cells = rolled(cells, MINUTE, clock.now())
      cells = { ...cells, current: cells.current + 1 }
    },
  }
}
