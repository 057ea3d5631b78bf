/** Finds where Sealed is mounted, and checks that the connection is private. */
import type { TokenResponse } from '../api.ts'
import { parseBase } from '../crypto/link.ts'
import type { SealedApi } from './api.ts'
import { RequestFailed } from './errors.ts'

/**
 * Requests a token where Sealed may be mounted: under `/sealed/` or at the root of a server. A URL
 * with a path is probably that of the page itself, and is tried first.
 */
export async function findSealed(
  server: string,
  requestToken: (base: string) => Promise<{ api: SealedApi; issued: TokenResponse }>,
): Promise<{ api: SealedApi; issued: TokenResponse }> {
  const [first, second] = candidateBases(server)
  try {
    return await requestToken(first)
  } catch (error) {
    const isNotSealed = error instanceof RequestFailed && error.code === 'not_sealed'
    if (!isNotSealed) throw error
  }
  return requestToken(second)
}

function candidateBases(server: string): readonly [string, string] {
  const base = parseBase(server)
  return new URL(base).pathname === '/' ? [`${base}sealed/`, base] : [base, `${base}sealed/`]
}

/** HTTPS, or this machine. */
export function isPrivateConnection(base: string): boolean {
  const { protocol, hostname } = new URL(base)
  if (protocol === 'https:') return true
  return /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}
