/**
 * Recovery codes for people who lost their app or passkey. Each has 80 random bits, so that a fast hash
 * is enough for what is stored, and works once.
 */
import { createHash, randomBytes } from 'node:crypto'

const RECOVERY_CODES = 10
const CODE_BYTES = 10
/** Crockford's base 32: no letters that look like digits. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const CODE = /^[0-9A-HJKMNP-TV-Z]{16}$/

/** The codes to show once, and their hashes to store. */
export function newRecoveryCodes(owner: string): { codes: string[]; hashes: string[] } {
  const codes = Array.from({ length: RECOVERY_CODES }, newCode)
  return { codes, hashes: codes.map((code) => hash(owner, normalize(code) ?? '')) }
}

/** The hash that a typed code has if it is valid; undefined if it has another form. */
export function hashRecoveryCode(owner: string, typed: string): string | undefined {
  const code = normalize(typed)
  return code === undefined ? undefined : hash(owner, code)
}

function newCode(): string {
  let bits = ''
  for (const byte of randomBytes(CODE_BYTES)) bits += byte.toString(2).padStart(8, '0')
  const text = bits.replaceAll(/[01]{5}/g, (group) => ALPHABET[Number.parseInt(group, 2)]!)
  return text.replaceAll(/.{4}(?=.)/g, '$&-')
}

/** As people type it: in any case, with or without separators, O for 0 and I or L for 1. */
function normalize(typed: string): string | undefined {
  const code = typed
    .replaceAll(/[\s-]/g, '')
    .toUpperCase()
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1')
  return CODE.test(code) ? code : undefined
}

/** The owner is part of it, so that equal codes of two people could not be recognized. */
function hash(owner: string, code: string): string {
  return createHash('sha256').update(`${owner}\n${code}`).digest('hex')
}
