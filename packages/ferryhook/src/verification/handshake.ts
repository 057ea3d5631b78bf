/**
 * Requests by which a provider makes sure that an address answers, before it sends events there.
 * They are answered and not events. What a provider signs is answered only if the signature is
 * right. GitHub's `ping` wants no particular answer and is an ordinary event.
 */
import { parseUrl } from '@strongroom/kit/parse-url'
import type { Source } from '../items/source.ts'
import { hmac } from './digests.ts'
import type { SigningScheme } from './schemes.ts'
import { attributeOf, jsonOf, type SignedRequest } from './signed-request.ts'

export interface Handshake {
  source: Pick<Source, 'sourceId' | 'provider'>
  request: SignedRequest
  /** `unverified` where the source verifies nothing; what was refused has no answer. */
  verdict: 'verified' | 'unverified' | 'refused'
  /** Where the source verifies. */
  scheme?: SigningScheme | undefined
  secrets?: readonly string[] | undefined
}

export interface HandshakeAnswer {
  status: 200 | 204
  contentType: 'application/json' | 'text/plain'
  body: string
}

export function answerHandshake(handshake: Handshake): HandshakeAnswer | undefined {
  const { source, request, verdict } = handshake
  if (request.method === 'GET') return source.provider === 'custom' ? hub(handshake) : undefined
  if (verdict === 'refused') return undefined
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

/** What is sent back was chosen by whoever asks: nothing that could be taken for markup. */
const HARMLESS = /^[\w.~-]{1,500}$/

function slack({ body }: SignedRequest): HandshakeAnswer | undefined {
  if (!mentions(body, 'url_verification')) return undefined
  const message = jsonOf(body)
  const challenge = attributeOf(message, 'challenge')
  if (attributeOf(message, 'type') !== 'url_verification') return undefined
  if (typeof challenge !== 'string' || !HARMLESS.test(challenge)) return undefined
  return json({ challenge })
}

/** Interactions have pings of type 1, webhook events of type 0; an event is of type 1 as well. */
function discord({ body }: SignedRequest): HandshakeAnswer | undefined {
  const message = jsonOf(body)
  const type = attributeOf(message, 'type')
  if (type === 0) return { status: 204, contentType: 'application/json', body: '' }
  if (type !== 1 || attributeOf(message, 'event') !== undefined) return undefined
  return json({ type: 1 })
}

/**
 * Meta and WebSub: a GET with a challenge, which nobody signs. The verify token is the id of the
 * source, so that nobody who does not know the address can subscribe it.
 */
function hub({ source, request }: Handshake): HandshakeAnswer | undefined {
  const query = parseUrl(request.url)?.searchParams
  if (!query) return undefined
  const challenge = query.get('hub.challenge') ?? ''
  if (query.get('hub.mode') !== 'subscribe') return undefined
  if (query.get('hub.verify_token') !== source.sourceId) return undefined
  return HARMLESS.test(challenge)
    ? { status: 200, contentType: 'text/plain', body: challenge }
    : undefined
}

/**
 * Zoom wants its token back, signed. Only after verification, and only what cannot be the text that
 * a signature covers: otherwise anybody could have any request signed here.
 */
function zoom({ request, verdict, scheme, secrets = [] }: Handshake): HandshakeAnswer | undefined {
  const [secret] = secrets
  if (verdict !== 'verified' || secret === undefined || !isZoom(scheme)) return undefined
  const message = jsonOf(request.body)
  if (attributeOf(message, 'event') !== 'endpoint.url_validation') return undefined
  const plainToken = attributeOf(attributeOf(message, 'payload'), 'plainToken')
  if (typeof plainToken !== 'string' || !HARMLESS.test(plainToken)) return undefined
  return json({ plainToken, encryptedToken: hmac('sha256', secret, plainToken).toString('hex') })
}

function isZoom(scheme: SigningScheme | undefined): boolean {
  return scheme?.algorithm === 'hmac-sha256' && scheme.header === 'x-zm-signature'
}

/** Spares every other event the parsing. */
function mentions(body: Uint8Array, text: string): boolean {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes(text)
}

function json(value: object): HandshakeAnswer {
  return { status: 200, contentType: 'application/json', body: JSON.stringify(value) }
}
