/** Dry runs of filters and transforms, and tests of destinations. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { bodyLimit } from '@strongroom/kit/http/body-limit'
import { withMiddleware } from '@strongroom/kit/http/permissions'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { Time } from '../deliveries/view.ts'
import { ferryhookError } from '../errors.ts'
import { decodeBody } from '../filters/received-event.ts'
import { Filter } from '../filters/filter.ts'
import { MAX_BODY_BYTES } from '../events/values.ts'
import {
  type BatchedRun,
  type DryRunResult,
  MAX_BATCH_EVENTS,
  type SourceDryRun,
} from './dry-run.ts'
import type { WorkScheduler } from '../sandbox/work-scheduler.ts'
import { Transform } from '../transforms/transform.ts'
import type { Permissions } from '../http/permissions.ts'
import { createRequestTurn } from '../http/request-turn.ts'
import { ById } from '../http/schemas.ts'
import type { DestinationTest } from './destination-test.ts'

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

const BatchRequest = z
  .strictObject({
    filters: Filter.optional(),
    transform: Transform.optional(),
    eventIds: z.array(z.string().max(100)).min(1).max(MAX_BATCH_EVENTS).optional(),
    last: z.int().min(1).max(MAX_BATCH_EVENTS).optional().openapi({
      description: 'The latest events of the source, up to this number',
    }),
  })
  .refine(({ eventIds, last }) => (eventIds === undefined) !== (last === undefined), {
    message: 'Set either eventIds or last',
    path: ['eventIds'],
  })
  .openapi({
    example: {
      filters: [{ path: '$.type', operator: 'equals', value: 'invoice.paid' }],
      last: 100,
    },
  })

const BATCH_OUTCOMES = ['delivered', 'filtered', 'dropped', 'failed', 'not_found'] as const

const BatchView = z.object({
  summary: z.record(z.enum(BATCH_OUTCOMES), z.int()).openapi({
    description: 'Number of events with each outcome',
  }),
  items: z.array(
    z.object({
      eventId: z.string(),
      type: z.string().nullable(),
      receivedAt: Time.nullable(),
      outcome: z.enum(BATCH_OUTCOMES),
      reason: z.string().nullable(),
      error: z.union([z.object({ code: z.string(), message: z.string() }), z.null()]),
    }),
  ),
  isComplete: z.boolean().openapi({
    description: 'Whether there was time for all events; a batch ends after 20 seconds',
  }),
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
  destinationTest: DestinationTest
}): OpenAPIHono<AppEnv> {
  const { permit, scheduler, sourceDryRun, destinationTest } = deps
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

  const batch = createRoute({
    ...withMiddleware(permit.read, bodyLimit(MAX_REQUEST_BYTES), createRequestTurn(scheduler)),
    method: 'post',
    path: '/v1/sources/{id}/dry-runs',
    summary: 'Dry-run a filter and a transform on many events',
    description:
      'Applies them to up to 100 stored events of the source, and returns the outcome of each without its body. Delivers and changes nothing.',
    request: { params: ById, body: jsonBody(BatchRequest) },
    responses: {
      200: jsonResponse(BatchView, 'The results'),
      ...denied,
      ...errorResponses(ferryhookError, 'source_not_found'),
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
      const result = await sourceDryRun.one(c.get('principal'), id, { filters, transform, event })
      return c.json(toDryRunView(result), 200)
    })
    .openapi(batch, async (c) => {
      const { filters, transform, eventIds, last = MAX_BATCH_EVENTS } = c.req.valid('json')
      const events = eventIds === undefined ? { last } : { eventIds }
      const { id } = c.req.valid('param')
      const input = { filters, transform, events }
      const { runs, isComplete } = await sourceDryRun.many(c.get('principal'), id, input)
      return c.json({ ...toBatchView(runs), isComplete }, 200)
    })
    .openapi(test, async (c) => {
      const { id } = c.req.valid('param')
      const { end, attempt } = await destinationTest(c.get('principal'), id)
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

function toBatchView(runs: readonly BatchedRun[]): Omit<z.infer<typeof BatchView>, 'isComplete'> {
  const summary = { delivered: 0, filtered: 0, dropped: 0, failed: 0, not_found: 0 }
  const items = runs.map(({ eventId, event, result }) => {
    const outcome: keyof typeof summary = result?.outcome ?? 'not_found'
    summary[outcome] += 1
    return {
      eventId,
      type: event?.eventType ?? null,
      receivedAt: event === undefined ? null : new Date(event.receivedAt).toISOString(),
      outcome,
      reason: result && 'reason' in result ? result.reason : null,
      error: result && 'error' in result ? result.error : null,
    }
  })
  return { summary, items }
}
