/** Sessions of operators in responses. */
import { z } from '@hono/zod-openapi'
import type { Operator } from '@strongroom/kit/operator-item'
import type { OperatorSession } from '@strongroom/kit/operator-sessions'
import { Role } from '../operators/view.ts'

export const SessionView = z
  .object({
    id: z.string().openapi({ example: 'ses_…' }),
    operator: z.string(),
    createdAt: z.string(),
    expiresAt: z.string(),
    lastUsedAt: z.string().nullable().openapi({ description: 'To the minute' }),
    address: z.string().nullable(),
    userAgent: z.string().nullable().openapi({ description: 'At most 200 characters' }),
    secondFactor: z.boolean().openapi({ description: 'Whether it began with a second factor' }),
    isCurrent: z.boolean().openapi({ description: 'Whether this request was made with it' }),
  })
  .openapi('OperatorSession')
export type SessionView = z.infer<typeof SessionView>

/** Who is signed in, and what it may do next. */
export const SelfView = z
  .object({
    name: z.string(),
    role: Role,
    services: z.array(z.string()).nullable(),
    expiresAt: z
      .string()
      .nullable()
      .openapi({ description: 'When the session ends; null with a token' }),
    secondFactor: z.object({
      isEnrolled: z.boolean(),
      isRequired: z.boolean().openapi({ description: 'By `STRONGROOM_REQUIRE_2FA`' }),
    }),
    isLimited: z.boolean().openapi({
      description: 'Whether the session can only set up the second factor that is required',
    }),
  })
  .openapi('SignedInOperator')
export type SelfView = z.infer<typeof SelfView>

export const proofMethods = ['totp', 'passkey', 'recovery_code'] as const

export const SignInView = z
  .discriminatedUnion('status', [
    z.object({ status: z.literal('signed_in'), operator: SelfView }),
    z.object({
      status: z.literal('second_factor_required'),
      methods: z.array(z.enum(proofMethods)),
    }),
  ])
  .openapi('SignIn')
export type SignInView = z.infer<typeof SignInView>

export function toSelfView(
  { name, role, services }: Operator,
  session: OperatorSession | undefined,
  factor: { isEnrolled: boolean; requiresSecondFactor: boolean },
): SelfView {
  const isRequired = factor.requiresSecondFactor && role === 'admin'
  return {
    name,
    role,
    services: services ? [...services] : null,
    expiresAt: session ? isoTime(session.expiresAt) : null,
    secondFactor: { isEnrolled: factor.isEnrolled, isRequired },
    isLimited: isRequired && session !== undefined && !session.secondFactor,
  }
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}
