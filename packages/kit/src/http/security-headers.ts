import type { MiddlewareHandler } from 'hono'
import { apiPolicy } from './content-security-policy.ts'
import type { AppEnv } from './env.ts'

/** On every answer, whatever the handler or an upstream said. */
const FORCED = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'origin-agent-cluster': '?1',
}

/** Unless the handler has set its own: a page has a policy, a file that may be kept a lifetime. */
const DEFAULTS = {
  'content-security-policy': apiPolicy,
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': [
    'accelerometer',
    'browsing-topics',
    'camera',
    'clipboard-read',
    'display-capture',
    'geolocation',
    'gyroscope',
    'hid',
    'magnetometer',
    'microphone',
    'midi',
    'payment',
    'serial',
    'usb',
    'xr-spatial-tracking',
  ]
    .map((feature) => `${feature}=()`)
    .join(', '),
}

export interface SecurityHeadersOptions {
  /** Where people reach the server: https there means that browsers may be told never to use http. */
  publicUrl: string | undefined
}

export interface AnswerHeaders {
  forced: readonly (readonly [name: string, value: string])[]
  defaults: readonly (readonly [name: string, value: string])[]
}

export function answerHeaders({ publicUrl }: SecurityHeadersOptions): AnswerHeaders {
  const isSecure = publicUrl?.startsWith('https:') ?? false
  const forced = Object.entries({
    ...FORCED,
    // Not for subdomains: they may belong to someone who has no certificate for them.
    ...(isSecure ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  })
  return { forced, defaults: Object.entries(DEFAULTS) }
}

export function securityHeaders(options: SecurityHeadersOptions): MiddlewareHandler<AppEnv> {
  const { forced, defaults } = answerHeaders(options)
  return async (c, next) => {
    await next()
    const { headers } = writable(c)
    headers.set('x-request-id', c.get('requestId'))
    for (const [name, value] of forced) headers.set(name, value)
    for (const [name, value] of defaults) if (!headers.has(name)) headers.set(name, value)
  }
}

/** The answer, with headers that can be changed: those of an answer that came from `fetch` cannot. */
function writable(c: { res: Response }): Response {
  const answer = c.res
  try {
    answer.headers.delete('x-powered-by')
    return answer
  } catch {
    const copy = new Response(answer.body, answer)
    // Assigning over an answer would merge the old headers into the new ones.
    const context: { res: Response | undefined } = c
    context.res = undefined
    context.res = copy
    return copy
  }
}
