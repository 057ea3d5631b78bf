/** Dry runs of filters and transforms, and tests of destinations. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { bodyLimit } from '@strongroom/kit/http/body-limit'
import { withMiddleware } from '@strongroom/kit/http/permissions'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { ferryhookError } from '../errors.ts'
import { decodeBody } from '../filters/received-event.ts'
import { Filter } from '../filters/filter.ts'
import { MAX_BODY_BYTES } from '../events/item.ts'
import type { DryRunResult, SourceDryRun } from './dry-run.ts'
import type { WorkScheduler } from '../sandbox/work-scheduler.ts'
import { Transform } from '../transforms/transform.ts'
import type { Permissions } from '../http/permissions.ts'
import { createRequestTurn } from '../http/request-turn.ts'
import { ById } from '../http/schemas.ts'
import type { TestDestination } from './destination-test.ts'

const Sample = z.strictObject({
  body: z.string().max(MAX_BODY_BYTES),
  headers: z.record(z.string().max(200), z.string().max(8_192)).optional(),
  method: z
    .string()
    .regex(/^[A-Z]{1,16}$/)
    .optional(),
  query: z.string().max(8_192).optional(),
  contentType: z.string().max(1_024).optional(),
})

const DryRunRequest = z
  .strictObject({
    filters: Filter.optional(),
    transform: Transform.optional(),
    eventId: z.string().max(100).optional(),
    sample: Sample.optional(),
  })
  .refine(({ eventId, sample }) => (eventId === undefined) !== (sample === undefined), {
    message: 'Set either eventId or sample',
    path: ['eventId'],
  })
  .openapi({
    example: {
      filters: [{ path: '$.type', operator: 'equals', value: 'invoice.paid' }],
      transform: { type: 'field_map', rules: [{ from: '$.amount', to: 'total' }] },
      sample: { body: '{"type":"invoice.paid","amount":42}' },
    },
  })

const DryRunView = z.object({
  outcome: z.enum(['filtered', 'dropped', 'failed', 'delivered']),
  matched: z.boolean().openapi({ description: 'Whether the event passes the filter' }),
  reason: z.string().optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  body: z.string().optional(),
  encoding: z.enum(['utf-8', 'base64']).optional(),
  contentType: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  console: z.array(z.string()).openapi({ description: 'Console output of the script' }),
})

const TestView = z.object({
  ok: z.boolean(),
  reason: z.string().openapi({ description: 'delivered, http_error, timeout, dns, …' }),
  statusCode: z.int().openapi({ description: '0 without a response' }),
  latencyMs: z.int(),
  responseBody: z.string().optional(),
  error: z.string().optional(),
})

/** A sample of the maximum event size, with its quotation marks escaped. */
const MAX_REQUEST_BYTES = 1024 * 1024

export function testRoutes(deps: {
  permit: Permissions
  scheduler: WorkScheduler
  sourceDryRun: SourceDryRun
  testDestination: TestDestination
}): OpenAPIHono<AppEnv> {
  const { permit, scheduler, sourceDryRun, testDestination } = deps
  const denied = errorResponses(ferryhookError, 'unauthorized', 'permission_required')

  const dryRun = createRoute({
    ...withMiddleware(permit.read, bodyLimit(MAX_REQUEST_BYTES), createRequestTurn(scheduler)),
    method: 'post',
    path: '/v1/sources/{id}/dry-run',
    summary: 'Dry-run a filter and a transform',
    description:
      'Applies them to an event of the source or to a sample. Delivers and changes nothing.',
    request: { params: ById, body: jsonBody(DryRunRequest) },
    responses: {
      200: jsonResponse(DryRunView, 'The result'),
      ...denied,
      ...errorResponses(ferryhookError, 'source_not_found', 'event_not_found'),
    },
  })

  const test = createRoute({
    ...permit.write,
    method: 'post',
    path: '/v1/connections/{id}/test',
    summary: 'Test the destination of a connection',
    description: 'Sends one signed event of the type ferryhook.test, without retries.',
    request: { params: ById },
    responses: {
      200: jsonResponse(TestView, 'The response of the destination'),
      ...denied,
      ...errorResponses(ferryhookError, 'connection_not_found'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(dryRun, async (c) => {
      const { filters, transform, eventId, sample } = c.req.valid('json')
      const event = eventId === undefined ? sample && { sample } : { eventId }
      // The schema requires one of the two.
      if (!event) throw new TypeError('The dry run has no event')
      const { id } = c.req.valid('param')
      const result = await sourceDryRun(c.get('principal'), id, { filters, transform, event })
      return c.json(toDryRunView(result), 200)
    })
    .openapi(test, async (c) => {
      const { id } = c.req.valid('param')
      const { end, attempt } = await testDestination(c.get('principal'), id)
      const { statusCode, latencyMs, responseBody, error } = attempt
      return c.json(
        { ok: end === 'delivered', reason: end, statusCode, latencyMs, responseBody, error },
        200,
      )
    })
}

function toDryRunView(result: DryRunResult): z.infer<typeof DryRunView> {
  const { console, ...rest } = result
  if (rest.outcome !== 'delivered') return { ...rest, console: [...console] }
  const { body, headers, ...delivered } = rest
  const text = decodeBody(body)
  return {
    ...delivered,
    body: text ?? Buffer.from(body).toString('base64'),
    encoding: text === undefined ? 'base64' : 'utf-8',
    ...(headers && { headers: { ...headers } }),
    console: [...console],
  }
}
