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
  const more = Math.floor(perDoubling * Math.log2(ciphertextBytes / 1024))
  return difficulty + Math.max(0, more)
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
  return attempts(challenge.prefix, ciphertext)(counter) >= bits
}

/** How many zero bits a counter gives. What comes before the counter is hashed once. */
function attempts(prefix: string, ciphertext: Uint8Array): (counter: number) => number {
  const before = sha256.create().update(utf8Bytes(`${prefix}:${toBase64url(sha256(ciphertext))}:`))
  const hash = sha256.create()
  const digest = new Uint8Array(32)
  const digits = new TextEncoder()
  const written = new Uint8Array(16)
  return (counter) => {
    const length = digits.encodeInto(String(counter), written).written
    before._cloneInto(hash)
    hash.update(written.subarray(0, length)).digestInto(digest)
    return leadingZeroBits(digest)
  }
}

function leadingZeroBits(digest: Uint8Array): number {
  const first = digest.findIndex((byte) => byte !== 0)
  if (first === -1) return digest.length * 8
  return first * 8 + Math.clz32(digest[first] ?? 0) - 24
}
