/** Finds where Sealed is mounted, and checks that the connection is private. */
import { parseBase } from '../crypto/link.ts'
import { RequestFailed } from './errors.ts'

/**
 * Makes a first request where Sealed may be mounted: under `/sealed/` or at the root of a server. A
 * URL with a path is probably that of the page itself, and is tried first.
 */
export async function findSealed<T>(
  server: string,
  request: (base: string) => Promise<T>,
): Promise<T> {
  const [first, second] = candidateBases(server)
  try {
    return await request(first)
  } catch (error) {
    const isNotSealed = error instanceof RequestFailed && error.code === 'not_sealed'
    if (!isNotSealed) throw error
  }
  return request(second)
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
