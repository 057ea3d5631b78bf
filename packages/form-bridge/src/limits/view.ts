/** Rate limits in responses. */
import { z } from '@hono/zod-openapi'
import { RateScope } from './item.ts'

export const OverrideView = z.object({
  scope: RateScope,
  id: z.string(),
  limits: z.record(z.string(), z.int()),
  created_at: z.string(),
})
export type RateOverrideLine = z.infer<typeof OverrideView>

export const UsageView = z.object({
  total: z.int(),
  items: z.array(z.object({ start: z.string(), requests: z.int() })),
})
export type UsageByMinute = z.infer<typeof UsageView>

export const LimitStateView = z
  .object({
    scope: z.string(),
    id: z.string(),
    limits: z.array(
      z.object({
        name: z.string(),
        window_seconds: z.int(),
        limit: z.int(),
        used: z.int().openapi({ description: 'Of a sliding window that ends now' }),
      }),
    ),
    override: OverrideView.shape.limits.nullable(),
    is_slowed: z.boolean().openapi({ description: 'A quarter of the limits, because of abuse' }),
  })
  .openapi('FormBridgeLimitState')
export type LimitState = z.infer<typeof LimitStateView>
