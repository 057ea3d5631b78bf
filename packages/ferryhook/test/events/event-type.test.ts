import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createCredentialRule } from '../../src/events/credential-headers.ts'
import { createReadEventType, hasEventType } from '../../src/events/event-type.ts'
import type { Source } from '../../src/sources/item.ts'
import { type IngestBench, openIngestBench } from '../support/test-ingest.ts'

type Provider = Source['provider']
const FORM = 'application/x-www-form-urlencoded'

function typeOf(
  source: { provider?: Provider; eventType?: object; credentialHeaders?: string[] },
  body: string | object = '',
  headers: Record<string, string> = {},
) {
  const { provider = 'custom', eventType, ...rest } = source
  const stored = { provider, ...rest, ...(eventType && { eventType: JSON.stringify(eventType) }) }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return createReadEventType(stored, createCredentialRule())({ headers, body: Buffer.from(text) })
}

describe('the type of an event', () => {
  const bodies: [Provider, object, string][] = [
    ['stripe', { id: 'evt_1', type: 'invoice.paid' }, 'invoice.paid'],
    ['slack', { type: 'event_callback', event: { type: 'app_mention' } }, 'app_mention'],
    ['slack', { type: 'view_submission' }, 'view_submission'],
    ['sendgrid', [{ event: 'delivered' }, { event: 'open' }], 'delivered'],
    [
      'twilio',
      [{ type: 'com.twilio.messaging.message.sent' }],
      'com.twilio.messaging.message.sent',
    ],
    ['square', { type: 'payment.created' }, 'payment.created'],
    ['paypal', { event_type: 'PAYMENT.SALE.COMPLETED' }, 'PAYMENT.SALE.COMPLETED'],
    ['linear', { type: 'Issue', action: 'create' }, 'Issue.create'],
    ['standard-webhooks', { type: 'user.created' }, 'user.created'],
    ['paddle', { event_type: 'subscription.created' }, 'subscription.created'],
    ['discord', { type: 1, event: { type: 'ENTITLEMENT_CREATE' } }, 'ENTITLEMENT_CREATE'],
    ['discord', { type: 2, id: '7' }, 'APPLICATION_COMMAND'],
    ['zendesk', { type: 'zen:event-type:user.created' }, 'zen:event-type:user.created'],
    ['custom', { event: { type: 'sale' } }, 'sale'],
    ['custom', { event: 'sale' }, 'sale'],
    ['custom', { event_type: 'sale', event: 'other' }, 'sale'],
  ]
  test.each(bodies)('of %s is read from the body %j', (provider, body, type) => {
    expect(typeOf({ provider }, body)).toBe(type)
  })

  test.each<[Provider, string, string]>([
    ['github', 'x-github-event', 'pull_request'],
    ['gitlab', 'x-gitlab-event', 'Push Hook'],
    ['shopify', 'x-shopify-topic', 'orders/create'],
    ['shopify', 'shopify-topic', 'Product'],
    ['custom', 'ce-type', 'com.example.sale'],
    ['custom', 'x-event-key', 'repo:push'],
  ])('of %s is read from the header %s', (provider, header, type) => {
    expect(typeOf({ provider }, { type: 'other' }, { [header]: type })).toBe(type)
  })

  test.each<[Provider, string, string]>([
    ['twilio', 'MessageSid=SM1&MessageStatus=delivered', 'delivered'],
    ['twilio', 'EventType=onMessageAdded&CallStatus=x', 'onMessageAdded'],
    ['slack', 'command=%2Fweather&text=x', '/weather'],
  ])('of %s is read from the form %s', (provider, body, type) => {
    expect(typeOf({ provider }, body, { 'content-type': FORM })).toBe(type)
  })

  test('is read from where the source says, or not at all', () => {
    const body = { type: 'no', kind: { name: 'yes' }, number: 7 }
    expect(typeOf({ eventType: { by: 'path', path: '$.kind.name' } }, body)).toBe('yes')
    expect(typeOf({ eventType: { by: 'path', path: '$.number' } }, body)).toBe('7')
    expect(typeOf({ eventType: { by: 'path', path: '$.missing' } }, body)).toBeUndefined()
    expect(typeOf({ eventType: { by: 'none' } }, body)).toBeUndefined()
    const own = { eventType: { by: 'header', name: 'x-kind' } }
    expect(typeOf(own, body, { 'x-kind': 'sale' })).toBe('sale')
  })

  test('is never a credential', () => {
    const named = (name: string) => ({ eventType: { by: 'header', name } })
    expect(typeOf(named('x-api-key'), '', { 'x-api-key': 'hush' })).toBeUndefined()
    const source = { ...named('x-kind'), credentialHeaders: ['x-kind'] }
    expect(typeOf(source, '', { 'x-kind': 'hush' })).toBeUndefined()
  })

  test.each<[string, string]>([
    ['no JSON', 'type: sale'],
    ['cut JSON', '{"type":"sale"'],
    ['a list', '["sale"]'],
    ['a number', '17'],
    ['an object', '{"type":{"a":1}}'],
    ['an empty text', '{"type":" "}'],
    ['a control character', '{"type":"a\\u001bb"}'],
    ['a direction override', '{"type":"a\\u202eb"}'],
    ['half a character', '{"type":"a\\ud800"}'],
    ['a long text', JSON.stringify({ type: 'x'.repeat(201) })],
    ['a body beyond 32 KB', JSON.stringify({ type: 'sale', data: 'x'.repeat(32_768) })],
    ['nothing', ''],
  ])('is missing if the body is or has %s', (_, body) => {
    expect(typeOf({}, body)).toBeUndefined()
  })

  test('is found in a large body that is parsed anyway for its event id', async () => {
    const { dedupKeyOf } = await import('../../src/verification/dedup-key.ts')
    const source = { provider: 'stripe' } as const
    const body = JSON.stringify({ id: 'evt_1', data: 'x'.repeat(100_000), type: 'invoice.paid' })
    const request = { headers: {}, body: Buffer.from(body) }
    expect(dedupKeyOf(source, request)).toBe('evt_1')
    expect(createReadEventType(source, createCredentialRule())(request)).toBe('invoice.paid')
  })

  test('matches itself, or a beginning with an asterisk', () => {
    const event = { eventType: 'invoice.paid' }
    expect(hasEventType(event, 'invoice.paid')).toBe(true)
    expect(hasEventType(event, 'invoice.*')).toBe(true)
    expect(hasEventType(event, 'invoice')).toBe(false)
    expect(hasEventType({}, 'invoice.paid')).toBe(false)
  })
})

describe.each(serviceStores())('ingest on $name', (store) => {
  let bench: IngestBench
  beforeAll(async () => {
    bench = await openIngestBench(store)
  })
  afterAll(() => bench.close())

  test('stores the type of an event, and nothing if it has none', async () => {
    const source = await bench.source({ provider: 'github' })
    await bench.send(source.sourceId, { body: '{}', headers: { 'x-github-event': 'push' } })
    bench.clock.advance({ ms: 1 })
    await bench.send(source.sourceId, { body: '{}' })
    const [none, typed] = await bench.eventsOf(source)
    expect(typed?.eventType).toBe('push')
    expect(none).not.toHaveProperty('eventType')
  })

  test('stores the type of an event whose verification failed', async () => {
    const source = await bench.source({ provider: 'github', secret: 'hush' })
    const headers = { 'x-github-event': 'push', 'x-hub-signature-256': 'sha256=00' }
    expect((await bench.send(source.sourceId, { body: '{}', headers })).status).toBe(401)
    expect(await bench.eventsOf(source)).toMatchObject([
      { status: 'signature_failed', eventType: 'push' },
    ])
  })
})
