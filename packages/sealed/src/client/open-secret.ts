/** Opens a secret, even if responses are lost. */
import type { RevealResponse } from '../api.ts'
import type { Content } from '../crypto/content.ts'
import { openSealed, type ReaderKeys } from '../crypto/reader.ts'
import { revealProof } from '../crypto/seal.ts'
import type { SealedApi } from './api.ts'
import { RequestFailed, type RequestFailure } from './errors.ts'
import { defaultRetry, type RetryOptions, retryWhenRateLimited } from './retry.ts'

export interface OpenedSecret {
  content: Content
  remainingViews: number
  /** How long the same claim can read again, unless it is acknowledged. */
  graceSeconds: number
}

/** Less than GRACE_SECONDS: a later attempt would use another view. */
const RETRY_MS = 25_000
const FIRST_WAIT_MS = 500
const MAX_WAIT_MS = 4000

/**
 * Uses a view. Create a new claim for each reading, and reuse it when the reading is repeated. Throws
 * a `SealedError` if the content was changed, and a `RequestFailed` if the request failed.
 */
export async function openSecret(
  api: SealedApi,
  { id, keys, claim }: { id: string; keys: ReaderKeys; claim: string },
  retry: RetryOptions = defaultRetry,
): Promise<OpenedSecret> {
  const request = { ...revealProof(keys), claim }
  let sentAt = retry.now()
  const send = () => {
    sentAt = retry.now()
    return api.reveal(id, request)
  }
  const { ciphertext, iv, remainingViews, graceSeconds } = await reveal(send, retry)
  const content = await openSealed(keys, { id, ciphertext, iv })
  // A slow response has used up some of the time.
  const remaining = graceSeconds - (retry.now() - sentAt) / 1000
  return { content, remainingViews, graceSeconds: Math.max(0, remaining) }
}

/** After a lost response the view may be used already, so the request is repeated while its claim is live. */
async function reveal(
  send: () => Promise<RevealResponse>,
  retry: RetryOptions,
): Promise<RevealResponse> {
  const { now, wait, onWait } = retry
  let startedAt = now()
  const isTooLate = () => now() - startedAt > RETRY_MS
  try {
    return await retryWhenRateLimited(retry, () => {
      startedAt = now()
      return send()
    })
  } catch (error) {
    // A slow response may have broken off after the claim had ended.
    if (!hasCode(error, 'lost', 'unavailable') || isTooLate()) throw error
  }
  for (let ms = FIRST_WAIT_MS; ; ms = Math.min(ms * 2, MAX_WAIT_MS)) {
    onWait?.('lost', ms / 1000)
    await wait(ms)
    try {
      return await send()
    } catch (error) {
      const isTemporary = hasCode(error, 'lost', 'unavailable', 'unreachable', 'rate_limited')
      if (!isTemporary || isTooLate()) throw error
    }
  }
}

function hasCode(error: unknown, ...codes: RequestFailure[]): boolean {
  return error instanceof RequestFailed && codes.includes(error.code)
}
