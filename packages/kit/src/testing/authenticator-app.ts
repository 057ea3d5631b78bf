/** An authenticator app: the codes of a secret that somebody typed into it. */
import { totpCode, totpStep } from '../second-factor/totp.ts'

const BASE_32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

export function appCode(secret: string, nowMs: number): string {
  let bits = ''
  for (const letter of secret) bits += BASE_32.indexOf(letter).toString(2).padStart(5, '0')
  const bytes = bits.match(/[01]{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? []
  return totpCode(Uint8Array.from(bytes), totpStep(nowMs))
}
