/**
 * What the provider calls the event, by which its second sending is known. Where an id could stand
 * for two different events there is none: a doubled event can be told apart later, a lost one not.
 */
import { z } from 'zod'
import type { Source } from '../items/source.ts'
import { isJsonPath, valueAt } from './json-path.ts'
import { headerOf, jsonOf, type SignedRequest } from './signed-request.ts'

const LONGEST_KEY = 256

const notAPath = 'Give a path into the JSON body, such as $.data.id or $.events[0].id'
const notAHeader = 'Give the name of a header: letters, digits and hyphens'

/** Where the id of an event is; stored as JSON in the `dedup` of a source. */
export const DedupRule = z.discriminatedUnion(
  'by',
  [
    z.strictObject({
      by: z.literal('header'),
      name: z
        .string(notAHeader)
        .regex(/^[\w-]{1,100}$/, notAHeader)
        .toLowerCase(),
    }),
    z.strictObject({
      by: z.literal('path'),
      path: z.string(notAPath).refine(isJsonPath, notAPath),
    }),
    z.strictObject({ by: z.literal('none') }),
  ],
  'Give the rule as {"by":"header","name":…}, {"by":"path","path":…} or {"by":"none"}',
)
export type DedupRule = z.infer<typeof DedupRule>

const headers = (...names: string[]): DedupRule[] => names.map((name) => ({ by: 'header', name }))
const path = (text: string): DedupRule[] => [{ by: 'path', path: text }]

/** The first that a request has. */
const rules: Readonly<Record<Source['provider'], readonly DedupRule[]>> = {
  stripe: path('$.id'),
  github: headers('x-github-delivery'),
  // Not the event id: webhooks of several topics about one event share it.
  shopify: headers('x-shopify-webhook-id', 'shopify-webhook-id'),
  slack: path('$.event_id'),
  twilio: headers('i-twilio-idempotency-token'),
  // One request has many events, each with an id of its own.
  sendgrid: [],
  square: path('$.event_id'),
  paypal: headers('paypal-transmission-id'),
  // Not the event UUID, which webhooks that set off each other share.
  gitlab: headers('webhook-id', 'idempotency-key'),
  linear: headers('linear-delivery'),
  'standard-webhooks': headers('svix-id', 'webhook-id'),
  paddle: path('$.event_id'),
  discord: path('$.id'),
  zendesk: headers('x-zendesk-webhook-invocation-id'),
  custom: [],
}

export function dedupKeyOf(
  source: Pick<Source, 'provider' | 'dedup'>,
  request: Pick<SignedRequest, 'headers' | 'body'>,
): string | undefined {
  const own = source.dedup === undefined ? undefined : DedupRule.parse(JSON.parse(source.dedup))
  for (const rule of own ? [own] : rules[source.provider]) {
    const key = keyBy(rule, request)
    if (key !== undefined) return key
  }
  return undefined
}

function keyBy(
  rule: DedupRule,
  request: Pick<SignedRequest, 'headers' | 'body'>,
): string | undefined {
  switch (rule.by) {
    case 'header':
      return bounded(headerOf(request, rule.name))
    case 'path':
      return bounded(valueAt(jsonOf(request.body), rule.path))
    default:
      return undefined
  }
}

function bounded(value: unknown): string | undefined {
  // Of a number that does not fit the last digits are lost, and two ids become one.
  if (Number.isSafeInteger(value)) return String(value)
  if (typeof value !== 'string' || value === '' || value.length > LONGEST_KEY) return undefined
  return value
}
