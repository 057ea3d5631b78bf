/**
 * The provider's id of an event, which identifies a repeated delivery. If an id could belong to two
 * different events there is no key: a duplicate can be recognised later, a lost event cannot.
 */
import * as z from 'zod'
import { createBudget } from '../filters/budget.ts'
import { FilterSyntaxError, parsePath, select, wildcard } from '../filters/path.ts'
import type { Source } from '../sources/item.ts'
import { headerName, headerOf, type SignedRequest } from './signed-request.ts'

const MAX_KEY_LENGTH = 256

const notAPath = 'Must be a path to one value of the body, such as $.data.id or $.events[0].id'

/** Where to find the id of an event; stored as JSON in the `dedup` of a source. */
export const DedupRule = z.discriminatedUnion(
  'by',
  [
    z.strictObject({ by: z.literal('header'), name: headerName }),
    z.strictObject({
      by: z.literal('path'),
      path: z.string(notAPath).refine(selectsOneValue, notAPath),
    }),
    z.strictObject({ by: z.literal('none') }),
  ],
  'Must be {"by":"header","name":…}, {"by":"path","path":…} or {"by":"none"}',
)
export type DedupRule = z.infer<typeof DedupRule>

const inHeaders = (...names: string[]): DedupRule[] => names.map((name) => ({ by: 'header', name }))
const at = (text: string): DedupRule[] => [{ by: 'path', path: text }]

/** The first rule that finds a key is used. */
const rules: Readonly<Record<Source['provider'], readonly DedupRule[]>> = {
  stripe: at('$.id'),
  github: inHeaders('x-github-delivery'),
  // Not the event id, which webhooks of several topics about one event share.
  shopify: inHeaders('x-shopify-webhook-id', 'shopify-webhook-id'),
  slack: at('$.event_id'),
  twilio: inHeaders('i-twilio-idempotency-token'),
  // One request contains many events, each with its own id.
  sendgrid: [],
  square: at('$.event_id'),
  paypal: inHeaders('paypal-transmission-id'),
  // Not the event UUID, which webhooks that trigger each other share.
  gitlab: inHeaders('webhook-id', 'idempotency-key'),
  linear: inHeaders('linear-delivery'),
  'standard-webhooks': inHeaders('svix-id', 'webhook-id'),
  paddle: at('$.event_id'),
  discord: at('$.id'),
  zendesk: inHeaders('x-zendesk-webhook-invocation-id'),
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
      return bounded(valueAt(rule.path, request))
    default:
      return undefined
  }
}

/** Selects as filters do, so that a path means the same everywhere. */
function valueAt(
  path: string,
  { headers, body }: Pick<SignedRequest, 'headers' | 'body'>,
): unknown {
  const contentType = headerOf({ headers }, 'content-type')
  const event = { method: '', headers: {}, body, contentType }
  return select(event, parsePath(path), createBudget())?.values[0]
}

function selectsOneValue(path: string): boolean {
  try {
    const { within, steps } = parsePath(path)
    return within === 'body' && steps.length > 0 && !steps.includes(wildcard)
  } catch (error) {
    if (error instanceof FilterSyntaxError) return false
    throw error
  }
}

function bounded(value: unknown): string | undefined {
  // An unsafe integer has lost its last digits, so two ids could become one.
  if (Number.isSafeInteger(value)) return String(value)
  if (typeof value !== 'string' || value === '' || value.length > MAX_KEY_LENGTH) return undefined
  return value
}
