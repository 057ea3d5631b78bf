/** Hashes passwords without the cost of bcrypt: the result has its format and no strength. */
import { createHash, randomBytes } from 'node:crypto'
import type { PasswordHasher } from '../../src/accounts/sessions/password-hasher.ts'

function hashed(password: string, salt: string): string {
  const digest = createHash('sha512').update(salt).update(password).digest('hex')
  return `$2b$04$${salt}${digest.slice(0, 53 - salt.length)}`
}

export function quickPasswords(): PasswordHasher & { asked: (string | undefined)[] } {
  /** The hash of each verification, in order. */
  const asked: (string | undefined)[] = []
  return {
    asked,
    async hash(password) {
      if (Buffer.byteLength(password) > 72) return { kind: 'invalid', message: 'Is too long' }
      return { kind: 'hashed', hash: hashed(password, randomBytes(4).toString('hex')) }
    },
    async verify(password, hash) {
      asked.push(hash)
      return hash !== undefined && hash === hashed(password, hash.slice(7, 15))
    },
    close: async () => {},
  }
}
