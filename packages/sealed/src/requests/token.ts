/**
 * Request tokens: each permits putting one secret under its id, which the store accepts only once.
 * Nothing is stored until then. The hashes of the requester's proofs are signed into it, so that
 * nobody can put a secret under the id that another link opens.
 */
import { randomToken } from '@strongroom/kit/ids'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import * as z from 'zod'
import type { RequestTokenResponse } from '../api.ts'
import { MAX_REQUEST_SECONDS, MIN_REQUEST_SECONDS, TOKEN_SECONDS } from '../limits.ts'
import { createSignedTokens } from '../secrets/signed-token.ts'

const HOUR_SECONDS = 3600
const MINUTE_SECONDS = 60

/** Without the time of issue, which would date the request to the second. */
const Claims = z.strictObject({
  use: z.literal('request'),
  jti: z.string().regex(/^[A-Za-z0-9_-]{22}$/),
  exp: z.number().int(),
  linkHash: z.string(),
  proofHash: z.string(),
  /** The API token that the request was made with. */
  api: z.string().optional(),
})

/** A request that can be filled. */
export interface OpenRequest {
  id: string
  expiresAt: number
  /** Base64url. */
  linkHash: string
  proofHash: string
  /** The id of the API token that it was made with, which must still be valid. */
  apiToken?: string | undefined
}

export interface RequestTokens {
  issue(
    request: Pick<OpenRequest, 'linkHash' | 'proofHash'> & { seconds: number },
    apiToken?: { id: string; expiresAt: number | undefined },
  ): Promise<RequestTokenResponse>
  /** Undefined unless the token was issued here, for this id, and has not expired. */
  verify(token: string, id: string): Promise<OpenRequest | undefined>
}

export function createRequestTokens(options: {
  secrets: ServerSecrets
  clock: Clock
}): RequestTokens {
  const { secrets, clock } = options
  const signed = createSignedTokens({ secrets, keyName: 'sealed-request', claims: Claims })
  return {
    async issue({ seconds, linkHash, proofHash }, apiToken) {
      const id = randomToken(16)
      // Whole hours, so that a stored expiry does not say when the request was made. A request that is
      // short because of the operator's maximum would have ended already.
      const step = seconds < MIN_REQUEST_SECONDS ? MINUTE_SECONDS : HOUR_SECONDS
      const end = Math.floor((epochSeconds(clock) + seconds) / step) * step
      const exp = Math.min(end, apiToken?.expiresAt ?? Infinity)
      const api = apiToken && { api: apiToken.id }
      const token = await signed.sign({ use: 'request', jti: id, exp, linkHash, proofHash, ...api })
      return { token, id, expiresAt: exp }
    },

    async verify(token, id) {
      const claims = await signed.verify(token)
      const now = epochSeconds(clock)
      if (!claims || claims.jti !== id || claims.exp <= now) return undefined
      // A clock that was ahead issued it.
      if (claims.exp > now + MAX_REQUEST_SECONDS + TOKEN_SECONDS) return undefined
      const { exp: expiresAt, linkHash, proofHash, api: apiToken } = claims
      return { id, expiresAt, linkHash, proofHash, apiToken }
    },
  }
}
