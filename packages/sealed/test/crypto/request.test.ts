import { createCipheriv } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Content } from '../../src/crypto/content.ts'
import { SealedError } from '../../src/crypto/errors.ts'
import {
  formatTarget,
  type OwnTarget,
  parseTarget,
  type RequestTarget,
} from '../../src/crypto/link.ts'
import { isPoint } from '../../src/crypto/p256.ts'
import {
  deriveOwnKeys,
  fingerprint,
  newOwnFragment,
  openRequested,
  sealForRequest,
} from '../../src/crypto/request.ts'
import { revealProof } from '../../src/crypto/seal.ts'
import { type ReferenceFile, requestByReference } from './reference.ts'
import { points, requests } from './vectors.ts'

const fromHex = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'))

function contentOf(content: string | ReferenceFile | undefined): Content {
  if (content === undefined) throw new Error('The vector has no content')
  return typeof content === 'string' ? content : { ...content, bytes: fromHex(content.bytes) }
}

function own(text: string): OwnTarget {
  const target = parseTarget(text)
  if (target.kind !== 'own') throw new Error('Not an own link')
  return target
}

function request(text: string): RequestTarget {
  const target = parseTarget(text)
  if (target.kind !== 'request') throw new Error('Not a request link')
  return target
}

/** A sender's pair of a vector, as WebCrypto has it. */
async function pairOf(privateKey: string, point: Uint8Array) {
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    x: text(point.subarray(1, 33)),
    y: text(point.subarray(33, 65)),
  }
  const algorithm = { name: 'ECDH', namedCurve: 'P-256' }
  const d = text(fromHex(privateKey))
  return {
    privateKey: await crypto.subtle.importKey('jwk', { ...jwk, d }, algorithm, false, [
      'deriveBits',
    ]),
    publicKey: await crypto.subtle.importKey('jwk', jwk, algorithm, true, []),
  }
}

describe.each(requests)('the vector of a request: $name', (vector) => {
  const { id, expected } = vector
  const content = contentOf(vector.content)

  test('matches its links, proofs and fingerprint', async () => {
    expect(requestByReference({ ...vector, content: vector.content ?? '' })).toEqual(expected)
    expect(formatTarget(own(expected.own))).toBe(expected.own)
    expect(formatTarget(request(expected.request))).toBe(expected.request)
    const keys = await deriveOwnKeys(own(expected.own).fragment)
    expect(revealProof(keys)).toEqual({ link: expected.link, proof: expected.proof })
    expect(await fingerprint(request(expected.request))).toBe(expected.fingerprint)
  })

  test('matches what is sealed, and is opened', async () => {
    const ephemeral = Buffer.from(expected.body.ciphertext, 'base64').subarray(0, 65)
    const pair = await pairOf(vector.ephemeralKey, ephemeral)
    const { fragment } = request(expected.request)
    const sealed = await sealForRequest({ id, fragment, content }, { pair, iv: fromHex(vector.iv) })
    expect(sealed.body).toEqual(expected.body)
    expect(Buffer.from(sealed.ciphertext).toString('base64')).toBe(sealed.body.ciphertext)
    const opened = await openRequested(own(expected.own).fragment, { id, ...expected.body })
    expect(opened).toEqual(content)
  })
})

