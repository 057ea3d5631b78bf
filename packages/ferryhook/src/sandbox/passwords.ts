/**
 * Passwords as bcrypt hashes, made and compared in a thread: at cost 12 that takes a good part of a
 * second, in which the event loop has others to serve.
 */
import { type After, createThreadPool } from './thread-pool.ts'

export type PasswordJob = { password: string; cost: number } | { password: string; hash: string }

export interface Passwords {
  /** Throws `UnusablePassword`. */
  hash(password: string): Promise<string>
  /**
   * Whether it is the password of the hash. Without one, for users that are not there or sign in
   * elsewhere, as much work is done before the answer is no.
   */
  verify(password: string, hash: string | undefined): Promise<boolean>
  close(): Promise<void>
}

/** Its message says what is wrong with a password, for the person who chose it. */
export class UnusablePassword extends Error {
  override readonly name = 'UnusablePassword'
}

/**
 * bcrypt reads no more than that, and would take any password that begins the same. A longer one is
 * refused rather than hashed before: what is stored stays a plain bcrypt hash, which other programs
 * make and check too.
 */
const longestPassword = 72

/** Of a password that nobody knows. */
export const hashOfNobody = '$2b$12$uW1Do1jn/1YeuwTwNoKfEuH/Qel/ujwP5W6ciHEkr/qUBm8jB0G0i'

const threads = 2

export interface PasswordOptions {
  cost?: number
  after?: After
}

/** Both throw `ThreadFailed` when more wait than can be served in reasonable time. */
export function createPasswords({ cost = 12, after }: PasswordOptions = {}): Passwords {
  const pool = createThreadPool<PasswordJob, string | boolean>({
    code: async () => (await import('./password-thread.ts?thread')).default,
    threads,
    threadsPerOwner: threads,
    queue: { total: 50, perOwner: 50 },
    patience: 60_000,
    ...(after && { after }),
  })

  return {
    async hash(given) {
      const password = normal(given)
      if (!fits(password)) {
        throw new UnusablePassword(
          `A password has at most ${longestPassword} bytes, and no null character`,
        )
      }
      return String(await pool.run({ password, cost }))
    },

    async verify(given, hash) {
      const password = normal(given)
      const isRight = await pool.run({
        password: fits(password) ? password : '',
        hash: hash ?? hashOfNobody,
      })
      return hash !== undefined && fits(password) && isRight === true
    },

    close: () => pool.close(),
  }
}

/** The same letters are other bytes on another keyboard. */
function normal(password: string): string {
  return password.normalize('NFC')
}

function fits(password: string): boolean {
  return Buffer.byteLength(password) <= longestPassword && !password.includes('\0')
}
