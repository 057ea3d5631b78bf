/** Secrets and keys for tests: server secrets, a secret box and a KMS key. */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { createKms } from '@strongroom/kms/kms'
import { memoryKeyStorage } from '@strongroom/kms/testing/memory-key-storage'
import type { KmsKey } from '../kms.ts'
import type { SecretBox, SecretPlace } from '../secret-box.ts'
import type { ServerSecrets } from '../server-secrets.ts'

/** Server secrets without a store and a KMS; the same on every run. */
export function testSecrets(): ServerSecrets {
  const secret = (name: string) => ({
    version: 1,
    key: new Uint8Array(createHash('sha256').update(`test secret ${name}`).digest()),
  })
  return {
    current: async (name) => secret(name),
    accepted: async (name) => [secret(name)],
  }
}

const PREFIX = Buffer.of(0x02, 0x04, 0x78)
const boxKey = createHash('sha256').update('test secret box').digest()

const placeBytes = ({ service, tenant, entity, attribute }: SecretPlace) =>
  Buffer.from(JSON.stringify([service, tenant, entity, attribute]))

/** Its output looks like the key store's, opens only for the same place, and in other processes too. */
export const secretBox: SecretBox = {
  async seal(plaintext, place) {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', boxKey, nonce).setAAD(placeBytes(place))
    const sealed = [cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]
    return Buffer.concat([PREFIX, nonce, ...sealed])
  },
  async open(sealed, place) {
    const bytes = Buffer.from(sealed)
    const decipher = createDecipheriv('aes-256-gcm', boxKey, bytes.subarray(3, 15))
    decipher.setAAD(placeBytes(place)).setAuthTag(bytes.subarray(-16))
    try {
      return Buffer.concat([decipher.update(bytes.subarray(15, -16)), decipher.final()])
    } catch (error) {
      const unreadable = new Error('Cannot open what was sealed', { cause: error })
      throw Object.assign(unreadable, { name: 'EnvelopeUnreadable' })
    }
  },
}

/** A key of a new embedded KMS, in memory. */
export async function testKmsKey(): Promise<KmsKey> {
  const kms = await createKms({ masterKey: randomBytes(32), storage: memoryKeyStorage() })
  const { KeyMetadata } = await kms.createKey()
  return { kms, arn: KeyMetadata.Arn }
}