describe('a secret in a request', () => {
  const id = 'qbfk9EIRpnNPxOxc0C5C1Q'
  const file = { name: 'a.key', mediaType: '', bytes: Uint8Array.of(0, 255) }

  test.each<[string, Content]>([
    ['a text', 'hunter2\n'],
    ['a file', file],
    ['the largest text', 'x'.repeat(51_200)],
  ])('comes out as it went in: %s', async (_, content) => {
    const fragment = await newOwnFragment()
    const { body } = await sealForRequest({ id, fragment, content })
    expect(await openRequested(fragment, { id, ...body })).toEqual(content)
  })

  test('is not opened by the request link, nor by the own link of another request', async () => {
    const [one, two] = [await newOwnFragment(), await newOwnFragment()]
    const { body } = await sealForRequest({ id, fragment: one, content: 'x' })
    const refused = { code: 'cannot_open' }
    const holders = [
      two,
      { ...two, publicKey: one.publicKey },
      { ...one, privateKey: two.privateKey },
    ]
    for (const fragment of holders) {
      await expect(openRequested(fragment, { id, ...body })).rejects.toMatchObject(refused)
    }
    // All that the request link has besides its token.
    const { privateKey: _, ...known } = one
    expect(Object.keys(known).toSorted()).toEqual(['acceptsFiles', 'publicKey'])
  })

  test('hides whether it is a text or a file, and is never the same twice', async () => {
    const fragment = await newOwnFragment()
    const sealed = await Promise.all(
      ['x', file, 'x'].map((content) => sealForRequest({ id, fragment, content })),
    )
    expect(sealed.map(({ ciphertext }) => ciphertext.length)).toEqual([337, 337, 337])
    expect(new Set(sealed.map(({ body }) => body.ciphertext.slice(0, 80))).size).toBe(3)
  })

  test('no bit of point, ciphertext, iv, id or flags can be changed', async () => {
    const fragment = await newOwnFragment()
    const { body } = await sealForRequest({ id, fragment, content: 'x' })
    const flipped = (text: string) => {
      const bytes = Buffer.from(text, 'base64')
      return Array.from({ length: bytes.length * 8 }, (_, bit) => {
        const changed = Buffer.from(bytes)
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        return changed.toString('base64')
      })
    }
    const changed = [
      ...flipped(body.ciphertext).map((ciphertext) => ({ ...body, id, ciphertext })),
      ...flipped(body.iv).map((iv) => ({ ...body, id, iv })),
      { ...body, id: 'rbfk9EIRpnNPxOxc0C5C1Q' },
      { ...body, id, ciphertext: '' },
    ]
    const outcomes = await Promise.allSettled(changed.map((each) => openRequested(fragment, each)))
    const opened = outcomes.filter(
      (each) => each.status === 'fulfilled' || !(each.reason instanceof SealedError),
    )
    expect(opened).toEqual([])
    const textsOnly = { ...fragment, acceptsFiles: false }
    await expect(openRequested(textsOnly, { id, ...body })).rejects.toMatchObject({
      code: 'cannot_open',
    })
  })

  test('that is a file is refused where the request accepts texts only', async () => {
    const fragment = { ...(await newOwnFragment()), acceptsFiles: false }
    await expect(sealForRequest({ id, fragment, content: file })).rejects.toMatchObject({
      code: 'file_not_accepted',
    })
  })

  test.each([
    ['a file for a client that knows texts only', 2, false],
    ['an unknown flag', 1, true],
    ['another unknown flag', 128, true],
  ])('of another program is refused: %s', async (_, flags, acceptsFiles) => {
    const [vector] = requests
    const { fragment } = own(vector?.expected.own ?? '')
    // The same keys as the vector's, so that only the first byte of the padding differs.
    const header = Uint8Array.of(2, acceptsFiles ? 2 : 0)
    const bytes = Buffer.from(vector?.expected.body.ciphertext ?? '', 'base64')
    const ephemeral = new Uint8Array(bytes.subarray(0, 65))
    const enc = await sharedKey(fragment.privateKey, fragment.publicKey, ephemeral)
    const padded = Buffer.alloc(256)
    padded.set([flags, 0, 0, 3, 1, 0x61, 0])
    const iv = Buffer.alloc(12)
    const cipher = createCipheriv('aes-256-gcm', enc, iv)
    cipher.setAAD(Buffer.concat([Buffer.from('sealed/2'), header, Buffer.from(id)]))
    const parts = [ephemeral, cipher.update(padded), cipher.final(), cipher.getAuthTag()]
    const sealed = {
      id,
      ciphertext: Buffer.concat(parts).toString('base64'),
      iv: iv.toString('base64'),
    }
    const opened = openRequested({ ...fragment, acceptsFiles }, sealed)
    await expect(opened).rejects.toMatchObject({ code: 'cannot_open' })
  })
})

test.each(points)('a point of the curve is recognised: $name', ({ point, valid }) => {
  expect(isPoint(fromHex(point))).toBe(valid)
})

async function sharedKey(privateKey: Uint8Array, publicKey: Uint8Array, ephemeral: Uint8Array) {
  const { createECDH, hkdfSync } = await import('node:crypto')
  const ecdh = createECDH('prime256v1')
  ecdh.setPrivateKey(privateKey)
  const info = Buffer.concat([Buffer.from('sealed/2/enc'), ephemeral, publicKey])
  return Buffer.from(hkdfSync('sha256', ecdh.computeSecret(ephemeral), '', info, 32))
}
