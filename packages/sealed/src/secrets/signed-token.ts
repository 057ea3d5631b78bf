/**
 * Tokens that the server signs instead of storing: JWTs with HS256, each kind under a server secret of
 * its own, with claims that are checked strictly.
 */
import { createHmac } from 'node:crypto'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import { timingSafeEquals } from '@strongroom/kit/timing-safe-equals'
import type * as z from 'zod'

const MIN_KEY_BYTES = 32

/** The only accepted header, so that no token can choose another algorithm. */
const HEADER = encode({ alg: 'HS256', typ: 'JWT' })

export interface SignedTokens<T> {
  sign(claims: T): Promise<string>
  /** Undefined unless it was signed here with claims of this kind. The caller checks the expiry. */
  verify(token: string): Promise<T | undefined>
}

export function createSignedTokens<T extends object>(options: {
  secrets: ServerSecrets
  keyName: string
  claims: z.ZodType<T>
}): SignedTokens<T> {
  const { secrets, keyName, claims: schema } = options

  function signature(text: string, key: Uint8Array): string {
    if (key.length < MIN_KEY_BYTES) {
      throw new Error(`The key ${keyName} must have at least ${MIN_KEY_BYTES} bytes`)
    }
    return createHmac('sha256', key).update(text).digest('base64url')
  }

  /** Call it only for a verified signature. */
  function parse(signed: string): T | undefined {
    const [header, payload = '', ...more] = signed.split('.')
    if (header !== HEADER || more.length > 0) return undefined
    try {
      return schema.safeParse(JSON.parse(Buffer.from(payload, 'base64url').toString())).data
    } catch {
      return undefined
    }
  }

  return {
    async sign(claims) {
      const { key } = await secrets.current(keyName)
      const signed = `${HEADER}.${encode(claims)}`
      return `${signed}.${signature(signed, key)}`
    },

    async verify(token) {
      const at = token.lastIndexOf('.')
      const [signed, given] = [token.slice(0, at), token.slice(at + 1)]
      const keys = await secrets.accepted(keyName)
      if (!keys.some(({ key }) => timingSafeEquals(signature(signed, key), given))) return undefined
      return parse(signed)
    },
  }
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}
