/**
 * Headers by which an application believes its own reverse proxy, login gateway or router: who the
 * client is, which URL and method it asked for. A sender of webhooks could forge them, so they are
 * never forwarded.
 */

/** Names that end in a hyphen are prefixes. */
const PROXY_HEADERS = [
  // Who is signed in.
  'authorization',
  'cf-access-',
  'proxy',
  'proxy-',
  'remote-',
  'ssl-client-',
  'x-amzn-oidc-',
  'x-auth-',
  'x-authenticated-',
  'x-goog-authenticated-user-',
  'x-goog-iap-',
  'x-ms-client-principal',
  'x-ms-client-principal-',
  'x-remote-',
  'x-ssl-',
  'x-webauth-',
  // Where the request comes from.
  'cf-connecting-',
  'client-ip',
  'fastly-client-',
  'fly-client-',
  'forwarded',
  'forwarded-',
  'front-end-https',
  'true-client-',
  'via',
  'x-appengine-',
  'x-arr-',
  'x-azure-',
  'x-client-',
  'x-cluster-client-',
  'x-envoy-',
  'x-forward-',
  'x-forwarded',
  'x-forwarded-',
  'x-proxyuser-',
  'x-real-',
  'x-vercel-',
  // What the request is for.
  'x-host',
  'x-http-',
  'x-method-override',
  'x-middleware-',
  'x-original-',
  'x-rewrite-',
  'x-scheme',
  'x-url-scheme',
]

const names = new Set(PROXY_HEADERS.filter((name) => !name.endsWith('-')))
const prefixes = PROXY_HEADERS.filter((name) => name.endsWith('-'))

/** Whether an application may take the header for one of its own proxy. */
export function isProxyHeader(name: string): boolean {
  // CGI, WSGI and PHP turn every other character into an underscore: X_Real.IP is X-Real-IP there.
  const canonical = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')
  return names.has(canonical) || prefixes.some((prefix) => canonical.startsWith(prefix))
}
