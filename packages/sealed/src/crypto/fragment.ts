/**
 * The part of a link that servers never see: base64url of a version, flags and 32 random bytes.
 *
 * The version fixes every parameter of the cryptography, so that no server can influence it.
 */
import { type Bytes, concat, fromBase64url, toBase64url } from './bytes.ts'
import { SealedError } from './errors.ts'

/** PBKDF2-SHA-256 with 600,000 iterations, HKDF-SHA-256, AES-256-GCM. */
export const VERSION = 1
const PASSPHRASE = 1
const FILE = 2
export const LINK_KEY_BYTES = 32

export interface Fragment {
  passphraseProtected: boolean
  /** The content is a file and not a text. */
  isFile: boolean
  /** The 32 random bytes in the link. */
  linkKey: Bytes
}

export function formatFragment(fragment: Fragment): string {
  return toBase64url(concat(header(fragment), fragment.linkKey))
}

/** Throws a `SealedError` for anything but a fragment of a known version. */
export function parseFragment(text: string): Fragment {
  const bytes = fromBase64url(text)
  if (!bytes || bytes.length < 2) throw new SealedError('link_incomplete')
  const [version = 0, flags = 0] = bytes
  if (version !== VERSION || (flags & ~(PASSPHRASE | FILE)) !== 0)
    throw new SealedError('link_version')
  if (bytes.length !== 2 + LINK_KEY_BYTES) throw new SealedError('link_incomplete')
  return {
    passphraseProtected: (flags & PASSPHRASE) !== 0,
    isFile: (flags & FILE) !== 0,
    linkKey: bytes.slice(2),
  }
}

/** Version and flags, authenticated with the content. */
export function header({ passphraseProtected, isFile }: Omit<Fragment, 'linkKey'>): Bytes {
  return Uint8Array.of(VERSION, (passphraseProtected ? PASSPHRASE : 0) | (isFile ? FILE : 0))
}
