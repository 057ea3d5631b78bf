import { expect, test } from 'vitest'
import { isProxyHeader } from '../src/proxy-headers.ts'

test.each([
  'Authorization',
  'Forwarded',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Forwarded-Proto',
  'X-Forwarded-User',
  'X-Original-URL',
  'X-Original-Host',
  'X-Rewrite-URL',
  'X-Real-IP',
  'X-Client-IP',
  'True-Client-IP',
  'CF-Connecting-IP',
  'X-HTTP-Method-Override',
  'X-HTTP-Method',
  'X-Method-Override',
  'X-Host',
  'Remote-User',
  'X-Remote-User',
  'X-Auth-Request-Email',
  'X-Amzn-Oidc-Identity',
  'X-Goog-Authenticated-User-Email',
  'X-MS-Client-Principal',
  'X-SSL-Client-Verify',
  'X-Middleware-Subrequest',
  'Proxy',
  'Proxy-Authorization',
])('%s is a header of a proxy, however its words are separated', (name) => {
  expect(isProxyHeader(name)).toBe(true)
  for (const separator of ['_', '.', '!']) {
    expect(isProxyHeader(name.replaceAll('-', separator))).toBe(true)
  }
})

test.each([
  'content-type',
  'idempotency-key',
  'webhook-id',
  'x-github-event',
  'x-goog-channel-id',
  'x-request-id',
  'x-shopify-topic',
  'x-slack-signature',
  'x-hub-signature-256',
  'stripe-signature',
  'paypal-auth-algo',
  'traceparent',
])('%s is not', (name) => {
  expect(isProxyHeader(name)).toBe(false)
})
