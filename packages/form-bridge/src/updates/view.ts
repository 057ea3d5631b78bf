/** Adoption of versions in responses. */
import { z } from '@hono/zod-openapi'

export const AdoptionDaysView = z
  .object({
    days: z.array(
      z.object({
        date: z.string(),
        versions: z.record(z.string(), z.int()),
        is_complete: z.boolean().openapi({ description: 'False if there are more versions' }),
      }),
    ),
  })
  .openapi('FormBridgeAdoption')

export type AdoptionDays = z.infer<typeof AdoptionDaysView>
