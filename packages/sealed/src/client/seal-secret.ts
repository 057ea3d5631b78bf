/** Seals a text or a file: token, encryption, proof of work, creation. */
import type { TokenResponse } from '../api.ts'
import { type Content, contentBytes } from '../crypto/content.ts'
import type { LinkTarget } from '../crypto/link.ts'
import { sealContent } from '../crypto/seal.ts'
import type { SealedApi } from './api.ts'
import { defaultRetry, type RetryOptions, retryWhenRateLimited } from './retry.ts'
import { solveInTime, type WorkOptions } from './solve-in-time.ts'

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

/** Throws a `SealedError` for an invalid content or passphrase, and a `RequestFailed` if a request failed. */
export async function sealSecret(
  api: SealedApi,
  secret: NewSecret,
  options: WorkOptions & {
    retry?: RetryOptions
    /** A token that was requested before. */
    issued?: TokenResponse
  } = {},
): Promise<NewLinks> {
  const { content, passphrase, ttlSeconds, maxViews, receipt = false } = secret
  const { signal } = options
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
  const pow = await solveInTime(challenge, ciphertext, options)
  const request = { ...body, ttlSeconds, maxViews, ...(receipt && { receipt }), pow }
  const { burnToken, expiresAt } = await api.createSecret(token, request)
  return {
    secret: { kind: 'secret', id, fragment },
    management: { kind: 'management', id, burnToken },
    expiresAt,
  }
}
