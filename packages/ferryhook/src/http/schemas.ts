/** Schemas that the requests of several routes share. */
import { z } from '@hono/zod-openapi'
import { FORBIDDEN_NAME_CHARACTERS } from '../storage/schemas.ts'

export const Name = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .refine((name) => !FORBIDDEN_NAME_CHARACTERS.test(name), 'Must not contain control characters')

export const Email = z
  .string()
  .trim()
  .max(254)
  .regex(/^[^\s@]+@[^\s@]+$/, 'Must be an e-mail address')
  .openapi({ example: 'ada@example.com' })

export const NewPassword = z.string().min(10, 'Must have at least 10 characters').max(256)

/** A password to check, which need not follow the rules for new ones. */
export const CurrentPassword = z.string().max(256)

/** Any text is accepted: an invalid id is not found, like an unknown one. */
export const ById = z.object({ id: z.string().min(1).max(100) })

export const PageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  cursor: z.string().optional(),
})

export const SecretRotation = z
  .strictObject({
    overlapSeconds: z
      .int()
      .min(0)
      .max(7 * 86_400)
      .default(86_400)
      .openapi({ description: 'How many seconds the current secrets stay valid' }),
  })
  .openapi({ example: { overlapSeconds: 86_400 } })
