/** A master key wrapped by a passphrase: scrypt, then AES-256-GCM with everything else authenticated. */
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { MASTER_KEY_BYTES, type MasterKey } from './key.ts'

/** The cost of trying a passphrase, as scrypt parameters. */
export interface ScryptCost {
  N: number
  r: number
  p: number
}

/** Takes 128 MiB and a few tenths of a second. */
export const DEFAULT_COST: ScryptCost = { N: 2 ** 17, r: 8, p: 1 }

/** A file that asks for more is rejected, because it could exhaust the machine. */
const MAX_MEMORY_BYTES = 256 * 2 ** 20
const MAX_PARALLELISM = 4
const SALT_BYTES = 16
const IV_BYTES = 12
const TAG_BYTES = 16
export const WRAPPED_BYTES = SALT_BYTES + IV_BYTES + MASTER_KEY_BYTES + TAG_BYTES

export function isAffordable({ N, r, p }: ScryptCost): boolean {
  const whole = [N, r, p].every((value) => Number.isSafeInteger(value) && value >= 1)
  const power = N >= 2 && Number.isInteger(Math.log2(N))
  return whole && power && memoryOf(N, r) <= MAX_MEMORY_BYTES && p <= MAX_PARALLELISM
}

/** Salt, IV, ciphertext and tag. `header` must be the same when unwrapping. */
export async function wrapByPassphrase(
  masterKey: MasterKey,
  passphrase: string,
  cost: ScryptCost,
  header: string,
): Promise<Buffer> {
  const salt = randomBytes(SALT_BYTES)
  const iv = randomBytes(IV_BYTES)
  const key = await stretch(passphrase, salt, cost)
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.concat([Buffer.from(header), salt]))
  const sealed = [cipher.update(masterKey), cipher.final()]
  return Buffer.concat([salt, iv, ...sealed, cipher.getAuthTag()])
}

/** Undefined if the passphrase is wrong. */
export async function unwrapByPassphrase(
  wrapped: Uint8Array,
  passphrase: string,
  cost: ScryptCost,
  header: string,
): Promise<MasterKey | undefined> {
  const salt = wrapped.subarray(0, SALT_BYTES)
  const iv = wrapped.subarray(SALT_BYTES, SALT_BYTES + IV_BYTES)
  const key = await stretch(passphrase, salt, cost)
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.concat([Buffer.from(header), salt]))
  decipher.setAuthTag(wrapped.subarray(-TAG_BYTES))
  const opened = decipher.update(wrapped.subarray(SALT_BYTES + IV_BYTES, -TAG_BYTES))
  try {
    decipher.final()
    return Uint8Array.from(opened)
  } catch {
    return undefined
  } finally {
    opened.fill(0)
  }
}

const scryptAsync = promisify<string, Uint8Array, number, ScryptCost & { maxmem: number }, Buffer>(
  scrypt,
)

/** NFKC, because the same passphrase may have different code points on another system. */
function stretch(passphrase: string, salt: Uint8Array, { N, r, p }: ScryptCost): Promise<Buffer> {
  const maxmem = 2 * MAX_MEMORY_BYTES
  return scryptAsync(passphrase.normalize('NFKC'), salt, MASTER_KEY_BYTES, { N, r, p, maxmem })
}

function memoryOf(N: number, r: number): number {
  return 128 * N * r
}
