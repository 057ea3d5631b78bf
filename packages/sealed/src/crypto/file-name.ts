/** Names of sealed files: safe to show, to save under and to store in a link's secret. */

export const MAX_NAME_BYTES = 255

/** For a file whose name has nothing usable. */
const FALLBACK = 'file'

/** Path separators, control characters, line separators, lone surrogates and bidi controls. */
const FORBIDDEN = /[/\\\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Replaces what a name must not contain. Senders and readers both do this. */
export function sanitizeFileName(name: string): string {
  const replaced = name.replaceAll(FORBIDDEN, '_').trim()
  // "." and ".." are directories.
  const isUsable = /[^.\s]/u.test(replaced)
  return isUsable ? truncate(replaced) : FALLBACK
}

/** Shortens the part before the extension, because the extension says what the file is. */
function truncate(name: string): string {
  if (byteLength(name) <= MAX_NAME_BYTES) return name
  const dot = name.lastIndexOf('.')
  const hasExtension = dot > 0 && byteLength(name.slice(dot)) <= 32
  const extension = hasExtension ? name.slice(dot) : ''
  let stem = ''
  let size = byteLength(extension)
  // By code point, so that no character is cut.
  for (const character of hasExtension ? name.slice(0, dot) : name) {
    size += byteLength(character)
    if (size > MAX_NAME_BYTES) break
    stem += character
  }
  return stem + extension
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length
}
