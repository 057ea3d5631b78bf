/** How each provider signs, written from its documentation, independently of the verifying code. */
import { createHmac, type KeyObject, sign } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { SigningScheme } from '../../src/verification/schemes.ts'
import { makeCertificate } from './certificates.ts'
import { ed25519, keyOf, p256 } from './signer-keys.ts'
import { NOW, type Signer, type Signing, URL_OF_SOURCE } from './signed-requests.ts'

const json = '{"id":"evt_1","text":"Grüße"}'
const seconds = (at: number) => String(Math.floor(at / 1000))
const isoSeconds = (at: number) => new Date(at).toISOString().replace('.000Z', 'Z')

type Part = string | Buffer
const mac = (hash: string, key: string | Buffer, encoding: 'hex' | 'base64', ...parts: Part[]) =>
  createHmac(hash, key)
    .update(Buffer.concat(parts.map((part) => Buffer.from(part as string))))
    .digest(encoding)

const whsec = (fill: number) => `whsec_${Buffer.alloc(32, fill).toString('base64')}`
const whsecKey = (secret: string) => Buffer.from(secret.slice('whsec_'.length), 'base64')

/** The certificate that PayPal signs with, issued for the name of live webhooks. */
const payPalLeaf = makeCertificate({
  name: 'messageverificationcerts.paypal.com',
  key: 'rsa',
})

export function payPalHeaders(
  { secret, body, at }: Signing,
  { privateKey, url }: { privateKey: KeyObject; url?: string },
): Record<string, string> {
  const [id, time] = ['b2384410-f8d2-11e4-8bf3-77339302725b', isoSeconds(at)]
  const signed = Buffer.from(`${id}|${time}|${secret}|${crc32(body)}`)
  return {
    'paypal-transmission-id': id,
    'paypal-transmission-time': time,
    'paypal-transmission-sig': sign('sha256', signed, privateKey).toString('base64'),
    'paypal-auth-algo': 'SHA256withRSA',
    ...(url !== undefined && { 'paypal-cert-url': url }),
  }
}

function webhookHeaders(family: 'webhook' | 'svix', { secret, body, at }: Signing) {
  const time = seconds(at)
  const signature = mac('sha256', whsecKey(secret), 'base64', `msg_1.${time}.`, body)
  return {
    [`${family}-id`]: 'msg_1',
    [`${family}-timestamp`]: time,
    [`${family}-signature`]: `v1,${signature}`,
  }
}

const scheme = (algorithm: string, options: object = {}) =>
  SigningScheme.parse({ algorithm, ...options })

