/** Access tokens: JWTs of one hour, signed with ES256, each of one session. */
import { type Clock, epochSeconds } from '@strongroom/kit/clock'
import type { ServerSecret, ServerSecrets } from '@strongroom/kit/server-secrets'
import { errors, jwtVerify, SignJWT } from 'jose'
import { type TokenKey, tokenKeyOf } from './token-key.ts'

export interface TokenSubject {
  userId: string
  sessionId: string
}

export interface AccessTokens {
  issue(subject: TokenSubject): Promise<{ accessToken: string; expiresIn: number }>
  /** Undefined for whatever is not a token of ours that is in force. */
  verify(token: string): Promise<TokenSubject | undefined>
}

const SECRET = 'ferryhook-access-tokens'
const AUDIENCE = 'ferryhook'
const LIFETIME_SECONDS = 3_600

export function createAccessTokens(deps: {
  secrets: ServerSecrets
  clock: Clock
  /** Who says so: the address of the server. */
  issuer: string
}): AccessTokens {
  const { secrets, clock, issuer } = deps
  const keyOf = rememberedKeys()

  return {
    async issue({ userId, sessionId }) {
      const secret = await secrets.current(SECRET)
      const now = epochSeconds(clock)
      const accessToken = await new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: 'ES256', kid: String(secret.version), typ: 'JWT' })
        .setSubject(userId)
        .setIssuer(issuer)
        .setAudience(AUDIENCE)
        .setIssuedAt(now)
        .setExpirationTime(now + LIFETIME_SECONDS)
        .sign(keyOf(secret).privateKey)
      return { accessToken, expiresIn: LIFETIME_SECONDS }
    },

    async verify(token) {
      const accepted = await secrets.accepted(SECRET)
      try {
        const { payload } = await jwtVerify(
          token,
          ({ kid }) => {
            const secret = accepted.find(({ version }) => String(version) === kid)
            if (!secret) throw new errors.JWKSNoMatchingKey()
            return keyOf(secret).publicKey
          },
          {
            algorithms: ['ES256'],
            issuer,
            audience: AUDIENCE,
            requiredClaims: ['sub', 'sid', 'exp'],
            currentDate: new Date(clock.now()),
          },
        )
        const { sub, sid } = payload
        return sub !== undefined && typeof sid === 'string'
          ? { userId: sub, sessionId: sid }
          : undefined
      } catch (error) {
        if (error instanceof errors.JOSEError) return undefined
        throw error
      }
    },
  }
}

/** To make a key of a secret costs more than to sign with it. */
function rememberedKeys(): (secret: ServerSecret) => TokenKey {
  const known = new Map<number, { secret: Uint8Array; key: TokenKey }>()
  return ({ version, key: secret }) => {
    const found = known.get(version)
    if (found && Buffer.compare(found.secret, secret) === 0) return found.key
    const key = tokenKeyOf(secret)
    known.set(version, { secret, key })
    return key
  }
}
