/** `/server/v1/figures`: requests, errors, latency and work over time. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { jsonResponse } from '@strongroom/kit/http/openapi'
import { operatorErrors, type OperatorPermissions } from '@strongroom/kit/http/permissions'
import { MAX_SERIES } from './item.ts'
import type { statusClasses } from './service.ts'
import { type FiguresService, periods } from './service.ts'
import { toFiguresView } from './view.ts'

const MAX_METRICS = 10

const Counts = z.array(z.number())
const Values = z.array(z.number().nullable())
const Milliseconds = z.number().nullable()

const ServiceFiguresView = z
  .object({
    requests: z.object({
      '2xx': Counts,
      '3xx': Counts,
      '4xx': Counts,
      '5xx': Counts,
    } satisfies Record<(typeof statusClasses)[number], unknown>),
    latencyMs: z.object({ p50: Values, p95: Values }),
    total: z
      .object({ requests: z.int(), errors: z.int(), p50Ms: Milliseconds, p95Ms: Milliseconds })
      .openapi({ description: 'Over the whole period; errors are responses with 5xx' }),
    current: z
      .object({ perSecond: z.number(), errors: z.int(), p95Ms: Milliseconds })
      .openapi({ description: 'Over the last five whole minutes' }),
  })
  .openapi('ServiceFigures')

const FiguresView = z
  .object({
    period: z.enum(Object.keys(periods) as [keyof typeof periods]),
    from: z.string(),
    to: z.string().openapi({ description: 'The last step is not complete yet' }),
    stepSeconds: z.int(),
    all: ServiceFiguresView,
    services: z.array(z.object({ name: z.string(), figures: ServiceFiguresView })),
    work: z
      .object({ due: Values, waiting: Values, overdue: Values, inHand: Values })
      .openapi({ description: 'At the end of each step; null where nothing was recorded' }),
    eventLoopDelayMs: Values,
    memoryBytes: Values,
    storeBytes: Values,
    metrics: z.array(z.object({ series: z.string(), values: Counts })),
    droppedSeries: z.int().openapi({ description: `Series beyond the ${MAX_SERIES} of a process` }),
  })
  .openapi('Figures')
export type FiguresView = z.infer<typeof FiguresView>
export type ServiceFiguresView = z.infer<typeof ServiceFiguresView>

export function figuresRoutes(deps: {
  permit: OperatorPermissions
  figures: Pick<FiguresService, 'read'>
}): OpenAPIHono<AppEnv> {
  const { permit, figures } = deps
  const route = createRoute({
    ...permit.viewer,
    method: 'get',
    path: '/server/v1/figures',
    summary: 'Get figures over time',
    description:
      'Requests by status class, latency and work of all processes together. Kept for 25 hours.',
    request: {
      query: z.object({
        period: z.enum(Object.keys(periods) as [keyof typeof periods]).default('6h'),
        metric: z
          .string()
          .max(1_000)
          .regex(/^[A-Za-z_]\w*(?:,[A-Za-z_]\w*)*$/)
          .refine((names) => names.split(',').length <= MAX_METRICS, `At most ${MAX_METRICS} names`)
          .optional()
          .openapi({
            description: `Also these counters of /metrics, separated by commas, up to ${MAX_METRICS}`,
            example: 'strongroom_ferryhook_ingest_total',
          }),
      }),
    },
    responses: { 200: jsonResponse(FiguresView, 'The figures, by step'), ...operatorErrors },
  })
  return new OpenAPIHono<AppEnv>().openapi(route, async (c) => {
    const { period, metric } = c.req.valid('query')
    const view = toFiguresView(await figures.read(period), metric?.split(',') ?? [])
    return c.json(view, 200)
  })
}
