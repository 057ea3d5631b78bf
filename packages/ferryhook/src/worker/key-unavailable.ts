/**
 * Key store outages. They are not the fault of the destination or its owner, so deliveries are
 * parked and no attempt is counted.
 */
import type { Log } from '@strongroom/kit/log'
import { createLogThrottle } from '@strongroom/kit/log-throttle'
import { isUnreadable, type SecretBox } from '@strongroom/kit/secret-box'
import type { Clock } from '@strongroom/platform/clock'

export class KeyUnavailable extends Error {
  override readonly name = 'KeyUnavailable'

  constructor(options: ErrorOptions) {
    super(
      'The secrets of a connection cannot be decrypted now. The key store is unavailable.',
      options,
    )
  }
}

/** Throws KeyUnavailable if decryption may succeed later. */
export function withKeyUnavailable(box: SecretBox): SecretBox {
  return {
    seal: (plaintext, place) => box.seal(plaintext, place),
    async open(sealed, place) {
      try {
        return await box.open(sealed, place)
      } catch (error) {
        throw isUnreadable(error) ? error : new KeyUnavailable({ cause: error })
      }
    },
  }
}

export type KeyOutageLog = ReturnType<typeof createKeyOutageLog>

/** The metric of parked deliveries shows how many are affected. */
export function createKeyOutageLog({ clock, log }: { clock: Clock; log: Log }) {
  const throttle = createLogThrottle({ clock })
  return {
    report({ cause }: KeyUnavailable): void {
      throttle('key_unavailable', () =>
        log.error('keys unavailable, deliveries parked. Check the key store and its KMS.', {
          error: cause,
        }),
      )
    },
  }
}
