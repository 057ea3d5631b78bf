/** `GET /v1/figures` for operators: numbers only, never a secret or an id. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { jsonResponse } from '@strongroom/kit/http/openapi'
import { operatorErrors, type OperatorPermissions } from '@strongroom/kit/http/permissions'
import type { Quota } from '../abuse/quota.ts'
import { figureNames } from './item.ts'
import { type Counts, type Figures, RETENTION_DAYS } from './store.ts'

const counts = {
  created: z.int(),
  opened: z.int().openapi({
    description: 'Responses with a secret; a reader may repeat one for 30 seconds',
  }),
  expired: z.int().openapi({
    description: 'Ended by a server because of their age; not those that TTL of DynamoDB deleted',
  }),
  refused: z.int().openapi({
    description: 'Refused creations and openings: wrong or used links, passphrases, proofs of work',
  }),
}

export const FiguresView = z
  .object({
    hours: z.array(z.object({ from: z.string(), ...counts })),
    total: z.object(counts),
    quota: z
      .object({ usedBytes: z.int(), maxBytes: z.int() })
      .nullable()
      .openapi({ description: 'Null without a quota' }),
  })
  .openapi('SealedFigures')

export function figureRoutes(deps: {
  figures: Pick<Figures, 'list'>
  quota: Pick<Quota, 'usage'>
  permit: OperatorPermissions
}): OpenAPIHono<AppEnv> {
  const get = createRoute({
    ...deps.permit.viewer,
    method: 'get',
    path: '/v1/figures',
    summary: 'Get the figures of Sealed by hour',
    description: `Of all servers, kept for ${RETENTION_DAYS} days. Servers write them once a minute; one that is killed loses its last minute.`,
    request: {
      query: z.object({
        hours: z.coerce
          .number()
          .int()
          .min(1)
          .max(RETENTION_DAYS * 24)
          .default(24),
      }),
    },
    responses: { 200: jsonResponse(FiguresView, 'The hours, the oldest first'), ...operatorErrors },
  })

  return new OpenAPIHono<AppEnv>().openapi(get, async (c) => {
    const hours = await deps.figures.list(c.req.valid('query').hours)
    const total: Counts = { created: 0, opened: 0, expired: 0, refused: 0 }
    for (const hour of hours) for (const name of figureNames) total[name] += hour[name]
    const quota = (await deps.quota.usage()) ?? null
    const items = hours.map(({ from, ...each }) => ({
      from: new Date(from).toISOString(),
      ...each,
    }))
    return c.json({ hours: items, total, quota }, 200)
  })
}
