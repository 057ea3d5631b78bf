/**
 * What the provider calls the event, by which its second sending is known. Where an id could stand
 * for two different events there is none: a doubled event can be told apart later, a lost one not.
 */
import * as z from 'zod'
import { every, InvalidPath, parsePath } from '../filters/path.ts'
import { select } from '../filters/select.ts'
import { limitedWork } from '../filters/work.ts'
import type { Source } from '../items/source.ts'
import { headerName } from './header-name.ts'
import { headerOf, type SignedRequest } from './signed-request.ts'

const LONGEST_KEY = 256

const notAPath = 'Give a path to one value of the body, such as $.data.id or $.events[0].id'

/** Where the id of an event is; stored as JSON in the `dedup` of a source. */
export const DedupRule = z.discriminatedUnion(
  'by',
  [
    z.strictObject({ by: z.literal('header'), name: headerName }),
    z.strictObject({
      by: z.literal('path'),
      path: z.string(notAPath).refine(leadsToOneValue, notAPath),
    }),
    z.strictObject({ by: z.literal('none') }),
  ],
  'Give the rule as {"by":"header","name":…}, {"by":"path","path":…} or {"by":"none"}',
)
export type DedupRule = z.infer<typeof DedupRule>

const inHeaders = (...names: string[]): DedupRule[] => names.map((name) => ({ by: 'header', name }))
const at = (text: string): DedupRule[] => [{ by: 'path', path: text }]

/** The first that a request has. */
const rules: Readonly<Record<Source['provider'], readonly DedupRule[]>> = {
  stripe: at('$.id'),
  github: inHeaders('x-github-delivery'),
  // Not the event id: webhooks of several topics about one event share it.
  shopify: inHeaders('x-shopify-webhook-id', 'shopify-webhook-id'),
  slack: at('$.event_id'),
  twilio: inHeaders('i-twilio-idempotency-token'),
  // One request has many events, each with an id of its own.
  sendgrid: [],
  square: at('$.event_id'),
  paypal: inHeaders('paypal-transmission-id'),
  // Not the event UUID, which webhooks that set off each other share.
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

/** As filters find it, so that a path means the same everywhere. */
function valueAt(
  path: string,
  { headers, body }: Pick<SignedRequest, 'headers' | 'body'>,
): unknown {
  const contentType = headerOf({ headers }, 'content-type')
  const event = { method: '', headers: {}, body, contentType }
  return select(event, parsePath(path), limitedWork())?.values[0]
}

function leadsToOneValue(path: string): boolean {
  try {
    const { within, steps } = parsePath(path)
    return within === 'body' && steps.length > 0 && !steps.includes(every)
  } catch (error) {
    if (error instanceof InvalidPath) return false
    throw error
  }
}

function bounded(value: unknown): string | undefined {
  // Of a number that does not fit the last digits are lost, and two ids become one.
  if (Number.isSafeInteger(value)) return String(value)
  if (typeof value !== 'string' || value === '' || value.length > LONGEST_KEY) return undefined
  return value
}
