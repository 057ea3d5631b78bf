/** Signs a test event as the provider would, with the secret that the source shares with it. */
import type { Source } from '../sources/item.ts'
import { decodeSigningSecret, isSigningSecret } from '../signing/secret-list.ts'
import { type Hash, hmac } from './crypto.ts'
import type { SigningScheme } from './schemes.ts'

export interface TestContent {
  id: string
  /** In milliseconds. */
  now: number
}

export interface TestBody {
  body: Uint8Array
  headers: Readonly<Record<string, string>>
}

const TEST_TYPE = 'ferryhook.test'

/** Where providers that name the type of an event in a header do so. */
const typeHeaders: Partial<Record<Source['provider'], string>> = {
  github: 'x-github-event',
  shopify: 'x-shopify-topic',
  gitlab: 'x-gitlab-event',
}

/** A body that the provider could have sent: a form for Twilio, JSON for all others. */
export function testBody(provider: Source['provider'], { id, now }: TestContent): TestBody {
  const message = 'A test event sent from the Ferryhook console'
  const typeHeader = typeHeaders[provider]
  const headers = {
    'x-ferryhook-test': 'true',
    ...(typeHeader !== undefined && { [typeHeader]: TEST_TYPE }),
  }
  if (provider === 'twilio') {
    const form = new URLSearchParams({ EventType: TEST_TYPE, Sid: id, Body: message })
    const type = 'application/x-www-form-urlencoded'
    return { body: Buffer.from(form.toString()), headers: { ...headers, 'content-type': type } }
  }
  const event = {
    id,
    type: TEST_TYPE,
    ...(provider === 'paypal' || provider === 'paddle' ? { event_type: TEST_TYPE } : {}),
    // Linear signs its time as a part of the body.
    ...(provider === 'linear' && { webhookTimestamp: now }),
    created: new Date(now).toISOString(),
    data: { message, amount: 4200, currency: 'eur' },
  }
  const content = provider === 'sendgrid' ? [{ ...event, event: TEST_TYPE }] : event
  const body = Buffer.from(JSON.stringify(content))
  return { body, headers: { ...headers, 'content-type': 'application/json' } }
}

export interface TestSigning extends TestContent {
  scheme: SigningScheme
  secret: string
  url: string
  body: Uint8Array
}

/** The headers with the signature; undefined if only the provider has the key that signs. */
export function testSignature(signing: TestSigning): Record<string, string> | undefined {
  const { scheme, secret, url, body, id, now } = signing
  const time = String(Math.floor(now / 1000))
  const digest = (hash: Hash, encoding: 'hex' | 'base64', ...parts: (string | Uint8Array)[]) =>
    hmac(hash, secret, ...parts).toString(encoding)
  switch (scheme.algorithm) {
    case 'stripe':
      return { 'stripe-signature': `t=${time},v1=${digest('sha256', 'hex', `${time}.`, body)}` }
    case 'github':
      return { 'x-hub-signature-256': `sha256=${digest('sha256', 'hex', body)}` }
    case 'shopify':
      return { 'x-shopify-hmac-sha256': digest('sha256', 'base64', body) }
    case 'slack':
      return {
        'x-slack-request-timestamp': time,
        'x-slack-signature': `v0=${digest('sha256', 'hex', `v0:${time}:`, body)}`,
      }
    case 'twilio': {
      const fields = [...new URLSearchParams(Buffer.from(body).toString())]
      const text = fields.map(([name, value]) => name + value).toSorted()
      return { 'x-twilio-signature': digest('sha1', 'base64', url, text.join('')) }
    }
    case 'square':
      return { 'x-square-hmacsha256-signature': digest('sha256', 'base64', url, body) }
    case 'gitlab':
      return isSigningSecret(secret)
        ? standardHeaders(signing, time)
        : { 'x-gitlab-token': Buffer.from(secret).toString('latin1') }
    case 'linear':
      return { 'linear-signature': digest('sha256', 'hex', body) }
    case 'standard-webhooks':
      return standardHeaders(signing, time)
    case 'paddle':
      return { 'paddle-signature': `ts=${time};h1=${digest('sha256', 'hex', `${time}:`, body)}` }
    case 'zendesk': {
      const at = new Date(now).toISOString()
      return {
        'x-zendesk-webhook-signature-timestamp': at,
        'x-zendesk-webhook-signature': digest('sha256', 'base64', at, body),
      }
    }
    case 'sendgrid':
    case 'paypal':
    case 'discord':
      return undefined
    default: {
      const parts = { timestamp: time, id, body, url }
      const signed = scheme.template
        .split(/\{(timestamp|id|body|url)\}/)
        .map((piece, index) => (index % 2 === 0 ? piece : parts[piece as keyof typeof parts]))
      const hash = scheme.algorithm.slice('hmac-'.length) as Hash
      const signature = scheme.prefix + digest(hash, scheme.encoding, ...signed)
      const { timestampHeader, idHeader, timestampPrefix } = scheme
      const stamp = timestampPrefix + time
      const isShared = timestampHeader === scheme.header
      return {
        ...(idHeader !== undefined && { [idHeader]: id }),
        ...(timestampHeader !== undefined && { [timestampHeader]: stamp }),
        [scheme.header]: isShared ? `${stamp},${signature}` : signature,
      }
    }
  }
}

/** Undefined for the public key of an asymmetric pair. */
function standardHeaders(
  { secret, id, body }: TestSigning,
  time: string,
): Record<string, string> | undefined {
  const key = secret.startsWith('whpk_') ? undefined : decodeSigningSecret(secret)
  if (key === undefined) return undefined
  const signature = hmac('sha256', key, `${id}.${time}.`, body).toString('base64')
  return { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': `v1,${signature}` }
}
