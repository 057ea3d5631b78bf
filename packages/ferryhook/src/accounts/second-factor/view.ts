/** What requests and responses about second factors have in common. */
import { z } from '@hono/zod-openapi'
import { errorResponses } from '@strongroom/kit/http/openapi'
import { secondFactorError } from '@strongroom/kit/second-factor/errors'
import type { SecondFactorSummary } from '@strongroom/kit/second-factor/second-factors'
import type { SecondFactorProof } from '@strongroom/kit/second-factor/verification'
import { Name } from '../../http/schemas.ts'

export const methods = ['passkey', 'totp', 'recovery_code'] as const

const MAX_CODE_LENGTH = 50
const Code = z.string().trim().min(1).max(MAX_CODE_LENGTH)

/** Passed to and from the browser as WebAuthn defines it; the mechanism validates it. */
const FromBrowser = z.looseObject({
  id: z.string().max(2_000),
  rawId: z.string().max(2_000),
  type: z.literal('public-key'),
  response: z.looseObject({}),
})

export const PasskeyOptions = z.looseObject({ challenge: z.string() }).openapi({
  description: 'As `PublicKeyCredential.parse…OptionsFromJSON` of browsers reads it',
})

/** The options of WebAuthn are interfaces, which TypeScript does not take for plain objects. */
export function toPasskeyOptions(options: { challenge: string }): z.infer<typeof PasskeyOptions> {
  return { ...options }
}

const totpProof = z.strictObject({ method: z.literal('totp'), code: Code })
const recoveryProof = z.strictObject({ method: z.literal('recovery_code'), code: Code })
const passkeyProof = z.strictObject({
  method: z.literal('passkey'),
  response: FromBrowser.openapi({ description: 'The JSON of the credential' }),
})

export const Proof = z
  .discriminatedUnion('method', [totpProof, recoveryProof, passkeyProof])
  .transform((proof) => proof as SecondFactorProof)
  .openapi({ example: { method: 'totp', code: '123456' } })

export const proofErrors = errorResponses(
  secondFactorError,
  'wrong_code',
  'locked',
  'passkey_rejected',
  'challenge_expired',
)

export const NewPasskey = z.strictObject({ name: Name, response: FromBrowser }).openapi({
  example: {
    name: 'Laptop',
    response: { id: '…', rawId: '…', type: 'public-key', response: {} },
  },
})

export const TotpCode = z.strictObject({ code: Code }).openapi({ example: { code: '123456' } })

const time = z.string().nullable()

export const SecondFactorView = z
  .object({
    enabled: z.boolean().openapi({ description: 'Whether signing in requires a second factor' }),
    totp: z.object({ createdAt: z.string() }).nullable(),
    passkeys: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        synced: z.boolean().openapi({ description: 'Whether devices share it' }),
        createdAt: z.string(),
        lastUsedAt: time,
      }),
    ),
    recoveryCodesLeft: z.int(),
    canUsePasskeys: z.boolean().openapi({
      description: 'Browsers allow passkeys on https with a host name, and on localhost',
    }),
  })
  .openapi('FerryhookSecondFactor')

export function toSecondFactorView(summary: SecondFactorSummary): z.infer<typeof SecondFactorView> {
  return {
    enabled: summary.isEnrolled,
    totp: summary.totp ? { createdAt: isoTime(summary.totp.createdAt) } : null,
    passkeys: summary.passkeys.map(({ id, name, isSynced, createdAt, lastUsedAt }) => ({
      id,
      name,
      synced: isSynced,
      createdAt: isoTime(createdAt),
      lastUsedAt: lastUsedAt === undefined ? null : isoTime(lastUsedAt),
    })),
    recoveryCodesLeft: summary.recoveryCodesLeft,
    canUsePasskeys: summary.canUsePasskeys,
  }
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}
