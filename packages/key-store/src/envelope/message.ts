/** Encrypts and decrypts messages of the AWS Encryption SDK under one branch key. */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Place } from './place.ts'
import { EDK_NONCE_BYTES, unwrapDataKey, wrapDataKey } from './edk.ts'
import type { BranchKeyMaterials } from '../store/key-store.ts'
import { checkHeaderTag, headerTag, readFrames, writeOnlyFrame } from './frames.ts'
import { MESSAGE_ID_BYTES, type UncheckedHeader, writeHeader } from './header.ts'
import { messageKeys } from './message-keys.ts'
import { keyStoreFailure } from '../errors.ts'

const DATA_KEY_BYTES = 32
/** The frame length of AWS's libraries; longer only if the single frame needs it. */
const USUAL_FRAME_LENGTH = 4096

export function writeMessage(
  plaintext: Uint8Array,
  place: Place,
  branchKey: BranchKeyMaterials,
): Uint8Array {
  // One call for all, because each call costs more than the bytes.
  const random = randomBytes(MESSAGE_ID_BYTES + EDK_NONCE_BYTES + DATA_KEY_BYTES)
  const messageId = random.subarray(0, MESSAGE_ID_BYTES)
  const nonce = random.subarray(MESSAGE_ID_BYTES, MESSAGE_ID_BYTES + EDK_NONCE_BYTES)
  const dataKey = random.subarray(-DATA_KEY_BYTES)
  const edk = wrapDataKey(dataKey, branchKey, place, nonce)
  const { commitment, key } = messageKeys(dataKey, messageId)
  dataKey.fill(0)
  const frameLength = Math.max(plaintext.length, USUAL_FRAME_LENGTH)
  const header = writeHeader(place, { messageId, edk, frameLength, commitment })
  const frame = writeOnlyFrame(key, messageId, plaintext)
  const tag = headerTag(key, header)
  key.fill(0)
  return joinParts([header, tag, ...frame])
}

/** Throws `EnvelopeUnreadable` if any part of the message was changed. */
export function openMessage(
  header: UncheckedHeader,
  place: Place,
  branchKey: Uint8Array,
): Uint8Array {
  const { edk, messageId, authenticated, frameLength, tag, body } = header
  const dataKey = unwrapDataKey(edk, branchKey, place)
  const { commitment, key } = messageKeys(dataKey, messageId)
  dataKey.fill(0)
  try {
    if (!timingSafeEqual(commitment, header.commitment)) throw keyStoreFailure('EnvelopeUnreadable')
    checkHeaderTag(key, authenticated, tag)
    return joinParts(readFrames(key, messageId, frameLength, body))
  } finally {
    key.fill(0)
  }
}

/** Joins the parts in separate memory instead of the pool of small buffers. */
function joinParts(parts: readonly Buffer[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let end = 0
  for (const part of parts) {
    bytes.set(part, end)
    end += part.length
  }
  return bytes
}
