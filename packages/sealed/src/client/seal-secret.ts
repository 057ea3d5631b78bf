/** Seals a text or a file: token, encryption, proof of work, creation. */
import type { TokenResponse } from '../api.ts'
import { type Content, contentBytes } from '../crypto/content.ts'
import type { LinkTarget } from '../crypto/link.ts'
import { type Challenge, solveWork } from '../crypto/proof-of-work.ts'
import { sealContent } from '../crypto/seal.ts'
import type { SealedApi } from './api.ts'
import { RequestFailed } from './errors.ts'
import { defaultRetry, type RetryOptions, retryWhenRateLimited } from './retry.ts'

export interface NewSecret {
  content: Content
  passphrase?: string | undefined
  ttlSeconds: number
  maxViews: number
  receipt?: boolean
}

export interface NewLinks {
  /** For the reader. */
  secret: LinkTarget & { kind: 'secret' }
  /** For the sender. */
  management: LinkTarget & { kind: 'management' }
  /** Seconds since the epoch. */
  expiresAt: number
}

export type Solve = (
  challenge: Challenge,
  ciphertext: Uint8Array,
  options: { signal: AbortSignal },
) => Promise<number>

/** Less than TOKEN_SECONDS, to leave time for the requests. */
const WORK_TIMEOUT_MS = 4.5 * 60 * 1000

/** Throws a `SealedError` for an invalid content or passphrase, and a `RequestFailed` if a request failed. */
export async function sealSecret(
  api: SealedApi,
  secret: NewSecret,
  options: {
    /** A page does the work in a worker. */
    solve?: Solve
    signal?: AbortSignal
    workTimeoutMs?: number
    retry?: RetryOptions
    /** A token that was requested before. */
    issued?: TokenResponse
  } = {},
): Promise<NewLinks> {
  const { content, passphrase, ttlSeconds, maxViews, receipt = false } = secret
  const { solve = solveWork, signal, workTimeoutMs = WORK_TIMEOUT_MS } = options
  // Fails before the first request if the content cannot be sealed.
  contentBytes(content)
  const requestToken = () => {
    // It may have been aborted during a wait.
    signal?.throwIfAborted()
    return api.issueToken()
  }
  const issued =
    options.issued ?? (await retryWhenRateLimited(options.retry ?? defaultRetry, requestToken))
  const { id, token, challenge } = issued
  const { fragment, body, ciphertext } = await sealContent({ id, content, passphrase })
  const pow = await withTimeout({ signal, workTimeoutMs }, (workSignal) =>
    solve(challenge, ciphertext, { signal: workSignal }),
  )
  const request = { ...body, ttlSeconds, maxViews, ...(receipt && { receipt }), pow }
  const { burnToken, expiresAt } = await api.createSecret(token, request)
  return {
    secret: { kind: 'secret', id, fragment },
    management: { kind: 'management', id, burnToken },
    expiresAt,
  }
}

/** Many browsers do not support `AbortSignal.any`. */
async function withTimeout<T>(
  { signal, workTimeoutMs }: { signal: AbortSignal | undefined; workTimeoutMs: number },
  work: (workSignal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const controller = new AbortController()
  const onAbort = () => controller.abort(signal?.reason)
  const timer = setTimeout(() => controller.abort(new RequestFailed('too_hard')), workTimeoutMs)
  signal?.addEventListener('abort', onAbort)
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}
