/**
 * Key store outages. They are not the fault of the destination or its owner, so deliveries are
 * parked and no attempt is counted.
 */
import type { Log } from '@strongroom/kit/log'
import { createLogThrottle } from '@strongroom/kit/log-throttle'
import type { Clock } from '@strongroom/platform/clock'

export type KeyOutageLog = ReturnType<typeof createKeyOutageLog>

/** The metric of parked deliveries shows how many are affected. */
export function createKeyOutageLog({ clock, log }: { clock: Clock; log: Log }) {
  const throttle = createLogThrottle({ clock })
  return {
    report(error: unknown): void {
      throttle('key_unavailable', () =>
        log.error('keys unavailable, deliveries parked. Check the key store and its KMS.', {
          error,
        }),
      )
    },
  }
}
