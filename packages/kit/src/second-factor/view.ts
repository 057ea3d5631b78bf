/** Second factors in requests and responses, the same in every service that has them. */
import { z } from '@hono/zod-openapi'
import type { SecondFactorSummary } from './second-factors.ts'

const text = (maxLength: number) => z.string().min(1).max(maxLength)
const base64url = (maxLength: number) => text(maxLength).regex(/^[\w-]+$/, 'Must be base64url')
const extensions = z.record(z.string(), z.unknown())

export const SecondFactorView = z
  .object({
    isEnrolled: z.boolean().openapi({ description: 'Whether signing in requires it' }),
    totp: z.object({ createdAt: z.string() }).nullable(),
    passkeys: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        isSynced: z.boolean(),
        createdAt: z.string(),
        lastUsedAt: z.string().nullable(),
      }),
    ),
    recoveryCodesLeft: z.int(),
    canUsePasskeys: z.boolean().openapi({
      description: 'Browsers allow passkeys on https with a host name, and on localhost',
    }),
  })
  .openapi('SecondFactor')
export type SecondFactorView = z.infer<typeof SecondFactorView>

export const TotpSetupView = z
  .object({
    secret: z.string().openapi({ description: 'Base 32, for people who cannot scan the QR code' }),
    uri: z.string().openapi({ description: 'For the QR code', example: 'otpauth://totp/…' }),
  })
  .openapi('TotpSetup')
export type TotpSetupView = z.infer<typeof TotpSetupView>

export const EnrolmentView = z
  .object({
    recoveryCodes: z
      .array(z.string())
      .nullable()
      .openapi({ description: 'With the first factor only, and shown once' }),
  })
  .openapi('SecondFactorEnrolment')
export type EnrolmentView = z.infer<typeof EnrolmentView>

/** For the browser's WebAuthn functions; see the types of @simplewebauthn/browser. */
export const PasskeyOptionsView = z
  .looseObject({ challenge: z.string() })
  .openapi('PasskeyOptions', { description: 'For `navigator.credentials`' })

export type PasskeyOptionsView = z.infer<typeof PasskeyOptionsView>

export const RegistrationResponse = z.object({
  id: base64url(2_000),
  rawId: base64url(2_000),
  type: z.literal('public-key'),
  authenticatorAttachment: text(32).optional(),
  clientExtensionResults: extensions,
  response: z.object({
    clientDataJSON: base64url(10_000),
    attestationObject: base64url(100_000),
    authenticatorData: base64url(10_000).optional(),
    transports: z.array(text(32)).max(10).optional(),
    publicKeyAlgorithm: z.int().optional(),
    publicKey: base64url(10_000).optional(),
  }),
})

const AuthenticationResponse = z.object({
  id: base64url(2_000),
  rawId: base64url(2_000),
  type: z.literal('public-key'),
  authenticatorAttachment: text(32).optional(),
  clientExtensionResults: extensions,
  response: z.object({
    clientDataJSON: base64url(10_000),
    authenticatorData: base64url(10_000),
    signature: base64url(10_000),
    userHandle: base64url(200).optional(),
  }),
})

export const TotpCode = z.string().trim().max(20).openapi({ example: '123456' })

export const SecondFactorProofBody = z
  .discriminatedUnion('method', [
    z.strictObject({ method: z.literal('totp'), code: TotpCode }),
    z.strictObject({ method: z.literal('recovery_code'), code: z.string().max(100) }),
    z.strictObject({ method: z.literal('passkey'), response: AuthenticationResponse }),
  ])
  .openapi('SecondFactorProof')

export const PasskeyName = z.string().trim().min(1).max(64).openapi({ example: 'Laptop' })

export function toSecondFactorView(summary: SecondFactorSummary): SecondFactorView {
  const { isEnrolled, totp, passkeys, recoveryCodesLeft, canUsePasskeys } = summary
  return {
    isEnrolled,
    totp: totp ? { createdAt: isoTime(totp.createdAt) } : null,
    passkeys: passkeys.map(({ createdAt, lastUsedAt, ...passkey }) => ({
      ...passkey,
      createdAt: isoTime(createdAt),
      lastUsedAt: lastUsedAt === undefined ? null : isoTime(lastUsedAt),
    })),
    recoveryCodesLeft,
    canUsePasskeys,
  }
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}
