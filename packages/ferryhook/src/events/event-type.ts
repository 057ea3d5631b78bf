/** The provider's name for what happened, such as `invoice.paid`, to find events by. */
import * as z from 'zod'
import type { Source } from '../sources/item.ts'
import type { IsCredentialHeader } from './credential-headers.ts'
import {
  FieldRule,
  fieldValue,
  inBody,
  inHeaders,
  isBodyParsed,
  type RequestFields,
} from '../verification/field-rule.ts'

export const MAX_EVENT_TYPE_CHARACTERS = 200

/** A body that nothing else has parsed is parsed for its type only up to this size. */
const MAX_PARSED_BYTES = 32_768

/** Shown in lists and terminals, so it has no control, formatting or unassigned characters. */
const EVENT_TYPE = new RegExp(`^\\P{C}{1,${MAX_EVENT_TYPE_CHARACTERS}}$`, 'u')

export const EventType = z.string().regex(EVENT_TYPE)

/** The first rule that finds a type is used. */
const rules: Readonly<Record<Source['provider'], readonly FieldRule[]>> = {
  stripe: inBody('$.type'),
  github: inHeaders('x-github-event'),
  shopify: inHeaders('x-shopify-topic', 'shopify-topic'),
  // The Events API wraps an event; interactions and slash commands are forms.
  slack: inBody('$.event.type', '$.type', '$.command'),
  // Event Streams are CloudEvents in a list; everything else is a form.
  twilio: inBody(
    '$[0].type',
    '$.EventType',
    '$.StatusCallbackEvent',
    '$.MessageStatus',
    '$.SmsStatus',
    '$.CallStatus',
  ),
  // A request contains many events; the first one names it.
  sendgrid: inBody('$[0].event'),
  square: inBody('$.type'),
  paypal: inBody('$.event_type'),
  gitlab: inHeaders('x-gitlab-event'),
  linear: inBody('$.type'),
  'standard-webhooks': inBody('$.type', '$.event_type', '$.eventType', '$.event'),
  // Paddle Classic sends forms.
  paddle: inBody('$.event_type', '$.alert_name'),
  discord: inBody('$.event.type', '$.type'),
  zendesk: inBody('$.type'),
  custom: [
    // CloudEvents, Bitbucket, GitHub's imitators, WooCommerce.
    ...inHeaders('ce-type', 'x-event-key', 'x-event-type', 'x-github-event', 'x-wc-webhook-topic'),
    ...inBody('$.type', '$.event_type', '$.eventType', '$.event', '$.event.type'),
  ],
}

/** Undefined if the request names no type. */
export type ReadEventType = (request: RequestFields) => string | undefined

/** A header that is a credential is never read, because the type is stored and shown. */
export function createReadEventType(
  source: Pick<Source, 'provider' | 'eventType' | 'credentialHeaders'>,
  isCredentialHeader: IsCredentialHeader,
): ReadEventType {
  const { provider, eventType, credentialHeaders } = source
  const own = eventType === undefined ? undefined : [FieldRule.parse(JSON.parse(eventType))]
  const fields = (own ?? rules[provider]).filter(
    (rule) => rule.by !== 'header' || !isCredentialHeader(rule.name, credentialHeaders),
  )
  return (request) => {
    for (const rule of fields) {
      if (rule.by === 'path' && !isWorthParsing(request)) continue
      const value = fieldValue(rule, request)
      const type = toEventType(own ? value : named(provider, value, request))
      if (type !== undefined) return type
    }
    return undefined
  }
}

/** Every webhook passes through here, so a body is parsed only if it may contain a type. */
function isWorthParsing(request: RequestFields): boolean {
  if (isBodyParsed(request)) return true
  const { body, headers } = request
  if (body.byteLength > MAX_PARSED_BYTES) return false
  const first = body[0] ?? 0
  // Braces, brackets, spaces and byte order marks can begin JSON objects.
  if (first === 0x7b || first === 0x5b || first <= 0x20 || first === 0xef) return true
  return /^\s*application\/x-www-form-urlencoded/i.test(headers['content-type'] ?? '')
}

function toEventType(value: unknown): string | undefined {
  const text = Number.isSafeInteger(value) ? String(value) : value
  if (typeof text !== 'string') return undefined
  const trimmed = text.length <= MAX_EVENT_TYPE_CHARACTERS * 2 ? text.trim() : ''
  return EVENT_TYPE.test(trimmed) ? trimmed : undefined
}

/** The interaction types of Discord, which it sends as numbers. */
const interactions = [
  '',
  'PING',
  'APPLICATION_COMMAND',
  'MESSAGE_COMPONENT',
  'APPLICATION_COMMAND_AUTOCOMPLETE',
  'MODAL_SUBMIT',
]

/** The value as the provider's users know it. */
function named(provider: Source['provider'], value: unknown, request: RequestFields): unknown {
  if (provider === 'discord' && typeof value === 'number') return interactions[value] ?? value
  if (provider === 'linear' && typeof value === 'string') {
    const action = fieldValue({ by: 'path', path: '$.action' }, request)
    return typeof action === 'string' ? `${value}.${action}` : value
  }
  return value
}

/** `wanted` is a type, or the beginning of types and an asterisk: `invoice.*`. */
export function hasEventType(
  { eventType }: { eventType?: string | undefined },
  wanted: string,
): boolean {
  if (!wanted.endsWith('*')) return eventType === wanted
  return eventType?.startsWith(wanted.slice(0, -1)) ?? false
}
