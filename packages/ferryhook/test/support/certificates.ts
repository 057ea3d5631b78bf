/** Certificates created by the test (RFC 5280 section 4.1): no key in the repository, any dates. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

export interface Issued {
  pem: string
  privateKey: KeyObject
  name: string
}

interface Wish {
  name: string
  /** Defaults to a self-signed certificate. */
  issuer?: Issued
  ca?: boolean
  alternativeName?: string
  from?: string
  to?: string
  key?: 'rsa' | 'ec' | 'ed25519'
}

export function makeCertificate(wish: Wish): Issued {
  const { publicKey, privateKey } = keyPair(wish.key ?? 'ec')
  const issuer = wish.issuer ?? { name: wish.name, privateKey }
  const algorithm = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02)) // ecdsa-with-SHA256
  const alternativeName = sequence(der(0x82, Buffer.from(wish.alternativeName ?? wish.name)))
  const extensions = sequence(
    sequence(oid(0x55, 0x1d, 0x11), der(0x04, alternativeName)),
    sequence(
      oid(0x55, 0x1d, 0x13),
      der(0x04, wish.ca ? sequence(der(0x01, Buffer.of(0xff))) : sequence()),
    ),
  )
  const certificate = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.of(1)),
    algorithm,
    distinguishedName(issuer.name),
    sequence(time(wish.from ?? '20200101000000Z'), time(wish.to ?? '99991231235959Z')),
    distinguishedName(wish.name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  )
  const signature = sign('sha256', certificate, issuer.privateKey)
  const signed = sequence(certificate, algorithm, der(0x03, Buffer.of(0), signature))
  return {
    pem: `-----BEGIN CERTIFICATE-----\n${signed.toString('base64')}\n-----END CERTIFICATE-----\n`,
    privateKey,
    name: wish.name,
  }
}

function keyPair(kind: 'rsa' | 'ec' | 'ed25519') {
  // Half the length of PayPal's, because generating it takes a tenth of the time.
  if (kind === 'rsa') return generateKeyPairSync('rsa', { modulusLength: 1024 })
  if (kind === 'ed25519') return generateKeyPairSync('ed25519')
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

const sequence = (...parts: Buffer[]) => der(0x30, ...parts)
const oid = (...bytes: number[]) => der(0x06, Buffer.from(bytes))
const time = (text: string) => der(0x18, Buffer.from(text))
const distinguishedName = (name: string) =>
  sequence(der(0x31, sequence(oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from(name)))))

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const size = content.length
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), content])
}
