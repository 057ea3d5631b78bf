/** What a sender's program reads in a request token. Only the server can verify it. */
import { fromBase64url } from './bytes.ts'

const TOKEN = /^[\w-]+\.([\w-]+)\.[\w-]+$/

export interface RequestTokenClaims {
  id: string
  /** Seconds since the epoch. */
  expiresAt: number
  /** Not if the request was made with an API token. */
  needsWork: boolean
}

/** Undefined for anything but three parts with an id and an expiry in the second. */
export function readRequestToken(token: string): RequestTokenClaims | undefined {
  const [, payload = ''] = TOKEN.exec(token) ?? []
  const bytes = fromBase64url(payload)
  if (!bytes) return undefined
  try {
    const claims = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>
    const { jti: id, exp: expiresAt, api } = claims
    if (typeof id !== 'string' || typeof expiresAt !== 'number') return undefined
    return { id, expiresAt, needsWork: api === undefined }
  } catch {
    return undefined
  }
}
