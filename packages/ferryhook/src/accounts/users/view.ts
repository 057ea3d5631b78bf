import { z } from '@hono/zod-openapi'
import { plans } from '../../plans.ts'
import { monthStart } from '../../storage/time.ts'
import { linkedIdentities } from './identity.ts'
import { oauthProviders, type User } from './item.ts'

export const UserView = z
  .object({
    id: z.string().openapi({ example: 'usr_V1StGXR8_Z5jdHi6' }),
    email: z.string(),
    emailVerified: z.boolean().openapi({
      description:
        'Whether the user proved to own the address. Only a verified address can reset the password by mail.',
    }),
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

export function toUserView(user: User, now: number): z.infer<typeof UserView> {
  const month = monthStart(now)
  // The count is reset by the first event of a month; until then it belongs to an earlier month.
  const isStale = user.usagePeriodStart < month
  return {
    id: user.userId,
    email: user.email,
    emailVerified: user.emailVerifiedAt !== undefined,
    name: user.name,
    plan: user.plan,
    hasPassword: user.passwordHash !== undefined,
    identities: linkedIdentities(user),
    usageThisMonth: isStale ? 0 : user.usageThisMonth,
    usagePeriodStart: isStale ? month : user.usagePeriodStart,
    createdAt: user.createdAt,
    updatedAt: user.updatedAt,
  }
}
