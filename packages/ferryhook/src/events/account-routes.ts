/** The events of all sources of a user. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { Time } from '../deliveries/view.ts'
import { ferryhookError } from '../errors.ts'
import type { Permissions } from '../http/permissions.ts'
import { PageQuery } from '../http/schemas.ts'
import type { AccountEvents } from './account-events.ts'
import { eventStatuses } from './values.ts'
import {
  checkSearchRange,
  checkTimeRange,
  EventTypeFilter,
  ReceivedTime,
  SearchText,
  StatusFilter,
} from './search.ts'
import { ListedEventView, toEventView } from './view.ts'

/** Parsed to a list without repetitions. */
const SourceIds = z
  .string()
  .max(8_000)
  .transform((text) => [...new Set(text.split(','))])
  .openapi({
    type: 'array',
    items: { type: 'string' },
    param: { style: 'form', explode: false },
    description: 'The id of a source, or several with commas between them',
    example: ['src_V1StGXR8_Z5jdHi6'],
  })

const Filters = z.object({
  status: StatusFilter.optional(),
  type: EventTypeFilter.optional(),
  source: SourceIds.optional(),
  connection: z.string().max(100).optional().openapi({
    description: 'The id of a connection: only events that have a delivery to it',
  }),
  from: ReceivedTime.optional(),
  to: ReceivedTime.optional(),
  header: SearchText.optional().openapi({
    description: 'Text to find in a header, written as `name: value`. Requires `from`.',
  }),
  body: SearchText.optional().openapi({
    description: 'Text to find in the body. Requires `from`.',
  }),
})

const ListQuery = Filters.extend(PageQuery.shape)
  .superRefine(checkTimeRange)
  .superRefine(checkSearchRange)

const BUCKETS_MS = {
  minute: 60_000,
  '5m': 300_000,
  '15m': 900_000,
  hour: 3_600_000,
  '6h': 21_600_000,
  day: 86_400_000,
} as const

const CountQuery = Filters.extend({
  from: ReceivedTime,
  bucket: z.enum(['minute', '5m', '15m', 'hour', '6h', 'day']).default('hour'),
}).superRefine(checkTimeRange)

const StatusCounts = z.record(z.enum(eventStatuses), z.int())

const EventCountsView = z
  .object({
    from: Time,
    to: Time,
    byStatus: StatusCounts,
    buckets: z.array(z.object({ startsAt: Time, byStatus: StatusCounts })),
    isComplete: z.boolean().openapi({
      description: 'Whether all events were counted. Otherwise the counts are lower bounds.',
    }),
    completeSince: Time.openapi({
      description: 'All events received since this time were counted',
    }),
  })
  .openapi('FerryhookEventCounts')

export function accountEventRoutes(deps: {
  permit: Permissions
  accountEvents: AccountEvents
}): OpenAPIHono<AppEnv> {
  const { permit, accountEvents } = deps
  const errors = {
    ...errorResponses(ferryhookError, 'unauthorized', 'permission_required'),
    ...errorResponses(ferryhookError, 'source_not_found', 'connection_not_found'),
  }

  const list = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/events',
    summary: 'List events of all sources',
    description:
      'Newest first, including events of deleted sources, of at most 200 sources. A page may be short or empty if few events match; continue while the response has a cursor.',
    request: { query: ListQuery },
    responses: {
      200: jsonResponse(
        pageOf(ListedEventView).extend({
          omittedSources: z.int().openapi({ description: 'Deleted sources beyond the first 200' }),
        }),
        'A page of events',
      ),
      ...errors,
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })
  const count = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/events/counts',
    summary: 'Count events by status and time',
    description:
      'Counts the events that the same filter lists, newest first, up to 10,000 events that are read.',
    request: { query: CountQuery },
    responses: { 200: jsonResponse(EventCountsView, 'The counts'), ...errors },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(list, async (c) => {
      const { limit, cursor, ...filters } = c.req.valid('query')
      const query = toQuery(filters)
      const page = await accountEvents.list(c.get('principal'), query, { limit, cursor })
      const items = page.items.map(({ event, sourceName }) => ({
        ...toEventView(event),
        sourceName,
      }))
      return c.json({ items, cursor: page.cursor, omittedSources: page.omittedSources }, 200)
    })
    .openapi(count, async (c) => {
      const { bucket, ...filters } = c.req.valid('query')
      const query = { ...toQuery(filters), from: filters.from }
      const counts = await accountEvents.count(c.get('principal'), query, BUCKETS_MS[bucket])
      const time = (ms: number) => new Date(ms).toISOString()
      return c.json(
        {
          from: time(counts.from),
          to: time(counts.to),
          byStatus: counts.byStatus,
          buckets: counts.buckets.map(({ startsAt, byStatus }) => ({
            startsAt: time(startsAt),
            byStatus,
          })),
          isComplete: counts.isComplete,
          completeSince: time(counts.completeSince),
        },
        200,
      )
    })
}

function toQuery({ source, connection, ...filters }: z.infer<typeof Filters>) {
  return { ...filters, sourceIds: source, connectionId: connection }
}
