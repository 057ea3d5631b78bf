/** Errors of outbound requests, with messages that are safe to show to a tenant. */
const MESSAGES = {
  invalid_url: 'URL is not usable: give an absolute https URL',
  invalid_request: 'Request is not usable: check its method and headers',
  blocked_address: 'Address is not allowed: use a host with public addresses only',
  dns: 'Host name cannot be resolved: check its spelling and its DNS records',
  connection: 'Connection failed: check that the server is running and speaks HTTP',
  tls: 'TLS failed: check the certificate of the server and its host name',
  timeout: 'No complete response in time: respond faster',
  too_large: 'Response headers are too large: send fewer or shorter headers',
  redirect: 'Redirect was not followed: use the final URL',
  aborted: 'Request was cancelled',
} as const

export type SafeFetchReason = keyof typeof MESSAGES

/**
 * The only error of safe-fetch. It has no `cause` and names no address: messages of sockets and
 * resolvers would reveal to a tenant what a name resolves to inside the network.
 */
export class SafeFetchError extends Error {
  override readonly name = 'SafeFetchError'
  readonly reason: SafeFetchReason
  /** The system's or library's error code (`ECONNREFUSED`, `CERT_HAS_EXPIRED`), where there is one. */
  readonly code: string | undefined

  constructor(
    reason: SafeFetchReason,
    details: { message?: string; code?: string | undefined } = {},
  ) {
    super(details.message ?? MESSAGES[reason])
    this.reason = reason
    this.code = details.code
  }
}

/** The address is the server's own, where a request would become another one. */
export function ownAddress(): SafeFetchError {
  const message = 'Address is one of this server: choose another destination'
  return new SafeFetchError('blocked_address', { message })
}

/** Converts errors of undici, sockets, TLS and resolvers; a defect stays as it is. */
export function toSafeFetchError(error: unknown): unknown {
  if (error instanceof SafeFetchError) return error
  const code = errorCode(error)
  // Only some parser errors have a code. By name, because commands that send nothing load this file too.
  if (error instanceof Error && error.name === 'HTTPParserError')
    return new SafeFetchError('connection', { code })
  return code === undefined ? error : new SafeFetchError(reasonOf(code), { code })
}

export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

const TIMEOUT_CODES = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
])

// OpenSSL's verification results (X509_V_ERR_…, as Node spells them) and Node's own TLS errors.
const TLS_CODE =
  /^(?:ERR_SSL_|ERR_TLS_|EPROTO$|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERROR_IN_C|INVALID_CA$|INVALID_PURPOSE$|HOSTNAME_MISMATCH$|PATH_LENGTH_)/

function reasonOf(code: string): SafeFetchReason {
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'too_large'
  if (code === 'UND_ERR_INVALID_ARG') return 'invalid_request'
  if (TIMEOUT_CODES.has(code)) return 'timeout'
  return TLS_CODE.test(code) ? 'tls' : 'connection'
}
