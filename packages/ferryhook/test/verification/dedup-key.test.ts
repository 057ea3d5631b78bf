import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { providers } from '../../src/sources/values.ts'
import { dedupKeyOf } from '../../src/verification/dedup-key.ts'
import { FieldRule } from '../../src/verification/field-rule.ts'

type Provider = (typeof providers)[number]

function keyOf(
  provider: Provider,
  { headers = {}, body = '' }: { headers?: Record<string, string>; body?: string },
  rule?: object,
) {
  const dedup = rule === undefined ? {} : { dedup: JSON.stringify(rule) }
  return dedupKeyOf({ provider, ...dedup }, { headers, body: Buffer.from(body) })
}

describe('the event id of a provider', () => {
  test.each<[Provider, { headers?: Record<string, string>; body?: string }, string]>([
    ['stripe', { body: '{"id":"evt_1"}' }, 'evt_1'],
    ['github', { headers: { 'x-github-delivery': '72d3162e' } }, '72d3162e'],
    [
      'shopify',
      { headers: { 'x-shopify-webhook-id': 'b54557e4', 'x-shopify-event-id': '98880550' } },
      'b54557e4',
    ],
    ['shopify', { headers: { 'shopify-webhook-id': 'c1' } }, 'c1'],
    ['slack', { body: '{"type":"event_callback","event_id":"Ev1"}' }, 'Ev1'],
    ['twilio', { headers: { 'i-twilio-idempotency-token': 'tok-1' } }, 'tok-1'],
    ['square', { body: '{"event_id":"sq-1"}' }, 'sq-1'],
    ['paypal', { headers: { 'paypal-transmission-id': 'b2384410' } }, 'b2384410'],
    ['gitlab', { headers: { 'webhook-id': 'msg_1', 'idempotency-key': 'f5e5' } }, 'msg_1'],
    ['gitlab', { headers: { 'idempotency-key': 'f5e5', 'x-gitlab-event-uuid': 'u' } }, 'f5e5'],
    ['linear', { headers: { 'linear-delivery': '234d1a4e' } }, '234d1a4e'],
    ['standard-webhooks', { headers: { 'svix-id': 'msg_2', 'webhook-id': 'msg_3' } }, 'msg_2'],
    ['standard-webhooks', { headers: { 'webhook-id': 'msg_3' } }, 'msg_3'],
    ['paddle', { body: '{"event_id":"evt_01","notification_id":"ntf_01"}' }, 'evt_01'],
    ['discord', { body: '{"id":"786008729715212338","type":2}' }, '786008729715212338'],
    ['zendesk', { headers: { 'x-zendesk-webhook-invocation-id': '8350205582' } }, '8350205582'],
  ])('is found in a request of %s', (provider, request, key) => {
    expect(keyOf(provider, request)).toBe(key)
  })

  test('is undefined if the request does not contain it', () => {
    for (const provider of providers) {
      for (const body of ['', '{}', '[]', 'null', 'text', '{"id":null,"event_id":{}}']) {
        expect(keyOf(provider, { body }), `${provider} ${body}`).toBeUndefined()
      }
    }
  })

  test('is undefined if it is empty, too long, or a number that lost digits', () => {
    const stripe = (id: string) => keyOf('stripe', { body: `{"id":${id}}` })
    expect(stripe('""')).toBeUndefined()
    expect(stripe(`"${'x'.repeat(257)}"`)).toBeUndefined()
    expect(stripe(`"${'x'.repeat(256)}"`)).toHaveLength(256)
    expect(stripe('820982911946154508')).toBeUndefined()
    expect(stripe('1.5')).toBeUndefined()
    expect(stripe('42')).toBe('42')
  })
})

describe('a deduplication rule of a source', () => {
  const body = '{"data":{"items":[{"id":"a"},{"id":"b"}]},"order id":7}'

  test('finds the id in a header, a JSON body or a form', () => {
    const headers = { 'x-request-id': 'r1' }
    expect(keyOf('custom', { headers }, { by: 'header', name: 'X-Request-Id' })).toBe('r1')
    expect(keyOf('custom', { body }, { by: 'path', path: '$.data.items[1].id' })).toBe('b')
    expect(keyOf('custom', { body }, { by: 'path', path: '$.data.items[-2].id' })).toBe('a')
    expect(keyOf('custom', { body }, { by: 'path', path: "$['order id']" })).toBe('7')
    const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'Sid=1' }
    expect(keyOf('custom', form, { by: 'path', path: '$.Sid' })).toBe('1')
    for (const path of ['$.data', '$.data.items[2].id', '$.constructor.name', '$.__proto__.x']) {
      expect(keyOf('custom', { body }, { by: 'path', path }), path).toBeUndefined()
    }
  })

  test('overrides the default of the provider, and can turn deduplication off', () => {
    const request = { headers: { 'x-github-delivery': '72d3162e' } }
    expect(keyOf('github', request, { by: 'none' })).toBeUndefined()
    expect(keyOf('github', request, { by: 'header', name: 'x-other' })).toBeUndefined()
  })

  test('is rejected with an explanation if it is invalid', () => {
    const messages = (rule: unknown) =>
      FieldRule.safeParse(rule).error?.issues.map(({ message }) => message)
    const path = 'Must be a path to one value of the body, such as $.data.id or $.events[0].id'
    for (const wrong of [
      '',
      '$',
      '$.',
      '$..id',
      '$.a[*].id',
      '$.a[x]',
      'id',
      '$headers.a',
      '$method',
      `$.${'x'.repeat(500)}`,
    ]) {
      expect(messages({ by: 'path', path: wrong }), wrong).toEqual([path])
    }
    expect(messages({ by: 'header', name: 'a b' })).toEqual([
      'Must be the name of a header: letters, digits and hyphens',
    ])
    expect(messages({ by: 'magic' })?.[0]).toMatch(/^Must be \{"by"/)
  })
})

test('any request has a key of bounded length or none', () => {
  const headers = fc.dictionary(
    fc.constantFrom('webhook-id', 'x-github-delivery', 'a'),
    fc.string(),
  )
  const body = fc.oneof(fc.json(), fc.string()).map((text) => text)
  fc.assert(
    fc.property(fc.constantFrom(...providers), headers, body, (provider, given, text) => {
      const key = keyOf(provider, { headers: given, body: text })
      expect(key === undefined || (key.length > 0 && key.length <= 256)).toBe(true)
    }),
  )
})
