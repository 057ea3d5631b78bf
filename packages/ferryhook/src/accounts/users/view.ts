import { z } from '@hono/zod-openapi'
import { plans } from '../../plans.ts'
import { monthStart } from '../../storage/time.ts'
import type { UserWithUsage } from '../../usage/figures.ts'
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
    usageThisMonth: z.int().openapi({ description: 'Events of this month' }),
    usageIsLowerBound: z.boolean().openapi({
      description:
        'Whether there are more: of each source, at most 1,000 events since the last stored count are counted',
    }),
    usagePeriodStart: z.string(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .openapi('FerryhookUser')

export function toUserView(
  user: User & Partial<UserWithUsage>,
  now: number,
): z.infer<typeof UserView> {
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
    usageIsLowerBound: user.usageIsLowerBound ?? false,
    usagePeriodStart: isStale ? month : user.usagePeriodStart,
    createdAt: user.createdAt,
    updatedAt: user.updatedAt,
  }
}

/** What operators see of a user. */
export const OperatorUserView = UserView.extend({
  stripeCustomerId: z.string().nullable(),
  stripeSubId: z.string().nullable(),
}).openapi('FerryhookOperatorUser')
export type OperatorUserView = z.infer<typeof OperatorUserView>

export function toOperatorUserView(
  user: User & Partial<UserWithUsage>,
  now: number,
): OperatorUserView {
  const { stripeCustomerId = null, stripeSubId = null } = user
  return { ...toUserView(user, now), stripeCustomerId, stripeSubId }
}
