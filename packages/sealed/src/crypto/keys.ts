/** Derives all keys from the link key and the passphrase. The passphrase never replaces the link key. */
import { type Bytes, concat, utf8Bytes } from './bytes.ts'
import { SealedError } from './errors.ts'
import { type Fragment, header } from './fragment.ts'
import { hkdf } from './hash.ts'

const PBKDF2_ITERATIONS = 600_000

export interface SecretKeys {
  /** AES-256-GCM key. */
  enc: Bytes
  /** Proves to the server that the reader has the link and the passphrase. */
  proof: Bytes
  /** Proves to the server that the reader has the link. */
  link: Bytes
  /** Salt of PBKDF2; null without a passphrase. */
  salt: Bytes | null
  /** Version and flags of the fragment. */
  header: Bytes
  /** The content is a file and not a text. */
  isFile: boolean
}

/** Takes most of a second with a passphrase. Ignores a passphrase that the fragment does not need. */
export async function deriveKeys(fragment: Fragment, passphrase?: string): Promise<SecretKeys> {
  const { linkKey, passphraseProtected } = fragment
  const salt = passphraseProtected ? await hkdf(linkKey, 'sealed/1/salt', 16) : null
  const stretched = salt ? await stretch(passphrase, salt) : new Uint8Array()
  const keyMaterial = concat(linkKey, stretched)
  return {
    enc: await hkdf(keyMaterial, 'sealed/1/enc', 32),
    proof: await hkdf(keyMaterial, 'sealed/1/proof', 32),
    link: await hkdf(linkKey, 'sealed/1/link', 32),
    salt,
    header: header(fragment),
    isFile: fragment.isFile,
  }
}

async function stretch(passphrase: string | undefined, salt: Bytes): Promise<Bytes> {
  if (passphrase === undefined) throw new SealedError('passphrase_needed')
  if (passphrase === '') throw new SealedError('passphrase_empty')
  if (/\p{Surrogate}/u.test(passphrase)) throw new SealedError('passphrase_malformed')
  // Keyboards compose the same letters in different ways; NFC makes them equal.
  const bytes = utf8Bytes(passphrase.normalize('NFC'))
  const key = await crypto.subtle.importKey('raw', bytes, 'PBKDF2', false, ['deriveBits'])
  const algorithm = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: PBKDF2_ITERATIONS }
  return new Uint8Array(await crypto.subtle.deriveBits(algorithm, key, 256))
}
