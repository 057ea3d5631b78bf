/**
 * A secret box of tests: what it seals looks as the key store's does, and opens at its place only;
 * in other processes too.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { type SecretBox, type SecretPlace, SealedUnreadable } from '../secret-box.ts'

const PREFIX = Buffer.of(0x02, 0x04, 0x78)
const key = createHash('sha256').update('test secret box').digest()

const bytesOf = ({ service, tenant, entity, attribute }: SecretPlace) =>
  Buffer.from(JSON.stringify([service, tenant, entity, attribute]))

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
    try {
      return Buffer.concat([decipher.update(bytes.subarray(15, -16)), decipher.final()])
    } catch (error) {
      throw new SealedUnreadable('Cannot open what was sealed', { cause: error })
    }
  },
}
