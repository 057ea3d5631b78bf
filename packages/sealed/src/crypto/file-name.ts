/** Names of sealed files: safe to show, to save under and to store in a link's secret. */

export const MAX_NAME_BYTES = 255

/** For a file whose name has nothing usable. */
const FALLBACK = 'file'

/** Path separators, control characters, line separators, lone surrogates and bidi controls. */
const FORBIDDEN = /[/\\\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Replaces what a name must not contain. Senders and readers both do this. */
export function sanitizeFileName(name: string): string {
  const shortened = truncate(name.replaceAll(FORBIDDEN, '_').trim()).trimEnd()
  // "." and ".." are directories.
  const isUsable = /[^.\s]/u.test(shortened)
  return isUsable ? shortened : FALLBACK
}

/** Shortens the part before the extension, because the extension says what the file is. */
function truncate(name: string): string {
  if (byteLength(name) <= MAX_NAME_BYTES) return name
  const dot = name.lastIndexOf('.')
  const hasExtension = dot > 0 && byteLength(name.slice(dot)) <= 32
  const extension = hasExtension ? name.slice(dot) : ''
  const stem = hasExtension ? name.slice(0, dot) : name
  return truncateBytes(stem, MAX_NAME_BYTES - byteLength(extension)) + extension
}

/** The longest beginning within this size in UTF-8 that cuts no character. */
export function truncateBytes(text: string, maxBytes: number): string {
  let kept = ''
  let size = 0
  for (const character of text) {
    size += byteLength(character)
    if (size > maxBytes) break
    kept += character
  }
  return kept
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length
}
