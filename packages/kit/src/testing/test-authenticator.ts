/** A passkey in memory: what a browser returns from `navigator.credentials`, signed with ES256. */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'

const USER_PRESENT = 0x01
const USER_VERIFIED = 0x04
const HAS_CREDENTIAL = 0x40

export interface TestAuthenticator {
  id: string
  create(options: PublicKeyCredentialCreationOptionsJSON): RegistrationResponseJSON
  get(options: PublicKeyCredentialRequestOptionsJSON): AuthenticationResponseJSON
  /** The counter of the next use; 0 stays 0, as with synchronized passkeys. */
  counter: number
  /** Whether the user shows a finger or types a PIN. */
  verifiesUser: boolean
}

export function testAuthenticator({ origin }: { origin: string }): TestAuthenticator {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const rawId = randomBytes(32)
  const id = rawId.toString('base64url')

  const clientData = (type: string, challenge: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))

  function authenticatorData(rpId: string, credential: Uint8Array = Buffer.alloc(0)): Buffer {
    const flags =
      USER_PRESENT |
      (authenticator.verifiesUser ? USER_VERIFIED : 0) |
      (credential.length > 0 ? HAS_CREDENTIAL : 0)
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(authenticator.counter)
    return Buffer.concat([sha256(rpId), Buffer.of(flags), counter, credential])
  }

  const authenticator: TestAuthenticator = {
    id,
    counter: 1,
    verifiesUser: true,

    create({ challenge, rp }) {
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
      // COSE: an elliptic curve key for ES256 on P-256.
      const key = cborMap([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, 'base64url')],
        [-3, Buffer.from(y, 'base64url')],
      ])
      const length = Buffer.of(0, rawId.length)
      const authData = authenticatorData(
        rp.id ?? '',
        Buffer.concat([Buffer.alloc(16), length, rawId, key]),
      )
      const attestationObject = cborMap([
        ['fmt', 'none'],
        ['attStmt', { encoded: cborMap([]) }],
        ['authData', authData],
      ])
      return {
        id,
        rawId: id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: clientData('webauthn.create', challenge).toString('base64url'),
          attestationObject: attestationObject.toString('base64url'),
          transports: ['internal'],
        },
      }
    },

    get({ challenge, rpId = '' }) {
      if (authenticator.counter > 0) authenticator.counter += 1
      const data = authenticatorData(rpId)
      const client = clientData('webauthn.get', challenge)
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey)
      return {
        id,
        rawId: id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: signature.toString('base64url'),
        },
      }
    },
  }
  return authenticator
}

function sha256(data: string | Uint8Array): Buffer {
  return createHash('sha256').update(data).digest()
}

type CborValue = number | string | Uint8Array | { encoded: Buffer }

/** As much of CBOR (RFC 8949) as WebAuthn needs. */
function cborMap(entries: readonly (readonly [number | string, CborValue])[]): Buffer {
  const parts = entries.flatMap(([key, value]) => [cbor(key), cbor(value)])
  return Buffer.concat([cborHead(5, entries.length), ...parts])
}

function cbor(value: CborValue): Buffer {
  if (typeof value === 'number') return value >= 0 ? cborHead(0, value) : cborHead(1, -1 - value)
  if (typeof value === 'string')
    return Buffer.concat([cborHead(3, Buffer.byteLength(value)), Buffer.from(value)])
  if ('encoded' in value) return value.encoded
  return Buffer.concat([cborHead(2, value.length), value])
}

function cborHead(type: number, length: number): Buffer {
  if (length < 24) return Buffer.of((type << 5) | length)
  if (length < 256) return Buffer.of((type << 5) | 24, length)
  return Buffer.of((type << 5) | 25, length >> 8, length & 0xff)
}
