/** Puts a secret into a request: token for the work, encryption, proof of work, submission. */
import type { CreateResponse, FillRequest } from '../api.ts'
import { randomBytes, toHex } from '../crypto/bytes.ts'
import { type Content, contentBytes } from '../crypto/content.ts'
import { SealedError } from '../crypto/errors.ts'
import type { LinkTarget, RequestTarget } from '../crypto/link.ts'
import { challengeForRequest } from '../crypto/proof-of-work.ts'
import { readRequestToken, type RequestTokenClaims } from '../crypto/request-token.ts'
import { sealForRequest } from '../crypto/request.ts'
import type { SealedApi } from './api.ts'
import { RequestFailed } from './errors.ts'
import { defaultRetry, type RetryOptions, retryWhenRateLimited } from './retry.ts'
import { solveInTime, type WorkOptions } from './solve-in-time.ts'

export interface FilledRequest {
  /** For the sender. */
  management: LinkTarget & { kind: 'management' }
  /** Seconds since the epoch. */
  expiresAt: number
}

export interface FillContent {
  request: RequestTarget
  content: Content
  /** The server chooses if it is undefined. */
  ttlSeconds?: number | undefined
  receipt?: boolean
}

const RETRY_WAITS_MS = [500, 1000, 2000]

/** Throws a `SealedError` for an invalid content, and a `RequestFailed` if a request failed. */
export async function fillRequest(
  api: SealedApi,
  secret: FillContent,
  options: WorkOptions & { retry?: RetryOptions } = {},
): Promise<FilledRequest> {
  const { request, content, ttlSeconds, receipt = false } = secret
  const { id, fragment } = request
  const { retry = defaultRetry, signal } = options
  // Fails before the first request if the content cannot be sealed.
  contentBytes(content)
  const { needsWork } = requireOpen(request)
  const { body, ciphertext } = await sealForRequest({ id, fragment, content })
  const work = needsWork ? await doWork(api, { id, ciphertext }, options) : { pow: 0 }
  signal?.throwIfAborted()
  // Created here, so that a repeated submission is recognised as the same sender's.
  const burnToken = toHex(randomBytes(16))
  const submission = { ...body, ttlSeconds, ...(receipt && { receipt }), ...work, burnToken }
  const { expiresAt } = await submit(api, request, submission, retry)
  return { management: { kind: 'management', id, burnToken }, expiresAt }
}

/** Throws if the request has expired, which its token says. */
export function requireOpen({ token }: RequestTarget): RequestTokenClaims {
  const claims = readRequestToken(token)
  if (!claims) throw new SealedError('link_incomplete')
  if (claims.expiresAt * 1000 <= Date.now()) throw new RequestFailed('request_expired')
  return claims
}

async function doWork(
  api: SealedApi,
  { id, ciphertext }: { id: string; ciphertext: Uint8Array },
  options: WorkOptions & { retry?: RetryOptions },
) {
  const issue = () => {
    options.signal?.throwIfAborted()
    return api.issueToken()
  }
  const issued = await retryWhenRateLimited(options.retry ?? defaultRetry, issue)
  const challenge = challengeForRequest(issued.challenge, id)
  return { workToken: issued.token, pow: await solveInTime(challenge, ciphertext, options) }
}

/** A submission whose response was lost may have been stored, so the same one is repeated. */
async function submit(
  api: SealedApi,
  request: RequestTarget,
  submission: FillRequest,
  retry: RetryOptions,
): Promise<CreateResponse> {
  const send = () => api.fillRequest(request.id, request.token, submission)
  for (let attempt = 0; ; attempt++) {
    try {
      return await retryWhenRateLimited(retry, send)
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error
      if (error.code === 'not_available') {
        requireOpen(request)
        throw new RequestFailed('request_used')
      }
      const waitMs = RETRY_WAITS_MS[attempt]
      if (waitMs === undefined || !['lost', 'unavailable'].includes(error.code)) throw error
      retry.onWait?.('lost', waitMs / 1000)
      await retry.wait(waitMs)
    }
  }
}