export const signers: Signer[] = [
  {
    name: 'stripe',
    scheme: scheme('stripe'),
    secrets: ['whsec_one', 'whsec_two'],
    body: json,
    toleranceSeconds: 300,
    sign: ({ secret, body, at }) => ({
      'stripe-signature': `t=${seconds(at)},v0=00,v1=${mac('sha256', secret, 'hex', `${seconds(at)}.`, body)}`,
    }),
  },
  {
    name: 'github',
    scheme: scheme('github'),
    secrets: ['first', 'second'],
    body: json,
    sign: ({ secret, body }) => ({
      'x-hub-signature-256': `sha256=${mac('sha256', secret, 'hex', body)}`,
    }),
  },
  {
    name: 'github with SHA-1 allowed',
    scheme: scheme('github', { legacySha1: true }),
    secrets: ['first', 'second'],
    body: json,
    sign: ({ secret, body }) => ({ 'x-hub-signature': `sha1=${mac('sha1', secret, 'hex', body)}` }),
  },
  {
    name: 'shopify',
    scheme: scheme('shopify'),
    secrets: ['hush', 'hush-hush'],
    body: json,
    emptyBody: 'malformed_body',
    sign: ({ secret, body }) => ({
      'x-shopify-hmac-sha256': mac('sha256', secret, 'base64', body),
    }),
  },
  {
    name: 'shopify events',
    scheme: scheme('shopify'),
    secrets: ['hush', 'hush-hush'],
    body: json,
    emptyBody: 'malformed_body',
    sign: ({ secret, body }) => ({ 'shopify-hmac-sha256': mac('sha256', secret, 'base64', body) }),
  },
  {
    name: 'slack',
    scheme: scheme('slack'),
    secrets: ['8f742231b10e8888', 'abcd99yyyzzz85a5'],
    body: json,
    toleranceSeconds: 300,
    sign: ({ secret, body, at }) => ({
      'x-slack-request-timestamp': seconds(at),
      'x-slack-signature': `v0=${mac('sha256', secret, 'hex', `v0:${seconds(at)}:`, body)}`,
    }),
  },
  {
    name: 'twilio form',
    scheme: scheme('twilio'),
    secrets: ['12345', '67890'],
    body: 'CallSid=CA1&Caller=%2B12349013030',
    contentType: 'application/x-www-form-urlencoded; charset=utf-8',
    sign({ secret, body }) {
      const form = [...new URLSearchParams(body.toString())].map((pair) => pair.join('')).toSorted()
      return {
        'x-twilio-signature': mac('sha1', secret, 'base64', URL_OF_SOURCE, form.join('')),
      }
    },
  },
  {
    name: 'sendgrid',
    asymmetric: true,
    scheme: scheme('sendgrid'),
    secrets: [p256(), p256()],
    body: `[${json}]\r\n`,
    toleranceSeconds: 300,
    sign: ({ secret, body, at }) => ({
      'x-twilio-email-event-webhook-timestamp': seconds(at),
      'x-twilio-email-event-webhook-signature': sign(
        'sha256',
        Buffer.concat([Buffer.from(seconds(at)), body]),
        keyOf(secret),
      ).toString('base64'),
    }),
  },
  {
    name: 'square',
    scheme: scheme('square'),
    secrets: ['asdf1234', 'asdf5678'],
    body: json,
    sign: ({ secret, body }) => ({
      'x-square-hmacsha256-signature': mac('sha256', secret, 'base64', URL_OF_SOURCE, body),
    }),
  },
  {
    name: 'paypal with a pinned certificate',
    asymmetric: true,
    scheme: scheme('paypal', { certificates: payPalLeaf.pem, toleranceSeconds: 600 }),
    secrets: ['3RN13029J36659323', '3RN13029J36659324'],
    body: json,
    toleranceSeconds: 600,
    sign: (signing) => payPalHeaders(signing, payPalLeaf),
  },
  {
    name: 'gitlab token',
    scheme: scheme('gitlab'),
    secrets: ['s3cret', 'geheim-für-gitlab'],
    body: json,
    alteredBody: 'accepted',
    sign: ({ secret }) => ({ 'x-gitlab-token': Buffer.from(secret).toString('latin1') }),
  },
  {
    name: 'gitlab signing token',
    scheme: scheme('gitlab'),
    secrets: [whsec(1), whsec(2)],
    body: json,
    toleranceSeconds: 300,
    doubledSignature: 'accepted',
    sign: (signing) => webhookHeaders('webhook', signing),
  },
  {
    name: 'linear',
    scheme: scheme('linear'),
    secrets: ['lin_wh_one', 'lin_wh_two'],
    body: `{"webhookTimestamp":${NOW}}`,
    bodyAt: (at) => `{"webhookTimestamp":${at}}`,
    toleranceSeconds: 60,
    emptyBody: 'malformed_body',
    sign: ({ secret, body }) => ({ 'linear-signature': mac('sha256', secret, 'hex', body) }),
  },
  {
    name: 'standard webhooks',
    scheme: scheme('standard-webhooks'),
    secrets: [whsec(1), whsec(2)],
    body: json,
    toleranceSeconds: 300,
    doubledSignature: 'accepted',
    sign: (signing) => webhookHeaders('webhook', signing),
  },
  {
    name: 'svix',
    scheme: scheme('standard-webhooks'),
    secrets: [whsec(1), whsec(2)],
    body: json,
    toleranceSeconds: 300,
    doubledSignature: 'accepted',
    sign: (signing) => webhookHeaders('svix', signing),
  },
  {
    name: 'standard webhooks with asymmetric keys',
    asymmetric: true,
    scheme: scheme('standard-webhooks'),
    secrets: [
      ed25519((raw) => `whpk_${raw.toString('base64')}`),
      ed25519((raw) => `whpk_${raw.toString('base64')}`),
    ],
    body: json,
    toleranceSeconds: 300,
    doubledSignature: 'accepted',
    sign({ secret, body, at }) {
      const signed = Buffer.concat([Buffer.from(`msg_1.${seconds(at)}.`), body])
      return {
        'webhook-id': 'msg_1',
        'webhook-timestamp': seconds(at),
        'webhook-signature': `v1a,${sign(null, signed, keyOf(secret)).toString('base64')}`,
      }
    },
  },
  {
    name: 'paddle',
    scheme: scheme('paddle'),
    secrets: ['pdl_ntfset_one', 'pdl_ntfset_two'],
    body: json,
    toleranceSeconds: 5,
    doubledSignature: 'accepted',
    sign: ({ secret, body, at }) => ({
      'paddle-signature': `ts=${seconds(at)};h1=${mac('sha256', secret, 'hex', `${seconds(at)}:`, body)}`,
    }),
  },
  {
    name: 'discord',
    asymmetric: true,
    scheme: scheme('discord'),
    secrets: [ed25519((raw) => raw.toString('hex')), ed25519((raw) => raw.toString('hex'))],
    body: json,
    toleranceSeconds: 300,
    sign: ({ secret, body, at }) => ({
      'x-signature-timestamp': seconds(at),
      'x-signature-ed25519': sign(
        null,
        Buffer.concat([Buffer.from(seconds(at)), body]),
        keyOf(secret),
      ).toString('hex'),
    }),
  },
  {
    name: 'zendesk',
    scheme: scheme('zendesk'),
    secrets: ['dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmc=', 'other'],
    body: json,
    toleranceSeconds: 300,
    sign: ({ secret, body, at }) => ({
      'x-zendesk-webhook-signature-timestamp': isoSeconds(at),
      'x-zendesk-webhook-signature': mac('sha256', secret, 'base64', isoSeconds(at), body),
    }),
  },
  {
    name: 'any HMAC of the body',
    scheme: scheme('hmac-sha512', { header: 'X-Razor', encoding: 'base64', prefix: 'sig:' }),
    secrets: ['one', 'two'],
    body: json,
    doubledSignature: 'accepted',
    sign: ({ secret, body }) => ({ 'x-razor': `sig:${mac('sha512', secret, 'base64', body)}` }),
  },
  {
    name: 'any HMAC of time, id, address and body',
    scheme: scheme('hmac-sha256', {
      header: 'x-sig',
      template: 'v0:{timestamp}:{id}:{url}:{body}',
      timestampHeader: 'x-time',
      idHeader: 'x-id',
      toleranceSeconds: 120,
    }),
    secrets: ['one', 'two'],
    body: json,
    toleranceSeconds: 120,
    doubledSignature: 'accepted',
    sign: ({ secret, body, at }) => ({
      'x-time': String(at),
      'x-id': 'delivery-1',
      'x-sig': mac('sha256', secret, 'hex', `v0:${at}:delivery-1:${URL_OF_SOURCE}:`, body),
    }),
  },
]
