/**
 * The header of an AWS Encryption SDK message, format version 2, algorithm suite 0x0478 (AES-256-GCM,
 * HKDF-SHA-512 with key commitment, no signature), framed, with one encrypted data key:
 *
 *   version 1 ‖ suite 2 ‖ message id 32 ‖ context ‖ encrypted data key ‖ content type 1 ‖
 *   frame length 4 ‖ commitment 32 ‖ tag 16
 *
 * The context, and all but the last 92 bytes of the encrypted data key, are determined by the place. So a
 * header is compared with the expected one instead of being parsed: no length in it is trusted.
 */
import { type Place, uint16, withLength } from './place.ts'
import { EDK_BYTES, PROVIDER_ID } from './edk.ts'
import { keyStoreFailure } from '../errors.ts'

export const SUITE = Buffer.of(0x04, 0x78)
export const MESSAGE_ID_BYTES = 32
export const TAG_BYTES = 16

const VERSION_AND_SUITE = Buffer.concat([Buffer.of(2), SUITE])
const ONE_DATA_KEY = Buffer.concat([uint16(1), withLength(Buffer.from(PROVIDER_ID))])
const DATA_KEY_LENGTH = uint16(EDK_BYTES)
const FRAMED = Buffer.of(2)
const FRAME_LENGTH_BYTES = 4
const COMMITMENT_BYTES = 32

export interface Header {
  messageId: Buffer
  edk: Buffer
  frameLength: number
  commitment: Buffer
}

/** A header that has not been authenticated yet. */
export interface UncheckedHeader extends Header {
  /** The part of the header that its tag authenticates. */
  authenticated: Buffer
  tag: Buffer
  /** The bytes after the header. */
  body: Buffer
}

/** The header without its tag. */
export function writeHeader(place: Place, header: Header): Buffer {
  const frameLength = Buffer.allocUnsafe(FRAME_LENGTH_BYTES)
  frameLength.writeUInt32BE(header.frameLength)
  return Buffer.concat([
    VERSION_AND_SUITE,
    header.messageId,
    ...placeParts(place),
    header.edk,
    FRAMED,
    frameLength,
    header.commitment,
  ])
}

/** Throws `EnvelopeUnreadable` unless the message starts with a complete header for this place. */
export function readHeader(place: Place, message: Buffer): UncheckedHeader {
  let end = 0
  const take = (length: number) => message.subarray(end, (end += length))
  const expect = (bytes: Buffer) => {
    if (!take(bytes.length).equals(bytes)) throw keyStoreFailure('EnvelopeUnreadable')
  }
  expect(VERSION_AND_SUITE)
  const messageId = take(MESSAGE_ID_BYTES)
  for (const part of placeParts(place)) expect(part)
  const edk = take(EDK_BYTES)
  expect(FRAMED)
  const frameLength = take(FRAME_LENGTH_BYTES)
  const commitment = take(COMMITMENT_BYTES)
  const authenticated = message.subarray(0, end)
  const tag = take(TAG_BYTES)
  if (message.length < end) throw keyStoreFailure('EnvelopeUnreadable')
  return {
    messageId,
    edk,
    frameLength: frameLength.readUInt32BE(),
    commitment,
    authenticated,
    tag,
    body: message.subarray(end),
  }
}

function placeParts({ branchKeyIdentifier, context }: Place): Buffer[] {
  const branchKeyId = withLength(Buffer.from(branchKeyIdentifier))
  return [withLength(context), ONE_DATA_KEY, branchKeyId, DATA_KEY_LENGTH]
}
