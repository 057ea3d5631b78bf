/**
 * Creation tokens: JWTs signed with HS256, for one secret each. A token contains the id of its secret,
 * and the store accepts an id only once, so a token works only once.
 */
import { createHmac } from 'node:crypto'
import { randomToken } from '@strongroom/kit/ids'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import { timingSafeEquals } from '@strongroom/kit/timing-safe-equals'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import * as z from 'zod'
import type { TokenResponse } from '../api.ts'
import type { Challenge } from '../crypto/proof-of-work.ts'
import { TOKEN_SECONDS } from '../limits.ts'

const KEY_NAME = 'sealed-token'
const MIN_KEY_BYTES = 32

/** The only accepted header, so that no token can choose another algorithm. */
const HEADER = encode({ alg: 'HS256', typ: 'JWT' })

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
  return {
    async issue(work, apiToken) {
      const { key } = await secrets.current(KEY_NAME)
      const iat = epochSeconds(clock)
      const id = randomToken(16)
      // The work for one token cannot be used for another.
      const challenge = { prefix: id, ...work }
      const claims = {
        jti: id,
        iat,
        exp: iat + TOKEN_SECONDS,
        ...challenge,
        ...(apiToken !== undefined && { api: apiToken }),
      }
      const signed = `${HEADER}.${encode(claims satisfies z.infer<typeof Claims>)}`
      return { token: `${signed}.${sign(signed, key)}`, id, challenge, expiresAt: claims.exp }
    },

    async verify(token) {
      const at = token.lastIndexOf('.')
      const [signed, signature] = [token.slice(0, at), token.slice(at + 1)]
      const keys = await secrets.accepted(KEY_NAME)
      if (!keys.some(({ key }) => timingSafeEquals(sign(signed, key), signature))) return undefined
      const claims = parseClaims(signed)
      if (!claims || claims.exp <= epochSeconds(clock)) return undefined
      const { jti: id, prefix, difficulty, perDoubling, api: apiToken } = claims
      return { id, challenge: { prefix, difficulty, perDoubling }, apiToken }
    },
  }
}

/** Call it only for a verified signature. `Claims` rejects other tokens signed with the same key. */
function parseClaims(signed: string): z.infer<typeof Claims> | undefined {
  const [header, payload = '', ...more] = signed.split('.')
  if (header !== HEADER || more.length > 0) return undefined
  try {
    return Claims.safeParse(JSON.parse(Buffer.from(payload, 'base64url').toString())).data
  } catch {
    return undefined
  }
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}

function sign(text: string, key: Uint8Array): string {
  if (key.length < MIN_KEY_BYTES) {
    throw new Error(`The key ${KEY_NAME} must have at least ${MIN_KEY_BYTES} bytes`)
  }
  return createHmac('sha256', key).update(text).digest('base64url')
}
