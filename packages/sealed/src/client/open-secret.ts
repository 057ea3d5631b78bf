/** From a link to its text, although answers get lost. */
import type { Revealed } from '../api.ts'
import type { SecretKeys } from '../crypto/keys.ts'
import { openText, revealProof } from '../crypto/seal.ts'
import type { SealedApi } from './api.ts'
import { RequestFailed, type RequestFailure } from './errors.ts'
import { patience as standard, type Patience, patiently } from './patience.ts'

export interface OpenedSecret {
  text: string
  remainingViews: number
  /** How long the same claim reads again, unless it is acknowledged. */
  graceSeconds: number
}

/** Less than the 30 seconds for which a claim is live: after that the next try would be another view. */
const RETRY_MS = 25_000
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 4000

/**
 * Takes a view. The claim must be new for each reading, and the same when a reading is repeated.
 * Throws a `SealedError` if the text was changed, a `RequestFailed` for what the server refuses.
 */
export async function openSecret(
  api: SealedApi,
  { id, keys, claim }: { id: string; keys: SecretKeys; claim: string },
  patience: Patience = standard,
): Promise<OpenedSecret> {
  const request = { ...revealProof(keys), claim }
  let askedAt = patience.now()
  const ask = () => {
    askedAt = patience.now()
    return api.reveal(id, request)
  }
  const { ciphertext, iv, remainingViews, graceSeconds } = await reveal(ask, patience)
  const text = await openText(keys, { id, ciphertext, iv })
  // A slow answer has used up some of it on its way.
  const left = graceSeconds - (patience.now() - askedAt) / 1000
  return { text, remainingViews, graceSeconds: Math.max(0, left) }
}

/** Once an answer got lost the view may be taken, and everything is tried to get it in time. */
async function reveal(ask: () => Promise<Revealed>, patience: Patience): Promise<Revealed> {
  const { now, wait, onWait } = patience
  let start = now()
  const isTooLate = () => now() - start > RETRY_MS
  try {
    return await patiently(patience, () => {
      start = now()
      return ask()
    })
  } catch (error) {
    // An answer may have come for longer than the claim was live, and broken off then.
    if (!failedWith(error, 'lost', 'unavailable') || isTooLate()) throw error
  }
  for (let ms = FIRST_WAIT_MS; ; ms = Math.min(ms * 2, LONGEST_WAIT_MS)) {
    onWait?.('lost', ms / 1000)
    await wait(ms)
    try {
      return await ask()
    } catch (error) {
      const mayPass = failedWith(error, 'lost', 'unavailable', 'unreachable', 'rate_limited')
      if (!mayPass || isTooLate()) throw error
    }
  }
}

function failedWith(error: unknown, ...codes: RequestFailure[]): boolean {
  return error instanceof RequestFailed && codes.includes(error.code)
}
