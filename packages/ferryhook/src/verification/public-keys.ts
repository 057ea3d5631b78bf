/** Public keys in the forms that providers show them. */
import { createPublicKey, type KeyObject } from 'node:crypto'

/** From its 32 bytes. */
export function ed25519Key(bytes: Buffer): KeyObject | undefined {
  if (bytes.byteLength !== 32) return undefined
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') }
  return readable(() => createPublicKey({ key: jwk, format: 'jwk' }))
}

/** A P-256 key as PEM, or as the base64 inside it. */
export function p256Key(text: string): KeyObject | undefined {
  const key = readable(() =>
    text.startsWith('-----BEGIN PUBLIC KEY-----')
      ? createPublicKey({ key: text, format: 'pem' })
      : createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' }),
  )
  return key?.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined
}

/** OpenSSL says with an error that it cannot read a key. */
function readable(read: () => KeyObject): KeyObject | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
