/**
 * A secret box with keys of the app itself, for apps without a key store. AES-256-GCM (NIST SP 800-38D):
 * version byte ‖ 96-bit random nonce ‖ ciphertext ‖ 128-bit tag; the place is the additional data.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { type SecretBox, type SecretPlace, unreadable } from '@strongroom/kit/secret-box'

const VERSION = 1
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts with the first key and decrypts with any, so that a key can be replaced. */
export function createKeyBox(keys: Uint8Array | readonly Uint8Array[]): SecretBox {
  const accepted = keys instanceof Uint8Array ? [keys] : [...keys]
  const [current] = accepted
  if (!current || accepted.some(({ byteLength }) => byteLength !== KEY_BYTES)) {
    throw new TypeError(
      'A key of the secret box has 32 random bytes. Create it with randomBytes(32).',
    )
  }

  return {
    async seal(plaintext, place) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', current, nonce).setAAD(placeBytes(place))
      const parts = [cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]
      return new Uint8Array(Buffer.concat([Buffer.of(VERSION), nonce, ...parts]))
    },

    async open(sealed, place) {
      const found = accepted.map((key) => decrypt(key, sealed, place)).find(Boolean)
      if (!found) throw unreadable('The token was not encrypted with a key of this secret box.')
      return found
    },
  }
}

function decrypt(key: Uint8Array, sealed: Uint8Array, place: SecretPlace): Uint8Array | undefined {
  const bytes = Buffer.from(sealed)
  if (bytes[0] !== VERSION || bytes.length < 1 + NONCE_BYTES + TAG_BYTES) return undefined
  const nonce = bytes.subarray(1, 1 + NONCE_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(placeBytes(place)).setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    const ciphertext = bytes.subarray(1 + NONCE_BYTES, -TAG_BYTES)
    return new Uint8Array(Buffer.concat([decipher.update(ciphertext), decipher.final()]))
  } catch {
    return undefined
  }
}

function placeBytes({ service, tenant, entity, attribute }: SecretPlace): Buffer {
  return Buffer.from(JSON.stringify([service, tenant, entity, attribute]))
}
