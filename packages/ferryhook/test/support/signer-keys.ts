/** Keys of providers that sign with a private key, of which a source has the public key. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto'

/** Key pairs by the text of their public key. */
const privateKeys = new Map<string, KeyObject>()
function publicSecret(
  { publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject },
  show: (publicKey: KeyObject) => string,
): string {
  const shown = show(publicKey)
  privateKeys.set(shown, privateKey)
  return shown
}
export const keyOf = (secret: string): KeyObject => {
  const key = privateKeys.get(secret)
  if (!key) throw new Error('The signer has no such key')
  return key
}
export const p256 = () =>
  publicSecret(generateKeyPairSync('ec', { namedCurve: 'P-256' }), (key) =>
    key.export({ type: 'spki', format: 'der' }).toString('base64'),
  )
export const ed25519 = (show: (raw: Buffer) => string) =>
  publicSecret(generateKeyPairSync('ed25519'), (key) =>
    show(Buffer.from(String(key.export({ format: 'jwk' }).x), 'base64url')),
  )
