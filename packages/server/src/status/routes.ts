/** `/server/v1/status`: the state of the server, problems first. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { jsonResponse } from '@strongroom/kit/http/openapi'
import { operatorErrors, type OperatorPermissions } from '@strongroom/kit/http/permissions'
import { processRoles } from '../figures/item.ts'
import { type AboutServer, toStatusView } from './view.ts'
import type { StatusService } from './service.ts'

const State = z.enum(['ready', 'degraded', 'not_ready'])
const PartView = z.object({
  kind: z.enum(['embedded', 'endpoint', 'aws']),
  label: z.string(),
  location: z.string(),
  state: z.enum(['ready', 'not_ready']),
})

const ProblemView = z
  .object({
    severity: z.enum(['bad', 'warn']),
    service: z.string().nullable().openapi({ description: 'Null for the server itself' }),
    title: z.string().openapi({ example: '42 tasks are overdue' }),
    explanation: z.string(),
    since: z.string().nullable(),
    page: z.string().nullable().openapi({ description: 'The path of a page that shows more' }),
    command: z.string().nullable().openapi({ example: 'strongroom worker' }),
  })
  .openapi('ServerProblem')

const ServerStatusView = z
  .object({
    state: State,
    version: z.string(),
    startedAt: z.string(),
    address: z.string(),
    problems: z.array(ProblemView).openapi({ description: 'Worst first' }),
    store: PartView,
    kms: PartView,
    services: z.array(
      z.object({ name: z.string(), title: z.string(), state: State, note: z.string().nullable() }),
    ),
    work: z
      .object({
        due: z.int(),
        waiting: z.int(),
        overdue: z.int(),
        oldestDueAt: z.string().nullable(),
        isComplete: z.boolean().openapi({ description: 'If false, there is more than counted' }),
      })
      .nullable(),
    processes: z
      .array(
        z.object({
          role: z.enum(processRoles),
          host: z.string(),
          pid: z.int(),
          version: z.string(),
          startedAt: z.string(),
          seenAt: z.string(),
          state: z.enum(['running', 'not_seen']),
          inHand: z.int(),
        }),
      )
      .openapi({ description: 'Servers and workers; those that ended as intended are left out' }),
    storage: z
      .object({
        bytes: z.number().nullable(),
        freeBytes: z.number().nullable(),
        totalBytes: z.number().nullable(),
        growthPerDayBytes: z.number().nullable(),
        tables: z.array(z.object({ name: z.string(), items: z.int(), bytes: z.number() })),
        recovery: z.object({ days: z.number(), earliest: z.string().nullable() }).nullable(),
      })
      .nullable(),
    backup: z.object({ at: z.string(), bytes: z.number(), file: z.string() }).nullable(),
  })
  .openapi('ServerStatus')
export type ServerStatusView = z.infer<typeof ServerStatusView>

export function statusRoutes(deps: {
  permit: OperatorPermissions
  status: Pick<StatusService, 'read'>
  about: AboutServer
}): OpenAPIHono<AppEnv> {
  const { permit, status, about } = deps
  const route = createRoute({
    ...permit.viewer,
    method: 'get',
    path: '/server/v1/status',
    summary: 'Get the state of the server and its problems',
    description: 'At most five seconds old. Each problem has the command that fixes it.',
    responses: { 200: jsonResponse(ServerStatusView, 'The state'), ...operatorErrors },
  })
  return new OpenAPIHono<AppEnv>().openapi(route, async (c) =>
    c.json(toStatusView(await status.read(), about), 200),
  )
}
