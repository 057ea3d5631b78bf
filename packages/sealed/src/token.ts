/**
 * The tokens that permit one secret each: JWTs signed with HS256. The id of the secret is in the
 * token, so that the store's rule that an id is used once is also the rule that a token is.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Clock, epochSeconds } from '@strongroom/kit/clock'
import { randomToken } from '@strongroom/kit/ids'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import * as z from 'zod'
import type { Issued } from './api.ts'
import type { Challenge } from './crypto/proof-of-work.ts'
import { TOKEN_SECONDS } from './table.ts'

const KEY_NAME = 'sealed-token'
const SHORTEST_KEY_BYTES = 32

/** The only header there is: whoever asks for another algorithm, or for none, is refused unread. */
const HEADER = encode({ alg: 'HS256', typ: 'JWT' })

const Claims = z.strictObject({
  jti: z.string().regex(/^[A-Za-z0-9_-]{22}$/),
  iat: z.number().int(),
  exp: z.number().int(),
  prefix: z.string().min(1),
  difficulty: z.number().int().min(0),
  perDoubling: z.number().int().min(0),
})

/** What a token permits: the secret of this id, for this much work. */
export interface Grant {
  id: string
  challenge: Challenge
}

export interface Tokens {
  issue(work: Omit<Challenge, 'prefix'>): Promise<Issued>
  /** Undefined unless the token was issued here, unchanged, less than five minutes ago. */
  verify(token: string): Promise<Grant | undefined>
}

export function createTokens(options: { secrets: ServerSecrets; clock: Clock }): Tokens {
  const { secrets, clock } = options
  return {
    async issue(work) {
      const { key } = await secrets.current(KEY_NAME)
      const iat = epochSeconds(clock)
      const id = randomToken(16)
      // Work for one token is of no use for another.
      const challenge = { prefix: id, ...work }
      const claims = { jti: id, iat, exp: iat + TOKEN_SECONDS, ...challenge }
      const signed = `${HEADER}.${encode(claims satisfies z.infer<typeof Claims>)}`
      return { token: `${signed}.${sign(signed, key)}`, id, challenge, expiresAt: claims.exp }
    },

    async verify(token) {
      const at = token.lastIndexOf('.')
      const [signed, signature] = [token.slice(0, at), token.slice(at + 1)]
      const keys = await secrets.accepted(KEY_NAME)
      if (!keys.some(({ key }) => isSame(sign(signed, key), signature))) return undefined
      const claims = readClaims(signed)
      if (!claims || claims.exp <= epochSeconds(clock)) return undefined
      const { jti: id, prefix, difficulty, perDoubling } = claims
      return { id, challenge: { prefix, difficulty, perDoubling } }
    },
  }
}

/** Only for what is signed: `Claims` then guards against tokens of another kind with the same key. */
function readClaims(signed: string): z.infer<typeof Claims> | undefined {
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
  if (key.length < SHORTEST_KEY_BYTES) {
    throw new Error(`Cannot sign tokens with a key of less than ${SHORTEST_KEY_BYTES} bytes`)
  }
  return createHmac('sha256', key).update(text).digest('base64url')
}

function isSame(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}
