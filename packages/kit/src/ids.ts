/** Identifiers and tokens, all from the operating system's random source. */
import { randomBytes } from 'node:crypto'

/** Returns random bytes; injected by tests. */
export type RandomSource = (size: number) => Uint8Array

/**
 * `evt_` and 16 characters, as from nanoid(16): 96 bits, unbiased.
 *
 * Twelve bytes in base64url are exactly 16 characters of A-Z a-z 0-9 _ -, six whole bits for each.
 */
export function newId<const Prefix extends string>(
  prefix: Prefix,
  random: RandomSource = fromPool,
): `${Prefix}_${string}` {
  return `${prefix}_${randomToken(12, random)}`
}

/** The nanoid alphabet in the order of its bytes. */
const SORTED_ALPHABET = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz'
const ID_TIME_CHARACTERS = 7
const ID_RANDOM_CHARACTERS = 9
/** Until the year 2109. */
const MAX_ID_TIME_MS = 64 ** ID_TIME_CHARACTERS - 1

/**
 * Like `newId`, but ids sort by time, so that a store which sorts by key keeps what is written together
 * in one place: 7 characters of milliseconds and 9 random ones, 54 bits. Not for secrets.
 */
export function newTimeOrderedId<const Prefix extends string>(
  prefix: Prefix,
  nowMs: number,
  random: RandomSource = fromPool,
): `${Prefix}_${string}` {
  let rest = Math.min(Math.max(0, Math.floor(nowMs)), MAX_ID_TIME_MS)
  let time = ''
  for (let count = 0; count < ID_TIME_CHARACTERS; count++) {
    time = SORTED_ALPHABET.charAt(rest % 64) + time
    rest = Math.floor(rest / 64)
  }
  return `${prefix}_${time}${randomToken(7, random).slice(0, ID_RANDOM_CHARACTERS)}`
}

/** Reading many random bytes takes as long as reading a few, so they are read ahead. */
const POOL_BYTES = 4_096
let pool: Uint8Array = new Uint8Array(0)

/** Not for secrets, which should not be in memory before they are used. */
function fromPool(size: number): Uint8Array {
  if (pool.byteLength < size) pool = randomBytes(Math.max(POOL_BYTES, size))
  const bytes = pool.subarray(0, size)
  pool = pool.subarray(size)
  return bytes
}

/** Random bytes as base64url without padding, for tokens and for identifiers without a prefix. */
export function randomToken(bytes: number, random: RandomSource = randomBytes): string {
  return Buffer.from(random(bytes)).toString('base64url')
}

/** Like `randomToken`, for identifiers that are no secrets. */
export function randomId(bytes: number): string {
  return randomToken(bytes, fromPool)
}

/** Random bytes as lower-case hexadecimal. */
export function randomHex(bytes: number, random: RandomSource = randomBytes): string {
  return Buffer.from(random(bytes)).toString('hex')
}

const CROCKFORD_BASE_32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const MAX_TIME_MS = 2 ** 48 - 1
const RANDOM_BITS = 80n
const ULID_TIME_CHARACTERS = 10

/**
 * ULIDs (github.com/ulid/spec): 48 bits of milliseconds and 80 random bits, whose text sorts by time.
 * For sort keys, where two items of one millisecond must differ; not for secrets, because within one
 * millisecond each is the last one plus one.
 *
 * The ULIDs of one source always increase, also within one millisecond and when the clock steps back.
 */
export function createUlids(random: RandomSource = randomBytes): (nowMs: number) => string {
  let lastTime = -1
  let lastRandom = 0n

  return (nowMs) => {
    if (!Number.isInteger(nowMs) || nowMs < 0 || nowMs > MAX_TIME_MS) {
      throw new RangeError('Cannot create a ULID: give the time as whole milliseconds since 1970')
    }
    if (nowMs > lastTime) {
      lastTime = nowMs
      lastRandom = BigInt(`0x${Buffer.from(random(10)).toString('hex')}`)
    } else if (++lastRandom >> RANDOM_BITS) {
      // The specification fails here; borrowing the next millisecond keeps the order instead.
      lastTime += 1
      lastRandom = 0n
    }
    return encodeUlid((BigInt(lastTime) << RANDOM_BITS) | lastRandom)
  }
}

/** The beginning of every ULID of a millisecond: ULIDs of that time and later do not sort before it. */
export function ulidTime(ms: number): string {
  return encodeUlid(BigInt(ms) << RANDOM_BITS).slice(0, ULID_TIME_CHARACTERS)
}

function encodeUlid(value: bigint): string {
  let text = ''
  for (let shift = 125n; shift >= 0n; shift -= 5n)
    text += CROCKFORD_BASE_32[Number((value >> shift) & 31n)]
  return text
}
