import { z } from '@hono/zod-openapi'
import type { ApiToken } from './service.ts'

/** Times are epoch seconds. */
export const ApiTokenView = z
  .object({
    name: z.string(),
    perHour: z.number().int(),
    createdAt: z.number().int(),
    expiresAt: z.number().int().nullable(),
    lastUsedAt: z.number().int().nullable().openapi({ description: 'To the minute' }),
  })
  .openapi('SealedApiToken')

export function toApiTokenView(token: ApiToken): z.infer<typeof ApiTokenView> {
  const { name, perHour, createdAt, expiresAt = null, lastUsedAt = null } = token
  return { name, perHour, createdAt, expiresAt, lastUsedAt }
}
