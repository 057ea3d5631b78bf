/** A user, and the guard items that make e-mail addresses and sign-in identities unique. */
import * as z from 'zod'
import { plans } from '../../plans.ts'
import { keyTemplate } from '../../storage/key-template.ts'
import { count, id, isoTime } from '../../storage/schemas.ts'

export const userKey = keyTemplate({ PK: 'USER#{userId}', SK: 'PROFILE' })
export const userByEmail = keyTemplate({ GSI1PK: 'EMAIL#{email}', GSI1SK: 'USER' })

/** Addresses are compared without regard to case, because mail providers ignore it. */
export function normalizeEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase()
}

const bcryptHash = z.string().regex(/^\$2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53}$/)

export const UserItem = z.object({
  ...userKey.fields,
  ...userByEmail.fields,
  userId: id('usr'),
  email: z
    .string()
    .max(254)
    .regex(/^[^\s@]+@[^\s@]+$/)
    .refine((email) => email === normalizeEmail(email)),
  name: z.string().min(1).max(100),
  /** Absent for users who sign in only through a provider. */
  passwordHash: bcryptHash.optional(),
  plan: z.enum(plans),
  stripeCustomerId: z.string().min(1).optional(),
  stripeSubId: z.string().min(1).optional(),
  githubId: z.string().min(1).max(64).optional(),
  googleId: z.string().min(1).max(64).optional(),
  /** When the identity was linked; absent if the user was created with it. */
  githubLinkedAt: isoTime.optional(),
  googleLinkedAt: isoTime.optional(),
  /** When the user proved to own the address; absent until then, and after the address changes. */
  emailVerifiedAt: isoTime.optional(),
  /** API keys created before this time are revoked. */
  credentialsValidFrom: isoTime.optional(),
  /** Set by a reset link: the user has yet to confirm API keys and identities from before this time. */
  credentialsUnconfirmedSince: isoTime.optional(),
  usageThisMonth: count,
  /** The first day of the calendar month (UTC) that `usageThisMonth` counts. */
  usagePeriodStart: z.iso.date(),
  createdAt: isoTime,
  updatedAt: isoTime,
  /** Incremented with each new source, so that concurrent creations cannot exceed the plan. */
  sourcesRev: count.optional(),
})
export type User = z.infer<typeof UserItem>

export const oauthProviders = ['github', 'google'] as const
export type OAuthProvider = (typeof oauthProviders)[number]

export const emailGuardKey = keyTemplate({ PK: 'EMAIL#{email}', SK: 'GUARD' })
export const oauthGuardKey = keyTemplate({ PK: 'OAUTH#{provider}#{id}', SK: 'GUARD' })

/** The owner of an e-mail address or a sign-in identity. */
export const GuardItem = z.object({
  PK: emailGuardKey.fields.PK.or(oauthGuardKey.fields.PK),
  SK: z.literal('GUARD'),
  userId: id('usr'),
})
