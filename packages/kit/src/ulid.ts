/**
 * ULIDs (github.com/ulid/spec): 48 bits of milliseconds and 80 random bits in Crockford's base 32,
 * so that their text sorts by time. For sort keys, where two items of one second must not meet;
 * not for secrets, because within one millisecond each is the last one plus one.
 */
import { randomBytes } from 'node:crypto'
import type { RandomSource } from './ids.ts'

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const latestTime = 2 ** 48 - 1
const randomBits = 80n

/**
 * A source of ULIDs that only ever grow, also within one millisecond and when the clock steps back.
 *
 * Each source remembers its own last one: a service with a clock of its own makes a source of its own.
 */
export function createUlids(random: RandomSource = randomBytes): (nowMs: number) => string {
  let lastTime = -1
  let lastRandom = 0n

  return (nowMs) => {
    if (!Number.isInteger(nowMs) || nowMs < 0 || nowMs > latestTime) {
      throw new RangeError('Cannot make a ULID: give the time as whole milliseconds since 1970')
    }
    if (nowMs > lastTime) {
      lastTime = nowMs
      lastRandom = BigInt(`0x${Buffer.from(random(10)).toString('hex')}`)
    } else if (++lastRandom >> randomBits) {
      // The specification gives up here; borrowing the next millisecond keeps the order instead.
      lastTime += 1
      lastRandom = 0n
    }
    return encode((BigInt(lastTime) << randomBits) | lastRandom)
  }
}

/** The next ULID of this process. */
export const newUlid = createUlids()

function encode(value: bigint): string {
  let text = ''
  for (let shift = 125n; shift >= 0n; shift -= 5n) text += alphabet[Number((value >> shift) & 31n)]
  return text
}
