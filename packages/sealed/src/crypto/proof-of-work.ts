/**
 * Proof of work for a secret: a counter for which SHA-256 of `prefix:digest:counter` starts with zero
 * bits. The digest is base64url of SHA-256 of the ciphertext, so that no work can be done in advance.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import { toBase64url, utf8Bytes } from './bytes.ts'

/** The challenge in a creation token. */
export interface Challenge {
  prefix: string
  /** Zero bits for a secret of up to 1 KB. */
  difficulty: number
  /** Additional bits for each doubling of the size. */
  perDoubling: number
}

/** The challenge for putting a secret into a request, so that the work serves this request only. */
export function challengeForRequest(challenge: Challenge, requestId: string): Challenge {
  return { ...challenge, prefix: `${challenge.prefix}.${requestId}` }
}

/** Zero bits needed for a ciphertext of this size. */
export function requiredBits(
  { difficulty, perDoubling }: Pick<Challenge, 'difficulty' | 'perDoubling'>,
  ciphertextBytes: number,
): number {
  const doublings = Math.log2(Math.max(ciphertextBytes / 1024, 1))
  return difficulty + Math.floor(perDoubling * doublings)
}

export interface WorkProgress {
  tries: number
  /** The average number of tries. */
  expected: number
}

/** About 50 ms, during which the thread is blocked. */
const ATTEMPTS_PER_TURN = 2 ** 16

/** Yields between batches, so that it can be aborted and report progress. Use a worker in a page. */
export async function solveWork(
  challenge: Challenge,
  ciphertext: Uint8Array,
  options: { signal?: AbortSignal; onProgress?: (progress: WorkProgress) => void } = {},
): Promise<number> {
  const bits = requiredBits(challenge, ciphertext.length)
  const attempt = createAttempt(challenge.prefix, ciphertext)
  for (let counter = 0; ;) {
    options.signal?.throwIfAborted()
    options.onProgress?.({ tries: counter, expected: 2 ** bits })
    for (const end = counter + ATTEMPTS_PER_TURN; counter < end; counter++) {
      if (attempt(counter) >= bits) return counter
    }
    await new Promise((resolve) => setTimeout(resolve, 0))
  }
}

export function verifyWork(challenge: Challenge, ciphertext: Uint8Array, counter: number): boolean {
  if (!Number.isSafeInteger(counter) || counter < 0) return false
  const bits = requiredBits(challenge, ciphertext.length)
  return bits === 0 || createAttempt(challenge.prefix, ciphertext)(counter) >= bits
}

/** Returns the number of zero bits for a counter. The part before the counter is hashed only once. */
function createAttempt(prefix: string, ciphertext: Uint8Array): (counter: number) => number {
  const before = sha256.create().update(utf8Bytes(`${prefix}:${toBase64url(sha256(ciphertext))}:`))
  // Allocating in each try would take longer than the hash.
  const hash = sha256.create()
  const digest = new Uint8Array(32)
  const writeDecimal = createDecimalWriter()
  return (counter) => {
    // oxlint-disable-next-line no-underscore-dangle -- noble's name for a copy without an allocation
    before._cloneInto(hash)
    hash.update(writeDecimal(counter)).digestInto(digest)
    return leadingZeroBits(digest)
  }
}

/** Writes numbers as decimal digits into the same buffer. */
function createDecimalWriter(): (value: number) => Uint8Array {
  const maxDigits = String(Number.MAX_SAFE_INTEGER).length
  const digits = new Uint8Array(maxDigits)
  const ofLength = Array.from({ length: maxDigits }, (_, at) => digits.subarray(maxDigits - at - 1))
  return (value) => {
    let length = 0
    for (let left = value; left > 0 || length === 0; left = Math.floor(left / 10)) {
      digits[maxDigits - ++length] = 0x30 + (left % 10)
    }
    return ofLength[length - 1] ?? digits
  }
}

function leadingZeroBits(digest: Uint8Array): number {
  let zeros = 0
  while (zeros < digest.length && digest[zeros] === 0) zeros++
  return zeros * 8 + (zeros === digest.length ? 0 : Math.clz32(digest[zeros] ?? 0) - 24)
}
