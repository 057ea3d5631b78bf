/**
 * Hashes passwords with bcrypt and verifies them, in threads: at cost 12 each takes a good part of a
 * second, which would block the event loop.
 */
import type { StartTimer } from '@strongroom/platform/timers'
import { serverError } from '@strongroom/kit/http/errors'
import { createThreadPool } from '../../sandbox/thread-pool.ts'

export type PasswordJob = { password: string; cost: number } | { password: string; hash: string }

export type HashResult =
  | { kind: 'hashed'; hash: string }
  /** The message is for the person who chose the password. */
  | { kind: 'invalid'; message: string }

export interface PasswordHasher {
  /** Owners take turns: the user, or the network of a client that is not signed in. */
  hash(password: string, owner: string): Promise<HashResult>
  /**
   * Whether the hash is of this password. Without a hash, because the user is unknown or has no
   * password, it takes as long and returns false.
   */
  verify(password: string, hash: string | undefined, owner: string): Promise<boolean>
  close(): Promise<void>
}

/**
 * bcrypt ignores the bytes after these and would accept any password with the same start. Longer ones
 * are rejected rather than hashed first: stored hashes stay plain bcrypt, which other programs can
 * create and verify.
 */
const MAX_PASSWORD_BYTES = 72

/** The hash of a random password. */
export const DUMMY_HASH = '$2b$12$uW1Do1jn/1YeuwTwNoKfEuH/Qel/ujwP5W6ciHEkr/qUBm8jB0G0i'

const THREADS = 2
/** One owner never holds all threads. */
const THREADS_PER_OWNER = 1
/** A whole office may sign in at the same time; more of one owner only delay each other. */
const QUEUE = { total: 500, perOwner: 10 }

/** Both functions throw `server.unavailable` if the queue, or the owner's share of it, is full. */
export function createPasswordHasher({
  cost = 12,
  startTimer,
}: { cost?: number; startTimer?: StartTimer } = {}): PasswordHasher {
  const pool = createThreadPool<PasswordJob, string | boolean>({
    code: async () => (await import('./password-thread.ts?thread')).default,
    threads: THREADS,
    threadsPerOwner: THREADS_PER_OWNER,
    queue: QUEUE,
    timeoutMs: 60_000,
    ...(startTimer && { startTimer }),
  })

  async function run(job: PasswordJob, owner: string): Promise<string | boolean> {
    const done = await pool.run(job, owner)
    if (done.kind === 'done') return done.result
    const cause = new Error(`Password thread failed: ${done.failure}`, { cause: done.cause })
    throw serverError('unavailable', { cause, headers: { 'retry-after': '5' } })
  }

  return {
    async hash(input, owner) {
      const password = normalize(input)
      if (!isHashable(password)) {
        const message = `Must have at most ${MAX_PASSWORD_BYTES} bytes and no null character`
        return { kind: 'invalid', message }
      }
      return { kind: 'hashed', hash: String(await run({ password, cost }, owner)) }
    },

    async verify(input, hash, owner) {
      const password = normalize(input)
      const job = { password: isHashable(password) ? password : '', hash: hash ?? DUMMY_HASH }
      const isMatch = await run(job, owner)
      return hash !== undefined && isHashable(password) && isMatch === true
    },

    close: () => pool.close(),
  }
}

/** Keyboards encode the same letters in different ways. */
function normalize(password: string): string {
  return password.normalize('NFC')
}

function isHashable(password: string): boolean {
  return Buffer.byteLength(password) <= MAX_PASSWORD_BYTES && !password.includes('\0')
}
