/** What requests hold and answers show, and how what is stored becomes what is shown. */
import { z } from '@hono/zod-openapi'
import { monthOf } from '../db/times.ts'
import type { AuditEntry } from '../items/account-trail.ts'
import type { ApiKey } from '../items/api-key.ts'
import { oauthProviders, type User } from '../items/user.ts'
import { unwritable } from '../items/values.ts'
import { plans } from '../plans.ts'

export const Name = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .refine((name) => !unwritable.test(name), 'Has characters that cannot be written')
export const Email = z
  .string()
  .trim()
  .max(254)
  .regex(/^[^\s@]+@[^\s@]+$/, 'Is not an e-mail address')
  .openapi({ example: 'ada@example.com' })
/** As it is chosen; one that is given to prove something may be anything. */
export const NewPassword = z.string().min(10, 'Has at least 10 characters').max(256)
export const GivenPassword = z.string().max(256)

/** An id of anything: what is no id at all is as unknown as one that is not there. */
export const ById = z.object({ id: z.string().min(1).max(100) })

export const PageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  cursor: z.string().optional(),
})

export const Rotation = z
  .strictObject({
    overlapSeconds: z
      .int()
      .min(0)
      .max(7 * 86_400)
      .default(86_400)
      .openapi({ description: 'For how many seconds the secrets in force stay so' }),
  })
  .openapi({ example: { overlapSeconds: 86_400 } })

export const UserView = z
  .object({
    id: z.string().openapi({ example: 'usr_V1StGXR8_Z5jdHi6' }),
    email: z.string(),
    name: z.string(),
    plan: z.enum(plans),
    hasPassword: z.boolean(),
    identities: z.array(z.enum(oauthProviders)),
    usageThisMonth: z.int(),
    usagePeriodStart: z.string(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .openapi('FerryhookUser')

export function viewUser(user: User, now: number): z.infer<typeof UserView> {
  const month = monthOf(now)
  return {
    id: user.userId,
    email: user.email,
    name: user.name,
    plan: user.plan,
    hasPassword: user.passwordHash !== undefined,
    identities: oauthProviders.filter((provider) => user[`${provider}Id`] !== undefined),
    // The first event of a month begins it; until then the stored figure is of an earlier one.
    usageThisMonth: user.usagePeriodStart < month ? 0 : user.usageThisMonth,
    usagePeriodStart: user.usagePeriodStart < month ? month : user.usagePeriodStart,
    createdAt: user.createdAt,
    updatedAt: user.updatedAt,
  }
}

export const KeyPermission = z.enum(['read', 'write', 'admin'])

export const ApiKeyView = z
  .object({
    id: z.string(),
    name: z.string(),
    prefix: z.string().openapi({ description: 'The first characters after fh_live_' }),
    permissions: KeyPermission,
    lastUsedAt: z.string().nullable(),
    createdAt: z.string(),
  })
  .openapi('FerryhookApiKey')

export function viewApiKey(key: ApiKey): z.infer<typeof ApiKeyView> {
  const { keyId: id, name, keyPrefix: prefix, permissions, lastUsedAt = null, createdAt } = key
  return { id, name, prefix, permissions, lastUsedAt, createdAt }
}

export const AuditView = z
  .object({
    id: z.string(),
    at: z.string(),
    actor: z.string().openapi({ example: 'key:key_V1StGXR8_Z5jdHi6' }),
    action: z.string().openapi({ example: 'source.created' }),
    target: z.string().nullable(),
  })
  .openapi('FerryhookAuditEntry')

export function viewAudit(entry: AuditEntry): z.infer<typeof AuditView> {
  const { entryId: id, at, actor, action, target = null } = entry
  return { id, at, actor, action, target }
}
