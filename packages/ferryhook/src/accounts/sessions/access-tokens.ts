/** Access tokens: JWTs for one session, signed with ES256, valid for one hour. */
import {
  createECDH,
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  type KeyObject,
} from 'node:crypto'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import type { ServerSecret, ServerSecrets } from '@strongroom/kit/server-secrets'
import { errors, jwtVerify, SignJWT } from 'jose'

export interface TokenSubject {
  userId: string
  sessionId: string
}

export interface AccessTokens {
  issue(subject: TokenSubject): Promise<{ accessToken: string; expiresIn: number }>
  /** Undefined unless the token is valid and was issued by this server. */
  verify(token: string): Promise<TokenSubject | undefined>
}

const SECRET = 'ferryhook-access-tokens'

const AUDIENCE = 'ferryhook'

const LIFETIME_SECONDS = 3_600

export function createAccessTokens(deps: {
  secrets: ServerSecrets
  clock: Clock
  /** The public URL of the server. */
  issuer: string
}): AccessTokens {
  const { secrets, clock, issuer } = deps
  const keyOf = createKeyCache()

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

/** Deriving a key costs more than signing with it. */
function createKeyCache(): (secret: ServerSecret) => TokenKey {
  const cached = new Map<number, { secret: Uint8Array; key: TokenKey }>()
  return ({ version, key: secret }) => {
    const found = cached.get(version)
    if (found && Buffer.compare(found.secret, secret) === 0) return found.key
    const key = deriveTokenKey(secret)
    cached.set(version, { secret, key })
    return key
  }
}

export interface TokenKey {
  privateKey: KeyObject
  publicKey: KeyObject
}

/** The order of P-256 (FIPS 186-5, and SP 800-186 section 3.2.1.3). */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

/** Enough more bits than the order has that all keys are equally likely (FIPS 186-5, A.2.1). */
const CANDIDATE_BYTES = 40

export function deriveTokenKey(secret: Uint8Array): TokenKey {
  const candidate = hkdfSync('sha256', secret, '', 'ferryhook access tokens', CANDIDATE_BYTES)
  const scalar = (BigInt(`0x${Buffer.from(candidate).toString('hex')}`) % (ORDER - 1n)) + 1n
  const d = Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex')
  const curve = createECDH('prime256v1')
  curve.setPrivateKey(d)
  // 0x04, then both coordinates.
  const point = curve.getPublicKey()
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    d: d.toString('base64url'),
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  }
  const privateKey = createPrivateKey({ key: jwk, format: 'jwk' })
  return { privateKey, publicKey: createPublicKey(privateKey) }
}
