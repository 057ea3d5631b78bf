/** Hides the length of a content: padded, it has one of five lengths. */
import type { Bytes } from './bytes.ts'

/** 50 KB: the UTF-8 of a text, or a file with its name and media type. */
export const MAX_CONTENT_BYTES = 50 * 1024

const LENGTH_BYTES = 4
const MAX_LENGTH = 0xffffff

/** The lengths of padded contents; a ciphertext is 16 bytes longer. */
export const PADDED_SIZES = [256, 1024, 4096, 16_384, LENGTH_BYTES + MAX_CONTENT_BYTES] as const

/**
 * Four bytes with the length of the content, the content, then zeros up to the next size. The first of
 * the four is 0 in every length, and holds flags in version 2.
 */
export function pad(content: Uint8Array, flags = 0): Bytes {
  const size = sizeFor(content.length)
  if (size === undefined) throw new RangeError('Content is longer than the limit')
  const padded = new Uint8Array(size)
  new DataView(padded.buffer).setUint32(0, content.length)
  padded[0] = flags
  padded.set(content, LENGTH_BYTES)
  return padded
}

/** Undefined for anything that `pad` does not create, and for flags. */
export function unpad(padded: Bytes): Bytes | undefined {
  const unpadded = unpadWithFlags(padded)
  return unpadded?.flags === 0 ? unpadded.content : undefined
}

export function unpadWithFlags(padded: Bytes): { flags: number; content: Bytes } | undefined {
  const [flags] = padded
  if (flags === undefined || padded.length < LENGTH_BYTES) return undefined
  const length = new DataView(padded.buffer, padded.byteOffset).getUint32(0) & MAX_LENGTH
  if (sizeFor(length) !== padded.length) return undefined
  const end = LENGTH_BYTES + length
  if (padded.subarray(end).some((byte) => byte !== 0)) return undefined
  return { flags, content: padded.slice(LENGTH_BYTES, end) }
}

function sizeFor(contentBytes: number): number | undefined {
  return PADDED_SIZES.find((size) => contentBytes + LENGTH_BYTES <= size)
}
