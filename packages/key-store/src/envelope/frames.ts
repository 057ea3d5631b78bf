/**
 * The frames of a message. Messages sealed here have one frame, the final one:
 *
 *   FFFFFFFF ‖ sequence number 4 ‖ IV 12 ‖ length 4 ‖ content ‖ tag 16
 *
 * Messages of AWS's libraries may have other frames before it, each with the header's frame length:
 *
 *   sequence number 4 ‖ IV 12 ‖ content ‖ tag 16
 */
import { createCipheriv, createDecipheriv } from 'node:crypto'
import { TAG_BYTES } from './header.ts'
import { keyStoreFailure } from '../errors.ts'

const FINAL = 0xff_ff_ff_ff
const IV_BYTES = 12
const FRAME_HEAD_BYTES = 4 + IV_BYTES
const FINAL_HEAD_BYTES = 4 + FRAME_HEAD_BYTES + 4
const FRAME_LABEL = Buffer.from('AWSKMSEncryptionClient Frame')
const FINAL_LABEL = Buffer.from('AWSKMSEncryptionClient Final Frame')
const GCM = { authTagLength: TAG_BYTES }
/** No frame has sequence number 0. */
const HEADER_IV = Buffer.alloc(IV_BYTES)

/** Encrypts plaintext as the only frame of a message: head, content and tag. */
export function writeOnlyFrame(key: Buffer, messageId: Buffer, plaintext: Uint8Array): Buffer[] {
  const head = Buffer.alloc(FINAL_HEAD_BYTES)
  head.writeUInt32BE(FINAL)
  head.writeUInt32BE(1, 4)
  const iv = head.subarray(8, 8 + IV_BYTES)
  iv.writeUInt32BE(1, IV_BYTES - 4)
  head.writeUInt32BE(plaintext.length, FINAL_HEAD_BYTES - 4)
  const cipher = createCipheriv('aes-256-gcm', key, iv, GCM)
  cipher.setAAD(frameData(messageId, FINAL_LABEL, 1, plaintext.length))
  const content = cipher.update(plaintext)
  cipher.final()
  return [head, content, cipher.getAuthTag()]
}

/** Decrypts all frames; returns nothing before all of them, to the last byte, are authenticated. */
export function readFrames(
  key: Buffer,
  messageId: Buffer,
  frameLength: number,
  body: Buffer,
): Buffer[] {
  const plaintext: Buffer[] = []
  let rest = body
  for (let sequence = 1; ; sequence++) {
    if (rest.length < FRAME_HEAD_BYTES) throw keyStoreFailure('EnvelopeUnreadable')
    const isFinal = rest.readUInt32BE() === FINAL
    const head = rest.subarray(0, isFinal ? FINAL_HEAD_BYTES : FRAME_HEAD_BYTES)
    if (isFinal && head.length < FINAL_HEAD_BYTES) throw keyStoreFailure('EnvelopeUnreadable')
    const numberAt = isFinal ? 4 : 0
    const length = isFinal ? head.readUInt32BE(FINAL_HEAD_BYTES - 4) : frameLength
    const end = head.length + length + TAG_BYTES
    if (head.readUInt32BE(numberAt) !== sequence || length > frameLength || end > rest.length)
      throw keyStoreFailure('EnvelopeUnreadable')
    const iv = head.subarray(numberAt + 4, numberAt + 4 + IV_BYTES)
    const label = isFinal ? FINAL_LABEL : FRAME_LABEL
    const sealed = rest.subarray(head.length, end)
    plaintext.push(decryptFrame(key, iv, frameData(messageId, label, sequence, length), sealed))
    rest = rest.subarray(end)
    if (isFinal) break
  }
  if (rest.length > 0) throw keyStoreFailure('EnvelopeUnreadable')
  return plaintext
}

export function headerTag(key: Buffer, header: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, HEADER_IV, GCM)
  cipher.setAAD(header)
  cipher.final()
  return cipher.getAuthTag()
}

export function checkHeaderTag(key: Buffer, header: Buffer, tag: Buffer): void {
  decryptFrame(key, HEADER_IV, header, tag)
}

/** `sealed` is the content and its tag. */
function decryptFrame(key: Buffer, iv: Buffer, data: Buffer, sealed: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, iv, GCM)
  decipher.setAAD(data)
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  const plaintext = decipher.update(sealed.subarray(0, -TAG_BYTES))
  try {
    decipher.final()
  } catch {
    throw keyStoreFailure('EnvelopeUnreadable')
  }
  return plaintext
}

/** The additional authenticated data of a frame. */
function frameData(messageId: Buffer, label: Buffer, sequence: number, length: number): Buffer {
  const numbers = Buffer.alloc(12)
  numbers.writeUInt32BE(sequence)
  // The upper half of the length stays zero: a frame is shorter than 2^32 bytes.
  numbers.writeUInt32BE(length, 8)
  return Buffer.concat([messageId, label, numbers])
}
