import { describe, expect, test } from 'vitest'
import { createCredentialRule } from '../../src/events/credential-headers.ts'

describe('a header', () => {
  const isCredential = createCredentialRule()

  test.each([
    'authorization',
    'authorization-token',
    'authorizationinfo',
    'proxy-authorization',
    'x-authorization',
    'cookie',
    'cookie2',
    'set-cookie',
    'token',
    'x-auth-token',
    'x-gitlab-token',
    'x-goog-channel-token',
    'x-telegram-bot-api-secret-token',
    'x-amz-security-token',
    'secret',
    'x-hook-secret',
    'x-webhook-secret',
    'api-key',
    'apikey',
    'x-apikey',
    'x-api-key',
    'x_api_key',
    'ocp-apim-subscription-key',
    'x-password',
  ])('named %s is a credential', (name) => {
    expect(isCredential(name)).toBe(true)
  })

  test.each([
    'content-type',
    'idempotency-key',
    'x-idempotency-key',
    'i-twilio-idempotency-token',
    'x-event-key',
    'webhook-id',
    'webhook-signature',
    'webhook-timestamp',
    'x-github-delivery',
    'x-github-event',
    'x-gitlab-event',
    'x-gitlab-event-uuid',
    'x-hub-signature-256',
    'x-keyboard',
    'x-monkey',
    'x-shopify-hmac-sha256',
    'x-shopify-webhook-id',
    'x-signature-ed25519',
    'x-slack-request-timestamp',
    'x-slack-signature',
    'x-square-hmacsha256-signature',
    'x-twilio-email-event-webhook-signature',
    'x-twilio-signature',
    'x-zendesk-webhook-signature',
    'linear-signature',
    'paddle-signature',
    'paypal-auth-algo',
    'paypal-cert-url',
    'paypal-transmission-id',
    'paypal-transmission-sig',
    'stripe-signature',
    'x-tokens-left',
  ])('named %s is not', (name) => {
    expect(isCredential(name)).toBe(false)
  })

  test('can be exempt, unless it is a credential of the source', () => {
    const rule = createCredentialRule(['x-routing-key'])
    expect(rule('x-routing-key')).toBe(false)
    expect(rule('x-routing-key', ['x-routing-key'])).toBe(true)
    expect(rule('x-pin', ['x-pin'])).toBe(true)
    expect(rule('x-pin', [])).toBe(false)
  })
})
