/** Identifiers and tokens, all from the operating system's random source. */
import { randomBytes } from 'node:crypto'

/** Fills a request for random bytes; tests hand in their own. */
export type RandomSource = (size: number) => Uint8Array

/**
 * `evt_` and 16 characters, as nanoid(16) makes them: 96 bits, unbiased.
 *
 * Twelve bytes in base64url are exactly 16 characters of A-Z a-z 0-9 _ -, six whole bits for each.
 */
export function newId<const Prefix extends string>(
  prefix: Prefix,
  random: RandomSource = ahead,
): `${Prefix}_${string}` {
  return `${prefix}_${randomToken(12, random)}`
}

/** The system gives many bytes as fast as a few, and services make ids all the time. */
const AHEAD = 4_096
let drawn: Uint8Array = new Uint8Array(0)

/** Bytes drawn ahead; not for secrets, which should not lie about before they are used. */
function ahead(size: number): Uint8Array {
  if (drawn.byteLength < size) drawn = randomBytes(Math.max(AHEAD, size))
  const bytes = drawn.subarray(0, size)
  drawn = drawn.subarray(size)
  return bytes
}

/** Random bytes as base64url without padding, for tokens and for identifiers without a prefix. */
export function randomToken(bytes: number, random: RandomSource = randomBytes): string {
  return Buffer.from(random(bytes)).toString('base64url')
}

/** Random bytes as lower-case hexadecimal. */
export function randomHex(bytes: number, random: RandomSource = randomBytes): string {
  return Buffer.from(random(bytes)).toString('hex')
}
