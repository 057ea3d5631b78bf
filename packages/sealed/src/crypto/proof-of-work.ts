/**
 * The price of a secret: a counter for which SHA-256 of `prefix:digest:counter` begins with zeros,
 * where the digest is base64url of SHA-256 of the ciphertext, so that no work is done in advance.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import { toBase64url, utf8Bytes } from './bytes.ts'

/** What the server asks for in the token. */
export interface Challenge {
  prefix: string
  /** Zero bits for a secret of up to 1 KB. */
  difficulty: number
  /** Further bits for each doubling of the size. */
  perDoubling: number
}

/** How many zero bits a ciphertext of this many bytes needs. */
export function requiredBits(
  { difficulty, perDoubling }: Pick<Challenge, 'difficulty' | 'perDoubling'>,
  ciphertextBytes: number,
): number {
  const doublings = Math.log2(Math.max(ciphertextBytes / 1024, 1))
  return difficulty + Math.floor(perDoubling * doublings)
}

export interface WorkProgress {
  tries: number
  /** How many tries it takes on average. */
  expected: number
}

/** About 50 ms, in which nothing else runs on the same thread. */
const TRIES_AT_A_TIME = 2 ** 16

/**
 * Finds the counter. Lets others run in between, so that it can be stopped and watched; in a page
 * it belongs in a worker all the same.
 */
export async function solveWork(
  challenge: Challenge,
  ciphertext: Uint8Array,
  options: { signal?: AbortSignal; onProgress?: (progress: WorkProgress) => void } = {},
): Promise<number> {
  const bits = requiredBits(challenge, ciphertext.length)
  const attempt = attempts(challenge.prefix, ciphertext)
  for (let counter = 0; ;) {
    options.signal?.throwIfAborted()
    options.onProgress?.({ tries: counter, expected: 2 ** bits })
    for (const end = counter + TRIES_AT_A_TIME; counter < end; counter++) {
      if (attempt(counter) >= bits) return counter
    }
    await new Promise((resolve) => setTimeout(resolve, 0))
  }
}

/** Whether this is the work that the challenge asks for. */
export function verifyWork(challenge: Challenge, ciphertext: Uint8Array, counter: number): boolean {
  if (!Number.isSafeInteger(counter) || counter < 0) return false
  const bits = requiredBits(challenge, ciphertext.length)
  return bits === 0 || attempts(challenge.prefix, ciphertext)(counter) >= bits
}

/** How many zero bits a counter gives. What comes before the counter is hashed once. */
function attempts(prefix: string, ciphertext: Uint8Array): (counter: number) => number {
  const before = sha256.create().update(utf8Bytes(`${prefix}:${toBase64url(sha256(ciphertext))}:`))
  // Nothing is made anew in a try: that would take longer than the hash.
  const hash = sha256.create()
  const digest = new Uint8Array(32)
  const decimals = decimalWriter()
  return (counter) => {
    // oxlint-disable-next-line no-underscore-dangle -- noble's name for a copy without an allocation
    before._cloneInto(hash)
    hash.update(decimals(counter)).digestInto(digest)
    return leadingZeroBits(digest)
  }
}

/** Numbers as decimal digits, always in the same memory. */
function decimalWriter(): (value: number) => Uint8Array {
  const longest = String(Number.MAX_SAFE_INTEGER).length
  const digits = new Uint8Array(longest)
  const ofLength = Array.from({ length: longest }, (_, at) => digits.subarray(longest - at - 1))
  return (value) => {
    let length = 0
    for (let left = value; left > 0 || length === 0; left = Math.floor(left / 10)) {
      digits[longest - ++length] = 0x30 + (left % 10)
    }
    return ofLength[length - 1] ?? digits
  }
}

function leadingZeroBits(digest: Uint8Array): number {
  let zeros = 0
  while (zeros < digest.length && digest[zeros] === 0) zeros++
  return zeros * 8 + (zeros === digest.length ? 0 : Math.clz32(digest[zeros] ?? 0) - 24)
}
