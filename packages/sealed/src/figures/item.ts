/** How many secrets were created, opened, expired and refused in one hour: numbers only, never an id. */
import * as z from 'zod'

const count = z.number().int().min(0)

export const figureNames = ['created', 'opened', 'expired', 'refused'] as const
export type FigureName = (typeof figureNames)[number]

export const FiguresItem = z.object({
  PK: z.literal('SEALED#FIGURES'),
  /** The hour, as `2030-01-31T12`. */
  SK: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d$/),
  created: count,
  opened: count,
  expired: count,
  refused: count,
  expiresAt: z.number().int(),
})

export function figuresKey(hour: string) {
  return { PK: 'SEALED#FIGURES', SK: hour } as const
}
