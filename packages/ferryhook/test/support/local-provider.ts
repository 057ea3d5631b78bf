/** What the local providers share, and a browser that visits them. */
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface LocalProvider {
  close(): Promise<void>
}

/** Its URL, with its own port. */
export async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Follows redirects within the provider, and returns the first one that leaves it. */
export async function visit(start: string): Promise<URL> {
  const { origin } = new URL(start)
  const cookies = new Map<string, string>()
  let next = new URL(start)
  for (let hops = 0; next.origin === origin; hops++) {
    if (hops > 10) throw new Error('The provider leads in circles')
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(next, { redirect: 'manual', headers: { cookie } })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    const location = answer.headers.get('location')
    if (location === null) throw new Error(`The provider answered ${answer.status}`)
    next = new URL(location, next)
  }
  return next
}
