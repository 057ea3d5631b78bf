import { apiPolicy } from './content-security-policy.ts'
import type { HttpResponse } from './request.ts'

/** On every response, whatever the handler or an upstream set. */
const FORCED = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'origin-agent-cluster': '?1',
}

/** Unless the handler set its own, such as the policy of a page or the lifetime of a file. */
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

type HeaderPairs = readonly (readonly [name: string, value: string])[]

export interface HeaderWriter {
  /** The response with all its headers but the length, which the adapter knows. */
  addTo(response: HttpResponse, requestId: string): HttpResponse
  addToWeb(response: Response, requestId: string): Response
}

/** `publicUrl` is where people reach the server: with https there, browsers may be told never to use http. */
export function createHeaderWriter({ publicUrl }: { publicUrl: string | undefined }): HeaderWriter {
  const isSecure = publicUrl?.startsWith('https:') ?? false
  const forced: HeaderPairs = Object.entries({
    ...FORCED,
    // Not for subdomains: they may belong to someone who has no certificate for them.
    ...(isSecure ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  })
  const defaults: HeaderPairs = Object.entries(DEFAULTS)
  const forcedNames = new Set(['x-request-id', ...forced.map(([name]) => name)])
  const forcedList = forced.flat()
  const wholeList = [...forced, ...defaults].flat()

  function listFor(requestId: string, own: readonly string[] | undefined): string[] {
    if (own === undefined) return ['x-request-id', requestId, ...wholeList]
    const list = ['x-request-id', requestId, ...forcedList]
    for (const [name, value] of defaults) if (!own.includes(name)) list.push(name, value)
    for (let at = 0; at < own.length; at += 2) {
      if (!forcedNames.has(own[at]!)) list.push(own[at]!, own[at + 1]!)
    }
    return list
  }

  return {
    addTo({ status, contentType, headers: own, body }, requestId) {
      const headers = listFor(requestId, own)
      if (contentType !== undefined && status !== 204) headers.push('content-type', contentType)
      return { status, headers, body }
    },
    addToWeb(response, requestId) {
      const written = writable(response)
      const { headers } = written
      headers.set('x-request-id', requestId)
      for (const [name, value] of forced) headers.set(name, value)
      for (const [name, value] of defaults) if (!headers.has(name)) headers.set(name, value)
      return written
    },
  }
}

/** The response with headers that can be changed: those of a response from `fetch` cannot. */
function writable(response: Response): Response {
  try {
    response.headers.delete('x-powered-by')
    return response
  } catch {
    return new Response(response.body, response)
  }
}
