/**
 * The same cryptography once more, written from the description alone and with Node's own functions:
 * creates and verifies the vectors.
 */
import { createCipheriv, createECDH, createHash, hkdfSync, pbkdf2Sync } from 'node:crypto'

export interface Ingredients {
  id: string
  /** Hexadecimal. */
  linkKey: string
  /** Hexadecimal. */
  iv: string
  passphrase: string | null
  content: string | ReferenceFile
}

export interface ReferenceFile {
  name: string
  mediaType: string
  /** Hexadecimal. */
  bytes: string
}

function plaintext(content: Ingredients['content']): Buffer {
  if (typeof content === 'string') return Buffer.from(content, 'utf8')
  const [name, mediaType] = [Buffer.from(content.name), Buffer.from(content.mediaType)]
  return Buffer.concat([
    Buffer.of(name.length),
    name,
    Buffer.of(mediaType.length),
    mediaType,
    Buffer.from(content.bytes, 'hex'),
  ])
}

export function sealByReference({ id, linkKey, iv, passphrase, content }: Ingredients) {
  const link = Buffer.from(linkKey, 'hex')
  const header = Buffer.of(1, (passphrase === null ? 0 : 1) + (typeof content === 'string' ? 0 : 2))
  const hkdf = (ikm: Buffer, info: string, size: number) =>
    Buffer.from(hkdfSync('sha256', ikm, Buffer.alloc(0), info, size))
  const salt = passphrase === null ? null : hkdf(link, 'sealed/1/salt', 16)
  const stretched =
    passphrase === null || salt === null
      ? Buffer.alloc(0)
      : pbkdf2Sync(passphrase.normalize('NFC'), salt, 600_000, 32, 'sha256')
  const both = Buffer.concat([link, stretched])
  const keys = {
    enc: hkdf(both, 'sealed/1/enc', 32),
    proof: hkdf(both, 'sealed/1/proof', 32),
    link: hkdf(link, 'sealed/1/link', 32),
  }

  const plain = plaintext(content)
  const sizes = [256, 1024, 4096, 16384, 51204]
  const padded = Buffer.alloc(sizes.find((size) => size >= plain.length + 4) ?? 0)
  padded.writeUInt32BE(plain.length)
  plain.copy(padded, 4)
  const cipher = createCipheriv('aes-256-gcm', keys.enc, Buffer.from(iv, 'hex'))
  cipher.setAAD(Buffer.concat([Buffer.from('sealed/1'), header, Buffer.from(id)]))
  const ciphertext = Buffer.concat([cipher.update(padded), cipher.final(), cipher.getAuthTag()])

  return {
    fragment: Buffer.concat([header, link]).toString('base64url'),
    link: keys.link.toString('base64url'),
    proof: keys.proof.toString('base64url'),
    body: {
      ciphertext: ciphertext.toString('base64'),
      iv: Buffer.from(iv, 'hex').toString('base64'),
      salt: salt && salt.toString('base64'),
      passphraseProtected: passphrase !== null,
      linkHash: sha256(keys.link).toString('base64url'),
      proofHash: sha256(keys.proof).toString('base64url'),
    },
  }
}

export interface RequestIngredients {
  id: string
  /** Hexadecimal: the private keys of the requester and of the sender, and the iv. */
  privateKey: string
  ephemeralKey: string
  iv: string
  token: string
  acceptsFiles: boolean
  content: string | ReferenceFile
}

/** A request and what its sender puts into it. */
export function requestByReference(given: RequestIngredients) {
  const { id, token, content } = given
  const pairOf = (hex: string) => {
    const ecdh = createECDH('prime256v1')
    ecdh.setPrivateKey(Buffer.from(hex, 'hex'))
    return ecdh
  }
  const [requester, sender] = [pairOf(given.privateKey), pairOf(given.ephemeralKey)]
  const [q, e] = [requester.getPublicKey(), sender.getPublicKey()]
  const d = Buffer.from(given.privateKey, 'hex')
  const header = Buffer.of(2, given.acceptsFiles ? 2 : 0)
  const hkdf = (ikm: Buffer, info: Buffer) =>
    Buffer.from(hkdfSync('sha256', ikm, Buffer.alloc(0), info, 32))
  const link = hkdf(Buffer.concat([d, q]), Buffer.from('sealed/2/link'))
  const proof = hkdf(Buffer.concat([d, q]), Buffer.from('sealed/2/proof'))
  const enc = hkdf(sender.computeSecret(q), Buffer.concat([Buffer.from('sealed/2/enc'), e, q]))
  const plain = plaintext(content)
  const sizes = [256, 1024, 4096, 16384, 51204]
  const padded = Buffer.alloc(sizes.find((size) => size >= plain.length + 4) ?? 0)
  padded.writeUIntBE(plain.length, 1, 3)
  padded[0] = typeof content === 'string' ? 0 : 2
  plain.copy(padded, 4)
  const cipher = createCipheriv('aes-256-gcm', enc, Buffer.from(given.iv, 'hex'))
  cipher.setAAD(Buffer.concat([Buffer.from('sealed/2'), header, Buffer.from(id)]))
  const ciphertext = Buffer.concat([e, cipher.update(padded), cipher.final(), cipher.getAuthTag()])
  const own = Buffer.concat([header, d, q.subarray(1)]).toString('base64url')
  const request = Buffer.concat([header, q.subarray(1)]).toString('base64url')
  const target = `r:${id}:${request}:${token}`
  const print = sha256(Buffer.from(`sealed/2/fingerprint${target}`)).toString('hex')
  return {
    own: `${id}:${own}`,
    request: target,
    fingerprint: [0, 4, 8, 12, 16].map((at) => print.slice(at, at + 4)).join(' '),
    link: link.toString('base64url'),
    proof: proof.toString('base64url'),
    linkHash: sha256(link).toString('base64url'),
    proofHash: sha256(proof).toString('base64url'),
    body: {
      ciphertext: ciphertext.toString('base64'),
      iv: Buffer.from(given.iv, 'hex').toString('base64'),
    },
  }
}

/** The first counter that is enough. */
export function workByReference(prefix: string, ciphertext: Buffer, bits: number): number {
  const digest = sha256(ciphertext).toString('base64url')
  for (let counter = 0; ; counter++) {
    const hash = sha256(Buffer.from(`${prefix}:${digest}:${counter}`))
    const binary = Array.from(hash, (byte) => byte.toString(2).padStart(8, '0')).join('')
    if (binary.startsWith('0'.repeat(bits))) return counter
  }
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}
