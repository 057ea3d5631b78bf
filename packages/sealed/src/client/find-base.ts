/** Where a client finds Sealed, and whether it may talk to it there. */
import type { Issued } from '../api.ts'
import { parseBase } from '../crypto/link.ts'
import type { SealedApi } from './api.ts'
import { RequestFailed } from './errors.ts'

/**
 * Asks for permission to make a secret at each place where Sealed may be: under `/sealed/` of a
 * server or alone at its root; an address with a path is rather that of the page itself.
 */
export async function findSealed(
  server: string,
  ask: (base: string) => Promise<{ api: SealedApi; issued: Issued }>,
): Promise<{ api: SealedApi; issued: Issued }> {
  const [first, second] = bases(server)
  try {
    return await ask(first)
  } catch (error) {
    const isElsewhere = error instanceof RequestFailed && error.code === 'not_sealed'
    if (!isElsewhere) throw error
  }
  return ask(second)
}

function bases(server: string): readonly [string, string] {
  const base = parseBase(server)
  return new URL(base).pathname === '/' ? [`${base}sealed/`, base] : [base, `${base}sealed/`]
}

/** Whether nobody on the way can read along: https, or the machine itself. */
export function isPrivate(base: string): boolean {
  const { protocol, hostname } = new URL(base)
  if (protocol === 'https:') return true
  return /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}
