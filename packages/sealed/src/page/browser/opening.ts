/** Opens a secret, and says in the words of the page how that ended. */
import { RequestFailed } from '../../client/errors.ts'
import { type OpenedSecret, openSecret } from '../../client/open-secret.ts'
import { SealedError } from '../../crypto/errors.ts'
import { deriveKeys } from '../../crypto/keys.ts'
import type { LinkTarget } from '../../crypto/link.ts'
import { failureText } from './failure.ts'
import type { TextKey } from './language.ts'
import { api, patienceWith } from './server.ts'

export type Opening =
  | { outcome: 'opened'; secret: OpenedSecret }
  | { outcome: 'wrong_passphrase'; triesLeft: number }
  | { outcome: 'unavailable' }
  /** What the server gave is not what was sealed. */
  | { outcome: 'changed' }
  | { outcome: 'failed'; why: TextKey }

export async function open(
  { id, fragment }: LinkTarget & { kind: 'secret' },
  { passphrase, claim }: { passphrase: string | undefined; claim: string },
  tell: (what: () => string) => void,
): Promise<Opening> {
  try {
    const keys = await deriveKeys(fragment, passphrase)
    const secret = await openSecret(api, { id, keys, claim }, patienceWith(tell))
    return { outcome: 'opened', secret }
  } catch (error) {
    if (error instanceof SealedError) return { outcome: 'changed' }
    const code = error instanceof RequestFailed ? error.code : undefined
    if (code === 'not_available') return { outcome: 'unavailable' }
    if (error instanceof RequestFailed && code === 'wrong_passphrase') {
      return { outcome: 'wrong_passphrase', triesLeft: error.triesLeft ?? 0 }
    }
    return { outcome: 'failed', why: failureText(error) }
  }
}
