/** Time-based one-time passwords (RFC 6238) as authenticator apps generate them: SHA-1, 30 seconds, 6 digits. */
import { createHmac, randomBytes } from 'node:crypto'
import { timingSafeEquals } from '../timing-safe-equals.ts'

const STEP_SECONDS = 30
const DIGITS = 6
/** As long as the output of SHA-1 (RFC 4226, section 4, R6). */
const SECRET_BYTES = 20
/** Steps before and after the current one that are accepted, because clocks differ. */
const MAX_DRIFT_STEPS = 1

export function newTotpSecret(): Uint8Array {
  return randomBytes(SECRET_BYTES)
}

/** The code of one step (RFC 4226, section 5.3). */
export function totpCode(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  const offset = mac[mac.length - 1]! & 0x0f
  const number = mac.readUInt32BE(offset) & 0x7f_ff_ff_ff
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0')
}

export function totpStep(nowMs: number): number {
  return Math.floor(nowMs / 1000 / STEP_SECONDS)
}

/**
 * The step that a code belongs to, if it is later than `lastStep`; undefined for a wrong code. The
 * caller stores it as the new `lastStep`, so that no code is accepted twice (RFC 6238, section 5.2).
 */
export function findTotpStep(
  secret: Uint8Array,
  code: string,
  { nowMs, lastStep }: { nowMs: number; lastStep: number },
): number | undefined {
  const current = totpStep(nowMs)
  let found: number | undefined
  // All steps are compared, so that the duration does not reveal which one matched.
  for (let step = current - MAX_DRIFT_STEPS; step <= current + MAX_DRIFT_STEPS; step++) {
    if (timingSafeEquals(totpCode(secret, step), code) && step > lastStep) found ??= step
  }
  return found
}

/** The address that a QR code contains. */
export function totpUri(secret: Uint8Array, issuer: string, account: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  const query = `secret=${toBase32(secret)}&issuer=${encodeURIComponent(issuer)}`
  return `otpauth://totp/${label}?${query}&algorithm=SHA1&digits=${DIGITS}&period=${STEP_SECONDS}`
}

const BASE_32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Base 32 without padding (RFC 4648, section 6); whole groups of five bytes only. */
export function toBase32(bytes: Uint8Array): string {
  if (bytes.length % 5 !== 0)
    throw new RangeError('Base 32 without padding needs groups of five bytes')
  let bits = ''
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0')
  return bits.replaceAll(/[01]{5}/g, (group) => BASE_32[Number.parseInt(group, 2)]!)
}
