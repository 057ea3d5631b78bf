/**
 * Creation tokens: JWTs signed with HS256, for one secret each. A token contains the id of its secret,
 * and the store accepts an id only once, so a token works only once.
 */
import { randomId } from '@strongroom/kit/ids'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import * as z from 'zod'
import type { TokenResponse } from '../api.ts'
import type { Challenge } from '../crypto/proof-of-work.ts'
import { TOKEN_SECONDS } from '../limits.ts'
import { createSignedTokens } from './signed-token.ts'

const Claims = z.strictObject({
  jti: z.string().regex(/^[A-Za-z0-9_-]{22}$/),
  iat: z.number().int(),
  exp: z.number().int(),
  prefix: z.string().min(1),
  difficulty: z.number().int().min(0),
  perDoubling: z.number().int().min(0),
  /** The API token that it was issued to. */
  api: z.string().optional(),
})

/** A token permits the secret with this id, for this proof of work. */
export interface Grant {
  id: string
  challenge: Challenge
  /** The id of the API token that it was issued to, which must still be valid. */
  apiToken?: string | undefined
}

export type IssuedToken = Omit<TokenResponse, 'options'>

export interface Tokens {
  issue(work: Omit<Challenge, 'prefix'>, apiToken?: string): Promise<IssuedToken>
  /** Undefined unless the token was issued here less than five minutes ago. */
  verify(token: string): Promise<Grant | undefined>
}

export function createTokens(options: { secrets: ServerSecrets; clock: Clock }): Tokens {
  const { secrets, clock } = options
  // `Claims` rejects other tokens signed with the same key.
  const signed = createSignedTokens({ secrets, keyName: 'sealed-token', claims: Claims })
  return {
    async issue(work, apiToken) {
      const iat = epochSeconds(clock)
      const id = randomId(16)
      // The work for one token cannot be used for another.
      const challenge = { prefix: id, ...work }
      const exp = iat + TOKEN_SECONDS
      const api = apiToken !== undefined && { api: apiToken }
      const token = await signed.sign({ jti: id, iat, exp, ...challenge, ...api })
      return { token, id, challenge, expiresAt: exp }
    },

    async verify(token) {
      const claims = await signed.verify(token)
      if (!claims || claims.exp <= epochSeconds(clock)) return undefined
      const { jti: id, prefix, difficulty, perDoubling, api: apiToken } = claims
      return { id, challenge: { prefix, difficulty, perDoubling }, apiToken }
    },
  }
}
