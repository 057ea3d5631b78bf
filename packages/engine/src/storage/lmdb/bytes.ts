// Byte buffers for the codec and the key encoding. Node's fast string functions (`utf8Write`,
// `latin1Slice`) are not in the public types, and a reused buffer makes encoding free of allocations.

export interface FastBuffer extends Buffer {
  utf8Write(text: string, start: number, length?: number): number
}

const slices = Buffer.prototype as unknown as {
  latin1Slice: (this: Uint8Array, start: number, end: number) => string
  utf8Slice: (this: Uint8Array, start: number, end: number) => string
}

/** Can be called on any Uint8Array, not only on buffers. */
export const latin1Slice = slices.latin1Slice
export const utf8Slice = slices.utf8Slice

export function allocate(size: number): FastBuffer {
  return Buffer.allocUnsafeSlow(size) as FastBuffer
}

/** Writes a text as UTF-8 without checking bounds; returns the end. */
export function writeText(text: string, target: FastBuffer, start: number): number {
  const length = text.length
  if (length > 64) return start + target.utf8Write(text, start)
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    if (code > 127) return start + target.utf8Write(text, start)
    target[start + i] = code
  }
  return start + length
}

export function copyBytes(
  source: Uint8Array,
  from: number,
  to: number,
  target: Uint8Array,
  start: number,
): number {
  for (let i = from; i < to; i++) target[start++] = source[i]!
  return start
}
