/**
 * The requests that each function handles, as route keys of an HTTP API. Without imports, because every
 * bundle has it: a function refuses what is not in its list, whatever leads to it.
 */

/** `GET /path/{name}`, `ANY /path/{proxy+}` or `$default`. */
export type RouteKey = `${string} /${string}` | '$default'

export const routeKeys = {
  'sealed-requests': ['ANY /sealed', 'ANY /sealed/{proxy+}'],
  'sealed-operators': [
    'GET /sealed/v1/api-tokens',
    'POST /sealed/v1/api-tokens',
    'DELETE /sealed/v1/api-tokens/{name}',
    'GET /sealed/v1/figures',
  ],
  'ferryhook-ingest': ['ANY /in/{sourceId}'],
  'ferryhook-api': ['ANY /ferryhook', 'ANY /ferryhook/{proxy+}'],
  'ferryhook-live': ['GET /ferryhook/v1/events/stream', 'GET /ferryhook/v1/sources/{id}/stream'],
  'form-bridge-register': ['POST /form-bridge/v1/register'],
  'form-bridge-exchange': ['POST /form-bridge/v1/exchange'],
  'form-bridge-validate': ['POST /form-bridge/v1/validate'],
  'form-bridge-site': [
    'GET /form-bridge/v1/site',
    'POST /form-bridge/v1/site/heartbeat',
    'POST /form-bridge/v1/site/rotate',
    'POST /form-bridge/v1/site/disconnect',
    'POST /form-bridge/v1/webhook',
  ],
  'form-bridge-updates': [
    'GET /form-bridge/v1/updates/check',
    'GET /form-bridge/v1/plugins/{slug}',
    'GET /form-bridge/v1/plugins/{slug}/{version}/download',
  ],
  'form-bridge-agency': ['ANY /form-bridge/v1/agency', 'ANY /form-bridge/v1/agency/{proxy+}'],
  'form-bridge-publish': [
    'PUT /form-bridge/v1/plugins/{slug}/{version}',
    'POST /form-bridge/v1/plugins/{slug}/{version}/withdraw',
  ],
  'form-bridge-operator': ['ANY /form-bridge/{proxy+}'],
  'key-store': ['ANY /key-store/{proxy+}'],
  'two-key-handler': ['POST /two-key/slack/{app}', 'POST /two-key/slack/{app}/{what}'],
  'two-key-installations': ['ANY /two-key/{proxy+}'],
  server: ['$default'],
} as const satisfies Record<string, readonly RouteKey[]>

export type HttpFunctionName = keyof typeof routeKeys

/**
 * Whether the function with these route keys handles the request. Streams have a function of their own: the
 * others cannot send a response in parts, so clients get 404 from them and ask regularly instead.
 */
export function isServedBy(keys: readonly RouteKey[], method: string, path: string): boolean {
  const streams = routeKeys['ferryhook-live']
  if (keys !== streams && matchesRoutes(streams, method, path)) return false
  return matchesRoutes(keys, method, path)
}

/** Whether one of the route keys matches, as API Gateway matches them. */
export function matchesRoutes(keys: readonly RouteKey[], method: string, path: string): boolean {
  return keys.some((key) => {
    if (key === '$default') return true
    const [keyMethod = '', keyPath = ''] = key.split(' ')
    return (keyMethod === 'ANY' || keyMethod === method) && matchesPath(keyPath, path)
  })
}

function matchesPath(keyPath: string, path: string): boolean {
  const wanted = keyPath.split('/')
  const given = path.split('/')
  const isGreedy = wanted.at(-1) === '{proxy+}'
  if (isGreedy ? given.length < wanted.length : given.length !== wanted.length) return false
  return wanted.every(
    (part, at) =>
      part === '{proxy+}' || (part.startsWith('{') ? given[at] !== '' : part === given[at]),
  )
}
