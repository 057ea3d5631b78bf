/** The parts of the two links of a request that servers never see: format version 2. */
import { type Bytes, concat, fromBase64url, toBase64url } from './bytes.ts'
import { SealedError } from './errors.ts'
import { COORDINATE_BYTES, coordinatesOf, isPoint, type KeyPair, pointOf } from './p256.ts'

/** ECDH on P-256, HKDF-SHA-256, AES-256-GCM. */
export const REQUEST_VERSION = 2
const FILE = 2

/** In the link for the sender. */
export interface RequestFragment {
  /** The requester's program can open files. */
  acceptsFiles: boolean
  publicKey: Bytes
}

/** In the requester's own link. */
export type OwnFragment = RequestFragment & KeyPair

export function formatRequestFragment(fragment: RequestFragment): string {
  return toBase64url(concat(requestHeader(fragment), coordinatesOf(fragment.publicKey)))
}

export function formatOwnFragment(fragment: OwnFragment): string {
  const { privateKey, publicKey } = fragment
  return toBase64url(concat(requestHeader(fragment), privateKey, coordinatesOf(publicKey)))
}

/** Throws a `SealedError` for anything but a fragment of this version. */
export function parseRequestFragment(text: string): RequestFragment {
  const { acceptsFiles, keys } = parse(text, 2 * COORDINATE_BYTES)
  return { acceptsFiles, publicKey: requirePoint(keys) }
}

export function parseOwnFragment(text: string): OwnFragment {
  const { acceptsFiles, keys } = parse(text, 3 * COORDINATE_BYTES)
  const publicKey = requirePoint(keys.slice(COORDINATE_BYTES))
  return { acceptsFiles, privateKey: keys.slice(0, COORDINATE_BYTES), publicKey }
}

/** Version and flags, authenticated with the content. */
export function requestHeader({ acceptsFiles }: Pick<RequestFragment, 'acceptsFiles'>): Bytes {
  return Uint8Array.of(REQUEST_VERSION, acceptsFiles ? FILE : 0)
}

/** Whether the text begins as a fragment of this version. */
export function isRequestVersion(text: string): boolean {
  return fromBase64url(text)?.[0] === REQUEST_VERSION
}

function parse(text: string, keyBytes: number): { acceptsFiles: boolean; keys: Bytes } {
  const bytes = fromBase64url(text)
  if (!bytes || bytes.length < 2) throw new SealedError('link_incomplete')
  const [version = 0, flags = 0] = bytes
  if (version !== REQUEST_VERSION || (flags & ~FILE) !== 0) throw new SealedError('link_version')
  if (bytes.length !== 2 + keyBytes) throw new SealedError('link_incomplete')
  return { acceptsFiles: flags === FILE, keys: bytes.slice(2) }
}

function requirePoint(coordinates: Bytes): Bytes {
  const point = pointOf(coordinates)
  if (!isPoint(point)) throw new SealedError('link_incomplete')
  return point
}
