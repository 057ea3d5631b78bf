/** Hides the length of a content: padded, it has one of five lengths. */
import type { Bytes } from './bytes.ts'

/** 50 KB: the UTF-8 of a text, or a file with its name and media type. */
export const MAX_CONTENT_BYTES = 50 * 1024

const LENGTH_BYTES = 4

/** The lengths of padded contents; a ciphertext is 16 bytes longer. */
export const PADDED_SIZES = [256, 1024, 4096, 16_384, LENGTH_BYTES + MAX_CONTENT_BYTES] as const

/** Four bytes with the length of the content, the content, then zeros up to the next size. */
export function pad(content: Uint8Array): Bytes {
  const size = sizeFor(content.length)
  if (size === undefined) throw new RangeError('Content is longer than the limit')
  const padded = new Uint8Array(size)
  new DataView(padded.buffer).setUint32(0, content.length)
  padded.set(content, LENGTH_BYTES)
  return padded
}

/** Undefined for anything that `pad` does not create. */
export function unpad(padded: Bytes): Bytes | undefined {
  if (padded.length < LENGTH_BYTES) return undefined
  const length = new DataView(padded.buffer, padded.byteOffset).getUint32(0)
  if (sizeFor(length) !== padded.length) return undefined
  const end = LENGTH_BYTES + length
  if (padded.subarray(end).some((byte) => byte !== 0)) return undefined
  return padded.slice(LENGTH_BYTES, end)
}

function sizeFor(contentBytes: number): number | undefined {
  return PADDED_SIZES.find((size) => contentBytes + LENGTH_BYTES <= size)
}
