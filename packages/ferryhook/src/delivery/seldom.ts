/** For what may happen thousands of times at once: said once in ten minutes, and counted elsewhere. */
import { type Clock, isRecent } from '@strongroom/kit/clock'

const QUIET_MS = 600_000

export function createSeldom(clock: Clock): (say: () => void) => void {
  let saidAt: number | undefined
  return (say) => {
    if (saidAt !== undefined && isRecent(clock, saidAt, QUIET_MS)) return
    saidAt = clock.now()
    say()
  }
}
