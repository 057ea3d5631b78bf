/**
 * What the parts about second factors need from the API. Operators and Ferryhook users have routes of
 * their own, so each page passes an object of this shape.
 */
import type { SecondFactorMethod } from '../../api/sign-in.ts'

export interface SecondFactors {
  isEnrolled: boolean
  totp: { createdAt: string } | null
  passkeys: readonly {
    id: string
    name: string
    isSynced: boolean
    createdAt: string
    lastUsedAt: string | null
  }[]
  recoveryCodesLeft: number
  canUsePasskeys: boolean
}

/** Recovery codes come with the first factor. */
export interface Enrolment {
  recoveryCodes: readonly string[] | null
}

/** Each call asks for a confirmation first where the server requires one. */
export interface SecondFactorApi {
  startTotp(): Promise<{ secret: string; uri: string }>
  confirmTotp(code: string): Promise<Enrolment>
  removeTotp(): Promise<void>
  passkeyOptions(): Promise<unknown>
  addPasskey(name: string, response: unknown): Promise<Enrolment>
  renamePasskey(id: string, name: string): Promise<void>
  removePasskey(id: string): Promise<void>
  replaceRecoveryCodes(): Promise<{ recoveryCodes: readonly string[] }>
}

/** What the factors allow as a proof, the most convenient first. */
export function methodsOf(factors: SecondFactors): SecondFactorMethod[] {
  return [
    ...(factors.passkeys.length > 0 && factors.canUsePasskeys ? (['passkey'] as const) : []),
    ...(factors.totp ? (['totp'] as const) : []),
    ...(factors.recoveryCodesLeft > 0 ? (['recovery_code'] as const) : []),
  ]
}
