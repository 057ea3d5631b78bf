/**
 * Handshakes: requests by which a provider checks an address before it sends events there. They get
 * a response and are not stored as events. Signed handshakes are answered only after verification.
 * GitHub's `ping` needs no particular response and is an ordinary event.
 */
import { parseUrl } from '@strongroom/kit/parse-url'
import type { Source } from '../sources/item.ts'
import { hmac } from './crypto.ts'
import type { SigningScheme } from './schemes.ts'
import { propertyOf, parseJsonBody, type SignedRequest } from './signed-request.ts'

export interface Handshake {
  source: Pick<Source, 'sourceId' | 'provider'>
  /** Already verified, if the source verifies signatures. */
  request: SignedRequest
  /** Undefined if the source does not verify signatures. */
  scheme?: SigningScheme | undefined
  secrets?: readonly string[] | undefined
}

export interface HandshakeResponse {
  status: 200 | 204
  contentType: 'application/json' | 'text/plain'
  body: string
}

export function answerHandshake(handshake: Handshake): HandshakeResponse | undefined {
  const { source, request } = handshake
  if (request.method === 'GET') return source.provider === 'custom' ? hub(handshake) : undefined
  switch (source.provider) {
    case 'slack':
      return slack(request)
    case 'discord':
      return discord(request)
    case 'custom':
      return zoom(handshake)
    default:
      return undefined
  }
}

/** The requester chooses what is sent back, so it must not contain markup. */
const SAFE_TEXT = /^[\w.~-]{1,500}$/

function slack({ body }: SignedRequest): HandshakeResponse | undefined {
  if (!mentions(body, 'url_verification')) return undefined
  const message = parseJsonBody(body)
  const challenge = propertyOf(message, 'challenge')
  if (propertyOf(message, 'type') !== 'url_verification') return undefined
  if (typeof challenge !== 'string' || !SAFE_TEXT.test(challenge)) return undefined
  return json({ challenge })
}

/** The ping of interactions has type 1, that of webhook events type 0. Events have type 1 too. */
function discord({ body }: SignedRequest): HandshakeResponse | undefined {
  const message = parseJsonBody(body)
  const type = propertyOf(message, 'type')
  if (type === 0) return { status: 204, contentType: 'application/json', body: '' }
  if (type !== 1 || propertyOf(message, 'event') !== undefined) return undefined
  return json({ type: 1 })
}

/**
 * Meta and WebSub: an unsigned GET with a challenge. The verify token is the id of the source, so
 * that only those who know the address can subscribe it.
 */
function hub({ source, request }: Handshake): HandshakeResponse | undefined {
  const query = parseUrl(request.url)?.searchParams
  if (!query) return undefined
  const challenge = query.get('hub.challenge') ?? ''
  if (query.get('hub.mode') !== 'subscribe') return undefined
  if (query.get('hub.verify_token') !== source.sourceId) return undefined
  return SAFE_TEXT.test(challenge)
    ? { status: 200, contentType: 'text/plain', body: challenge }
    : undefined
}

/**
 * Zoom expects its token back, signed. Signs only for a verified request, and only a text that cannot
 * be the signed content of a request: otherwise anyone could get a forged request signed.
 */
function zoom({ request, scheme, secrets = [] }: Handshake): HandshakeResponse | undefined {
  const [secret] = secrets
  if (secret === undefined || !isZoom(scheme)) return undefined
  const message = parseJsonBody(request.body)
  if (propertyOf(message, 'event') !== 'endpoint.url_validation') return undefined
  const plainToken = propertyOf(propertyOf(message, 'payload'), 'plainToken')
  if (typeof plainToken !== 'string' || !SAFE_TEXT.test(plainToken)) return undefined
  return json({ plainToken, encryptedToken: hmac('sha256', secret, plainToken).toString('hex') })
}

function isZoom(scheme: SigningScheme | undefined): boolean {
  return scheme?.algorithm === 'hmac-sha256' && scheme.header === 'x-zm-signature'
}

/** Avoids parsing every event. */
function mentions(body: Uint8Array, text: string): boolean {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes(text)
}

function json(value: object): HandshakeResponse {
  return { status: 200, contentType: 'application/json', body: JSON.stringify(value) }
}
