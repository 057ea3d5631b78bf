/** Who is asking, for limits. Believes a forwarded address only from the configured proxies. */
import type { Context } from 'hono'
import type { AppEnv } from './env.ts'
import { networkOf } from './ip.ts'

/** The client's IP address in its canonical form; undefined where there is none, as on a unix socket. */
export function clientAddress<E extends AppEnv>(c: Context<E>): string | undefined {
  return c.get('proxies').clientAddress(c.get('peer'), c.req.header('x-forwarded-for'))
}

/** What limits count by: the IPv4 address, the /64 of an IPv6 address, `unknown` for all who have neither. */
export function clientNetwork<E extends AppEnv>(c: Context<E>): string {
  const address = clientAddress(c)
  return address === undefined ? 'unknown' : networkOf(address)
}
