/** A secret box of tests: what it seals looks as the key store's does, and opens at its place only. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { SecretBox } from '../../src/keys/secret-box.ts'

const PREFIX = Buffer.of(0x02, 0x04, 0x78)
const key = randomBytes(32)

const bytesOf = (place: object) => Buffer.from(JSON.stringify(Object.entries(place)))

export const secretBox: SecretBox = {
  async seal(plaintext, place) {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bytesOf(place))
    const sealed = [cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]
    return Buffer.concat([PREFIX, nonce, ...sealed])
  },
  async open(sealed, place) {
    const bytes = Buffer.from(sealed)
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(3, 15))
    decipher.setAAD(bytesOf(place)).setAuthTag(bytes.subarray(-16))
    return Buffer.concat([decipher.update(bytes.subarray(15, -16)), decipher.final()])
  },
}
