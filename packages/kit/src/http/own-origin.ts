/** Which page a request comes from, as browsers tell it. */
import type { Context } from 'hono'
import type { AppEnv } from './env.ts'

/**
 * `unknown` is a program, or a person who typed the address: browsers name the origin of every request
 * that changes something.
 */
export type RequestOrigin = 'own' | 'foreign' | 'unknown'

export function requestOrigin<E extends AppEnv>(c: Context<E>, publicUrl: string): RequestOrigin {
  const origin = c.req.header('origin')
  const site = c.req.header('sec-fetch-site') ?? 'none'
  // A page that came through a tunnel has another origin than the public URL, but the same as its request.
  if (site === 'same-origin') return 'own'
  if (origin !== undefined) return origin === new URL(publicUrl).origin ? 'own' : 'foreign'
  return site === 'none' ? 'unknown' : 'foreign'
}
