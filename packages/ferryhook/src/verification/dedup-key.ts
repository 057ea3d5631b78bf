/**
 * The provider's id of an event, which identifies a repeated delivery. If an id could belong to two
 * different events there is no key: a duplicate can be recognised later, a lost event cannot.
 */
import type { Source } from '../sources/item.ts'
import { FieldRule, fieldValue, inBody, inHeaders, type RequestFields } from './field-rule.ts'

const MAX_KEY_LENGTH = 256

/** The first rule that finds a key is used. */
const rules: Readonly<Record<Source['provider'], readonly FieldRule[]>> = {
  stripe: inBody('$.id'),
  github: inHeaders('x-github-delivery'),
  // Not the event id, which webhooks of several topics about one event share.
  shopify: inHeaders('x-shopify-webhook-id', 'shopify-webhook-id'),
  slack: inBody('$.event_id'),
  twilio: inHeaders('i-twilio-idempotency-token'),
  // One request contains many events, each with its own id.
  sendgrid: [],
  square: inBody('$.event_id'),
  paypal: inHeaders('paypal-transmission-id'),
  // Not the event UUID, which webhooks that trigger each other share.
  gitlab: inHeaders('webhook-id', 'idempotency-key'),
  linear: inHeaders('linear-delivery'),
  'standard-webhooks': inHeaders('svix-id', 'webhook-id'),
  paddle: inBody('$.event_id'),
  discord: inBody('$.id'),
  zendesk: inHeaders('x-zendesk-webhook-invocation-id'),
  custom: [],
}

export function dedupKeyOf(
  source: Pick<Source, 'provider' | 'dedup'>,
  request: RequestFields,
): string | undefined {
  const own = source.dedup === undefined ? undefined : FieldRule.parse(JSON.parse(source.dedup))
  for (const rule of own ? [own] : rules[source.provider]) {
    const key = bounded(fieldValue(rule, request))
    if (key !== undefined) return key
  }
  return undefined
}

function bounded(value: unknown): string | undefined {
  // An unsafe integer has lost its last digits, so two ids could become one.
  if (Number.isSafeInteger(value)) return String(value)
  if (typeof value !== 'string' || value === '' || value.length > MAX_KEY_LENGTH) return undefined
  return value
}
