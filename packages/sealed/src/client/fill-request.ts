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
import { RequestFailed, type RequestFailure } from './errors.ts'
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

/** Sealed once, so that however often it is sent it is recognised as the same sender's. */
export interface SealedFill {
  request: RequestTarget
  ciphertext: Uint8Array
  /** Without the work, which expires. */
  body: Omit<FillRequest, 'pow' | 'workToken'>
}

interface FillOptions extends WorkOptions {
  retry?: RetryOptions
  /** Called before each submission, which may be stored even if its response is lost. */
  onSend?: () => void
}

const RETRY_WAITS_MS = [500, 1000, 2000]
const RETRIED: ReadonlySet<RequestFailure> = new Set(['lost', 'unavailable', 'unreachable'])

/** Throws a `SealedError` for an invalid content, and a `RequestFailed` if the request has expired. */
export async function sealFill(secret: FillContent): Promise<SealedFill> {
  const { request, content, ttlSeconds, receipt = false } = secret
  const { id, fragment } = request
  contentBytes(content)
  requireOpen(request)
  const { body, ciphertext } = await sealForRequest({ id, fragment, content })
  const burnToken = toHex(randomBytes(16))
  return {
    request,
    ciphertext,
    body: { ...body, ttlSeconds, ...(receipt && { receipt }), burnToken },
  }
}

/** Throws a `RequestFailed` if a request failed. */
export async function fillRequest(
  api: SealedApi,
  { request, ciphertext, body }: SealedFill,
  options: FillOptions = {},
): Promise<FilledRequest> {
  const { id } = request
  const { needsWork } = requireOpen(request)
  const work = needsWork ? await doWork(api, { id, ciphertext }, options) : { pow: 0 }
  const { expiresAt } = await submit(api, request, { ...body, ...work }, options)
  return { management: { kind: 'management', id, burnToken: body.burnToken }, expiresAt }
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
  options: FillOptions,
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
  { retry = defaultRetry, signal, onSend }: FillOptions,
): Promise<CreateResponse> {
  const send = () => {
    signal?.throwIfAborted()
    onSend?.()
    return api.fillRequest(request.id, request.token, submission)
  }
  let isLost = false
  for (let attempt = 0; ; attempt++) {
    try {
      return await retryWhenRateLimited(retry, send)
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error
      if (error.code === 'not_available') {
        requireOpen(request)
        throw new RequestFailed('request_used')
      }
      isLost ||= error.code === 'lost' || error.code === 'unavailable'
      // A server that was never reached has stored nothing.
      const canRetry = isLost && RETRIED.has(error.code)
      const waitMs = RETRY_WAITS_MS[attempt]
      if (waitMs === undefined || !canRetry) throw error
      retry.onWait?.('lost', waitMs / 1000)
      await retry.wait(waitMs)
    }
  }
}
