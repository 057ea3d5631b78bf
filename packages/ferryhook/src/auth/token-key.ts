/** The key pair that signs access tokens: the same in every process that has the server secret. */
import {
  createECDH,
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  type KeyObject,
} from 'node:crypto'

export interface TokenKey {
  privateKey: KeyObject
  publicKey: KeyObject
}

/** The order of P-256 (FIPS 186-5, and SP 800-186 section 3.2.1.3). */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

/** So many more bits than the order has that no key is likelier than another (FIPS 186-5, A.2.1). */
const CANDIDATE_BYTES = 40

export function tokenKeyOf(secret: Uint8Array): TokenKey {
  const candidate = hkdfSync('sha256', secret, '', 'ferryhook access tokens', CANDIDATE_BYTES)
  const scalar = (BigInt(`0x${Buffer.from(candidate).toString('hex')}`) % (ORDER - 1n)) + 1n
  const d = Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex')
  const curve = createECDH('prime256v1')
  curve.setPrivateKey(d)
  // 0x04, then both coordinates.
  const point = curve.getPublicKey()
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    d: d.toString('base64url'),
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  }
  const privateKey = createPrivateKey({ key: jwk, format: 'jwk' })
  return { privateKey, publicKey: createPublicKey(privateKey) }
}
