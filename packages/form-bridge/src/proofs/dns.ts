/** DNS lookups, behind an interface so that tests can have their own records. */
import { Resolver } from 'node:dns/promises'

/** Each method returns an empty list if there are no records, and rejects if the resolver fails. */
export interface Dns {
  /** The strings of each record joined. */
  txt(name: string): Promise<string[]>
  addresses(name: string): Promise<string[]>
  mx(name: string): Promise<string[]>
}

const TIMEOUT_MS = 3_000

const NO_RECORDS = new Set(['ENOTFOUND', 'ENODATA', 'NXDOMAIN'])

export function systemDns(): Dns {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 2 })
  const none = (error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (NO_RECORDS.has(code)) return []
    throw error
  }
  return {
    txt: (name) =>
      resolver.resolveTxt(name).then((records) => records.map((parts) => parts.join('')), none),
    async addresses(name) {
      const [v4, v6] = await Promise.all([
        resolver.resolve4(name).catch(none),
        resolver.resolve6(name).catch(none),
      ])
      return [...v4, ...v6]
    },
    mx: (name) =>
      resolver.resolveMx(name).then((records) => records.map(({ exchange }) => exchange), none),
  }
}
