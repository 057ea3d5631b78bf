/** What a secret contains: a text or a file, as the bytes inside the padding. */
import { type Bytes, concat, utf8Bytes } from './bytes.ts'
import { SealedError } from './errors.ts'
import { sanitizeFileName } from './file-name.ts'
import { MAX_CONTENT_BYTES } from './padding.ts'

export interface FileContent {
  name: string
  /** Media type as the sender's system reported it; may be empty. Never used to render the file. */
  mediaType: string
  bytes: Bytes
}

export type Content = string | FileContent

const MAX_MEDIA_TYPE_BYTES = 127
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/

export function isFile(content: Content): content is FileContent {
  return typeof content !== 'string'
}

/** The bytes to pad. Throws a `SealedError` if the content cannot be sealed. */
export function contentBytes(content: Content): Bytes {
  return isFile(content) ? fileBytes(content) : textBytes(content)
}

/** Undefined for bytes that `contentBytes` does not create. */
export function parseContent(bytes: Bytes, isFileContent: boolean): Content | undefined {
  return isFileContent ? parseFile(bytes) : decodeText(bytes)
}

function textBytes(text: string): Bytes {
  if (text === '') throw new SealedError('text_empty')
  // UTF-8 cannot encode a lone surrogate and would replace it.
  if (/\p{Surrogate}/u.test(text)) throw new SealedError('text_malformed')
  const bytes = utf8Bytes(text)
  if (bytes.length > MAX_CONTENT_BYTES) throw new SealedError('text_too_long')
  return bytes
}

/** Undefined for invalid UTF-8, which another program might have sealed. */
function decodeText(bytes: Bytes): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Length and bytes of the name, length and bytes of the media type, then the file. */
function fileBytes({ name, mediaType, bytes }: FileContent): Bytes {
  const [nameBytes, typeBytes] = [sanitizeFileName(name), sanitizeMediaType(mediaType)].map(
    utf8Bytes,
  )
  const whole = concat(withLength(nameBytes), withLength(typeBytes), bytes)
  if (whole.length > MAX_CONTENT_BYTES) throw new SealedError('file_too_large')
  return whole
}

function withLength(bytes: Bytes = new Uint8Array()): Bytes {
  return concat(Uint8Array.of(bytes.length), bytes)
}

/** Sanitises again: another program may have sealed it. */
function parseFile(bytes: Bytes): FileContent | undefined {
  const name = takeText(bytes, 0)
  const mediaType = name && takeText(bytes, name.end)
  if (!mediaType) return undefined
  return {
    name: sanitizeFileName(name.text),
    mediaType: sanitizeMediaType(mediaType.text),
    bytes: bytes.slice(mediaType.end),
  }
}

/** Undefined if the bytes end before the text does. */
function takeText(bytes: Bytes, at: number): { text: string; end: number } | undefined {
  const length = bytes[at]
  if (length === undefined) return undefined
  const end = at + 1 + length
  if (end > bytes.length) return undefined
  return { text: new TextDecoder().decode(bytes.subarray(at + 1, end)), end }
}

function sanitizeMediaType(mediaType: string): string {
  const isValid = mediaType.length <= MAX_MEDIA_TYPE_BYTES && MEDIA_TYPE.test(mediaType)
  return isValid ? mediaType.toLowerCase() : ''
}
