/** Everything that a link and a passphrase stand for. The passphrase adds to the link key, never replaces it. */
import { type Bytes, concat, utf8Bytes } from './bytes.ts'
import { SealedError } from './errors.ts'
import { type Fragment, header } from './fragment.ts'

const PBKDF2_ITERATIONS = 600_000

export interface SecretKeys {
  /** The key of AES-256-GCM. */
  enc: Bytes
  /** Proves to the server that the reader has link and passphrase. */
  proof: Bytes
  /** Proves to the server that the reader has the link. */
  link: Bytes
  /** What the passphrase is stretched with; null without one. */
  salt: Bytes | null
  /** Version and flags of the fragment. */
  header: Bytes
}

/** Takes a good part of a second with a passphrase. A passphrase that is not needed is not looked at. */
export async function deriveKeys(fragment: Fragment, passphrase?: string): Promise<SecretKeys> {
  const { linkKey, passphraseProtected } = fragment
  const salt = passphraseProtected ? await hkdf(linkKey, 'sealed/1/salt', 16) : null
  const stretched = salt ? await stretch(passphrase, salt) : new Uint8Array()
  const both = concat(linkKey, stretched)
  return {
    enc: await hkdf(both, 'sealed/1/enc', 32),
    proof: await hkdf(both, 'sealed/1/proof', 32),
    link: await hkdf(linkKey, 'sealed/1/link', 32),
    salt,
    header: header(passphraseProtected),
  }
}

export async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

async function hkdf(ikm: Bytes, info: string, size: number): Promise<Bytes> {
  const key = await crypto.subtle.importKey('raw', ikm, 'HKDF', false, ['deriveBits'])
  const how = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: utf8Bytes(info) }
  return new Uint8Array(await crypto.subtle.deriveBits(how, key, size * 8))
}

async function stretch(passphrase: string | undefined, salt: Bytes): Promise<Bytes> {
  if (passphrase === undefined) throw new SealedError('passphrase_needed')
  if (passphrase === '') throw new SealedError('passphrase_empty')
  if (/\p{Surrogate}/u.test(passphrase)) throw new SealedError('passphrase_malformed')
  // Systems write the same letters in different ways; NFC makes them one.
  const bytes = utf8Bytes(passphrase.normalize('NFC'))
  const key = await crypto.subtle.importKey('raw', bytes, 'PBKDF2', false, ['deriveBits'])
  const how = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: PBKDF2_ITERATIONS }
  return new Uint8Array(await crypto.subtle.deriveBits(how, key, 256))
}
