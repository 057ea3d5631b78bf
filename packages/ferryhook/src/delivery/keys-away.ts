/**
 * Keys that cannot be reached, because the key store or its KMS is away. That is no doing of the
 * destination or its owner: deliveries wait for the keys, and no attempt is counted.
 */
import type { Clock } from '@strongroom/kit/clock'
import type { Log } from '@strongroom/kit/log'
import { type SecretBox, SealedUnreadable } from '@strongroom/kit/secret-box'
import { createSeldom } from './seldom.ts'

export class KeysAway extends Error {
  override readonly name = 'KeysAway'

  constructor(options: ErrorOptions) {
    super('The secrets of a connection cannot be opened now: the keys cannot be reached', options)
  }
}

/** The box, which says of a failure whether what was sealed may open the next time. */
export function sayingKeysAway(box: SecretBox): SecretBox {
  return {
    seal: (plaintext, place) => box.seal(plaintext, place),
    async open(sealed, place) {
      try {
        return await box.open(sealed, place)
      } catch (error) {
        throw error instanceof SealedUnreadable ? error : new KeysAway({ cause: error })
      }
    },
  }
}

export type KeysWatch = ReturnType<typeof createKeysWatch>

/** Tells operators; how many deliveries wait is in the metric of those put aside. */
export function createKeysWatch({ clock, log }: { clock: Clock; log: Log }) {
  const seldom = createSeldom(clock)
  return {
    away({ cause }: KeysAway): void {
      seldom(() =>
        log.error('Deliveries wait because keys cannot be reached: see the key store and its KMS', {
          error: cause,
        }),
      )
    },
  }
}
