import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { expect, test, vi } from 'vitest'
import { newSigningSecret, decodeSigningSecret } from '../../src/signing/secret-list.ts'
import { signatureHeaders } from '../../src/signing/signature.ts'
import { SigningScheme, verifySignature } from '../../src/verification/schemes.ts'

const now = Date.parse('2026-03-01T12:00:00.999Z')
const eventId = 'evt_0123456789abcdef'
const body = Buffer.from('{"text":"Grüße"}')

test('the reference verifier of Standard Webhooks accepts a delivery with any of the active secrets', () => {
  const secrets = [newSigningSecret(), newSigningSecret()]
  const headers = { ...signatureHeaders({ eventId, body, secrets, now }) }
  // The reference implementation does not accept a clock.
  vi.useFakeTimers({ now })
  try {
    for (const secret of secrets) {
      expect(new Webhook(secret).verify(body, headers)).toEqual({ text: 'Grüße' })
    }
    const verify = (secret: string, payload = body) => new Webhook(secret).verify(payload, headers)
    expect(() => verify(newSigningSecret())).toThrow()
    expect(() => verify(String(secrets[0]), Buffer.from('{"text":"Grüsse"}'))).toThrow()
  } finally {
    vi.useRealTimers()
  }
})

test('a Ferryhook source accepts what a Ferryhook connection sends', async () => {
  const secret = newSigningSecret()
  const headers = { ...signatureHeaders({ eventId, body, secrets: [secret], now }) }
  const request = { method: 'POST', url: 'https://example.com/in', headers, body }
  const scheme = SigningScheme.parse({ algorithm: 'standard-webhooks' })
  const verdict = await verifySignature({ scheme, secrets: [secret], request, now })
  expect(verdict).toEqual({ ok: true })
})

test('the Ferryhook headers contain the event id, the time and one signature per secret', () => {
  const secrets = [newSigningSecret(), newSigningSecret()]
  const digests = secrets.map((secret) =>
    createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
      .update('1772366400.')
      .update(body)
      .digest('hex'),
  )
  expect(signatureHeaders({ eventId, body, secrets, now })).toMatchObject({
    'webhook-id': eventId,
    'webhook-timestamp': '1772366400',
    'x-ferryhook-event-id': eventId,
    'x-ferryhook-timestamp': '1772366400',
    'x-ferryhook-signature': `t=1772366400,v1=${digests[0]},v1=${digests[1]}`,
  })
})

test('nothing is sent unsigned', () => {
  for (const secrets of [[], [''], ['whsec_***'], [newSigningSecret(), 'not a secret']]) {
    expect(() => signatureHeaders({ eventId, body, secrets, now })).toThrow(TypeError)
  }
})

test('a new secret has 32 random bytes, which Standard Webhooks allows', () => {
  const [one, other] = [newSigningSecret(), newSigningSecret()]
  expect(one).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(decodeSigningSecret(one)).toHaveLength(32)
  expect(one).not.toBe(other)
})
