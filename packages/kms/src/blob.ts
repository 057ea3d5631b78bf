/**
 * A ciphertext blob, byte by byte:
 *
 *     format 1 | kind of id 1 | id 16 | backing key version 4 | salt 16 | IV 12 | ciphertext | tag 16
 *
 * The first four are the header. The encryption is AES-256-GCM with a key derived from the backing key
 * and the salt, so random IVs never run out. Header and encryption context are authenticated.
 */
import { createCipheriv, createDecipheriv, randomFillSync, type KeyObject } from 'node:crypto'
import { isMultiRegion } from './arn.ts'
import { deriveKey } from './kdf.ts'

const FORMAT = 1
const KIND_UUID = 0
const KIND_MULTI_REGION = 1
const HEADER_BYTES = 22
const SALT_BYTES = 16
const IV_BYTES = 12
const TAG_BYTES = 16
const BODY_AT = HEADER_BYTES + SALT_BYTES + IV_BYTES
const LABEL = 'strongroom-kms'
const CIPHER = 'aes-256-gcm'

/** The key and the backing key that a blob claims to be encrypted with. */
export interface BlobHeader {
  readonly id: string
  readonly version: number
}

export function sealBlob(
  { id, version }: BlobHeader,
  backingKey: KeyObject,
  context: EncryptionContext,
  plaintext: Uint8Array,
): Uint8Array {
  const blob = new Uint8Array(BODY_AT + plaintext.length + TAG_BYTES)
  const header = Buffer.from(blob.buffer, 0, HEADER_BYTES)
  header[0] = FORMAT
  header[1] = isMultiRegion(id) ? KIND_MULTI_REGION : KIND_UUID
  header.write(id.replace('mrk-', '').replaceAll('-', ''), 2, 'hex')
  header.writeUInt32BE(version, 18)
  randomFillSync(blob, HEADER_BYTES, SALT_BYTES + IV_BYTES)

  const cipher = createCipheriv(CIPHER, blobKey(blob, backingKey), ivOf(blob), {
    authTagLength: TAG_BYTES,
  })
  cipher.setAAD(Buffer.concat([header, canonicalContext(context)]))
  blob.set(cipher.update(plaintext), BODY_AT)
  cipher.final()
  blob.set(cipher.getAuthTag(), BODY_AT + plaintext.length)
  return blob
}

/** Parses the header without authenticating it; undefined for bytes that are not a blob of this KMS. */
export function readHeader(blob: Uint8Array): BlobHeader | undefined {
  if (blob.length <= BODY_AT + TAG_BYTES || blob[0] !== FORMAT) return undefined
  const header = Buffer.from(blob.buffer, blob.byteOffset, HEADER_BYTES)
  const hex = header.toString('hex', 2, 18)
  const version = header.readUInt32BE(18)
  if (header[1] === KIND_MULTI_REGION) return { id: `mrk-${hex}`, version }
  if (header[1] !== KIND_UUID) return undefined
  return { id: hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'), version }
}

/** The plaintext in its own memory; undefined if blob, backing key and context do not match. */
export function openBlob(
  blob: Uint8Array,
  backingKey: KeyObject,
  context: EncryptionContext,
): Uint8Array | undefined {
  const decipher = createDecipheriv(CIPHER, blobKey(blob, backingKey), ivOf(blob), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(Buffer.concat([blob.subarray(0, HEADER_BYTES), canonicalContext(context)]))
  decipher.setAuthTag(blob.subarray(-TAG_BYTES))
  const opened = decipher.update(blob.subarray(BODY_AT, -TAG_BYTES))
  try {
    decipher.final()
    return Uint8Array.from(opened)
  } catch {
    return undefined
  } finally {
    opened.fill(0)
  }
}

function blobKey(blob: Uint8Array, backingKey: KeyObject): Buffer {
  return deriveKey(backingKey, LABEL, blob.subarray(HEADER_BYTES, HEADER_BYTES + SALT_BYTES))
}

function ivOf(blob: Uint8Array): Uint8Array {
  return blob.subarray(HEADER_BYTES + SALT_BYTES, BODY_AT)
}

/**
 * The encryption context as bytes to authenticate: equal for the same pairs in any order, and different
 * for other pairs. It is not part of the blob.
 */
export type EncryptionContext = Readonly<Record<string, string>>

export function canonicalContext(context: EncryptionContext): Buffer {
  const pairs = Object.entries(context)
    .map(([key, value]) => [Buffer.from(key), Buffer.from(value)] as const)
    .toSorted(([a], [b]) => Buffer.compare(a, b))
  return Buffer.concat(
    pairs.flatMap(([key, value]) => [length(key.length), key, length(value.length), value]),
  )
}

function length(bytes: number): Buffer {
  const encoded = Buffer.alloc(4)
  encoded.writeUInt32BE(bytes)
  return encoded
}
