/** Trying out a filter, a transform or a destination before relying on it. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { bodyLimit } from '@strongroom/kit/http/body-limit'
import { and } from '@strongroom/kit/http/declared-permission'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { ferryhookError } from '../errors.ts'
import { bodyText } from '../filters/event.ts'
import { Filter } from '../filters/filter.ts'
import { longestBody } from '../items/event.ts'
import type { DryRun } from '../transforms/dry-run.ts'
import { Transform } from '../transforms/transform.ts'
import type { ApiDeps } from './deps.ts'
import { ById } from './schemas.ts'

const Sample = z.strictObject({
  body: z.string().max(longestBody),
  headers: z.record(z.string().max(200), z.string().max(8_192)).optional(),
  method: z
    .string()
    .regex(/^[A-Z]{1,16}$/)
    .optional(),
  query: z.string().max(8_192).optional(),
  contentType: z.string().max(1_024).optional(),
})

const Trial = z
  .strictObject({
    filters: Filter.optional(),
    transform: Transform.optional(),
    eventId: z.string().max(100).optional(),
    sample: Sample.optional(),
  })
  .refine(({ eventId, sample }) => (eventId === undefined) !== (sample === undefined), {
    message: 'Has either an eventId or a sample',
    path: ['eventId'],
  })
  .openapi({
    example: {
      filters: [{ path: '$.type', operator: 'equals', value: 'invoice.paid' }],
      transform: { type: 'field_map', rules: [{ from: '$.amount', to: 'total' }] },
      sample: { body: '{"type":"invoice.paid","amount":42}' },
    },
  })

const TrialView = z.object({
  outcome: z.enum(['filtered', 'dropped', 'failed', 'delivered']),
  matched: z.boolean().openapi({ description: 'Whether the filter lets the event pass' }),
  reason: z.string().optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  body: z.string().optional(),
  encoding: z.enum(['utf-8', 'base64']).optional(),
  contentType: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  console: z.array(z.string()).openapi({ description: 'What the script wrote' }),
})

const TestView = z.object({
  ok: z.boolean(),
  reason: z.string().openapi({ description: 'delivered, http_error, timeout, dns, …' }),
  statusCode: z.int().openapi({ description: '0 if there was no answer' }),
  latencyMs: z.int(),
  responseBody: z.string().optional(),
  error: z.string().optional(),
})

/** A sample as long as an event may be, its quotation marks escaped. */
const LARGEST_BODY = 1024 * 1024

export function trialRoutes(deps: ApiDeps): OpenAPIHono<AppEnv> {
  const { permit, trials } = deps
  const denied = errorResponses(ferryhookError, 'unauthorized', 'permission_required')

  const dryRun = createRoute({
    ...and(permit.read, bodyLimit(LARGEST_BODY)),
    method: 'post',
    path: '/v1/sources/{id}/dry-run',
    summary: 'See what a filter and a transform would do',
    description: 'To an event that the source received, or to a sample. Changes nothing.',
    request: { params: ById, body: jsonBody(Trial) },
    responses: {
      200: jsonResponse(TrialView, 'What would happen'),
      ...denied,
      ...errorResponses(ferryhookError, 'source_not_found', 'event_not_found'),
    },
  })

  const test = createRoute({
    ...permit.write,
    method: 'post',
    path: '/v1/connections/{id}/test',
    summary: 'Test the destination of a connection',
    description: 'Sends it one signed event of the type ferryhook.test, and does not try again.',
    request: { params: ById },
    responses: {
      200: jsonResponse(TestView, 'How it answered'),
      ...denied,
      ...errorResponses(ferryhookError, 'connection_not_found'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(dryRun, async (c) => {
      const { filters, transform, eventId, sample } = c.req.valid('json')
      const event = eventId === undefined ? sample && { sample } : { eventId }
      // The schema saw to it that one of the two is there.
      if (!event) throw new TypeError('Cannot try nothing')
      const { id } = c.req.valid('param')
      const result = await trials.dryRun(c.get('principal'), id, { filters, transform, event })
      return c.json(viewTrial(result), 200)
    })
    .openapi(test, async (c) => {
      const { id } = c.req.valid('param')
      const { end, attempt } = await trials.testDestination(c.get('principal'), id)
      const { statusCode, latencyMs, responseBody, error } = attempt
      return c.json(
        { ok: end === 'delivered', reason: end, statusCode, latencyMs, responseBody, error },
        200,
      )
    })
}

function viewTrial(result: DryRun): z.infer<typeof TrialView> {
  const { console, ...rest } = result
  if (rest.outcome !== 'delivered') return { ...rest, console: [...console] }
  const { body, headers, ...delivered } = rest
  const text = bodyText(body)
  return {
    ...delivered,
    body: text ?? Buffer.from(body).toString('base64'),
    encoding: text === undefined ? 'base64' : 'utf-8',
    ...(headers && { headers: { ...headers } }),
    console: [...console],
  }
}
