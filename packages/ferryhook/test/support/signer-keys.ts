/** Keys of providers that sign with the private half, while a source has the public one. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto'

/** Pairs by what their public half is shown as: a source has the one, the signer the other. */
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
