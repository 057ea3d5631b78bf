import { randomBytes, randomUUID } from 'node:crypto'
import {
  AlgorithmSuiteIdentifier as Suite,
  buildClient,
  CommitmentPolicy,
  KmsHierarchicalKeyRingNode,
  MultiKeyringNode,
} from '@aws-crypto/client-node'
import { describe, expect, test } from 'vitest'
import { branchKeyIdOf, type EnvelopeContext } from '../../src/envelope/place.ts'
import { awsBranchKeyCache } from '../../src/aws/keyring-cache.ts'
import { interopCorners, openInterop } from './open-interop.ts'

const { encrypt, decrypt } = buildClient(CommitmentPolicy.REQUIRE_ENCRYPT_REQUIRE_DECRYPT)
const lenient = buildClient(CommitmentPolicy.FORBID_ENCRYPT_ALLOW_DECRYPT)
/** What our messages are: committing, and not signed. */
const suiteId = Suite.ALG_AES256_GCM_IV12_TAG16_HKDF_SHA512_COMMIT_KEY
const unreadable = { name: 'EnvelopeUnreadable' }

/** One frame of AWS's is 4096 bytes. */
const lengths = [0, 1024, 4096, 4097, 10_000]
const places: EnvelopeContext[] = [
  { service: 'ferryhook', tenant: 'user_1', entity: 'src_1', attribute: 'signingSecret' },
  { service: 'two-key', tenant: 'T 🔑 ключ', entity: 'Ａ/é/\u0000', attribute: 'бот 🤖' },
]

describe.each(interopCorners())('sealed messages on $name', (where) => {
  const opened = openInterop(where)

  function keyringFor(place: EnvelopeContext) {
    return new KmsHierarchicalKeyRingNode({
      branchKeyId: branchKeyIdOf(place),
      keyStore: opened.theirs,
      cache: awsBranchKeyCache(),
      cacheLimitTtl: 600,
      utf8Sorting: true,
    })
  }

  /** What AWS's client makes of it. */
  async function sealedByAws(
    plaintext: Uint8Array,
    place: EnvelopeContext,
    options: { suiteId?: Suite; frameLength?: number } = {},
  ): Promise<Uint8Array> {
    // Makes the branch key.
    await opened.envelope.seal(plaintext, place)
    const encryptionContext = { ...place }
    const given = { suiteId, encryptionContext, ...options }
    return (await encrypt(keyringFor(place), plaintext, given)).result
  }

  test.each(places)('that we sealed for $tenant, AWS opens, with its context', async (place) => {
    for (const length of lengths) {
      const plaintext = randomBytes(length)
      const sealed = await opened.envelope.seal(plaintext, place)
      const { plaintext: found, messageHeader } = await decrypt(keyringFor(place), sealed)
      expect(found.equals(plaintext)).toBe(true)
      expect({ ...messageHeader.encryptionContext }).toEqual(place)
    }
  })

  test.each(places)('that AWS sealed for $tenant, we open, in one frame or many', async (place) => {
    for (const length of lengths) {
      const plaintext = randomBytes(length)
      const found = await opened.envelope.open(await sealedByAws(plaintext, place), place)
      expect(plaintext.equals(found)).toBe(true)
    }
  })

  test('open for both after rotations by either', async () => {
    const { envelope, ours, theirs } = opened
    const place = { ...places[0], tenant: randomUUID() } as EnvelopeContext
    const branchKeyIdentifier = branchKeyIdOf(place)
    const plaintext = randomBytes(100)
    const sealed = [await envelope.seal(plaintext, place)]
    for (const rotator of [theirs, ours]) {
      await rotator.versionKey({ branchKeyIdentifier })
      sealed.push(await sealedByAws(plaintext, place))
    }
    for (const each of sealed) {
      expect(plaintext.equals(await envelope.open(each, place))).toBe(true)
      expect((await decrypt(keyringFor(place), each)).plaintext.equals(plaintext)).toBe(true)
    }
  })

  test('that AWS sealed do not open at another place', async () => {
    const [place, other] = places as [EnvelopeContext, EnvelopeContext]
    const sealed = await sealedByAws(randomBytes(10), place)
    for (const name of ['service', 'tenant', 'entity', 'attribute'] as const) {
      const elsewhere = { ...place, [name]: other[name] }
      await expect(opened.envelope.open(sealed, elsewhere)).rejects.toMatchObject(unreadable)
    }
  })

  test('whose frames are exchanged, dropped or repeated do not open', async () => {
    const [place] = places as [EnvelopeContext]
    const sealed = await sealedByAws(randomBytes(30), place, { frameLength: 10 })
    // Three full frames and an empty last one.
    const [full, last] = [4 + 12 + 10 + 16, 4 + 4 + 12 + 4 + 16]
    const at = sealed.length - last - 3 * full
    const header = sealed.subarray(0, at)
    const [one, two, three] = [0, 1, 2].map((each) =>
      sealed.subarray(at + each * full, at + (each + 1) * full),
    ) as [Uint8Array, Uint8Array, Uint8Array]
    const end = sealed.subarray(-last)
    const wrong = [
      [two, one, three, end],
      [one, three, end],
      [one, two, three],
      [one, two, two, three, end],
      [one, two, three, end, end],
      [end],
      [],
    ]
    for (const frames of wrong) {
      const changed = Buffer.concat([header, ...frames])
      await expect(opened.envelope.open(changed, place)).rejects.toMatchObject(unreadable)
    }
    const whole = Buffer.concat([header, one, two, three, end])
    expect(await opened.envelope.open(whole, place)).toHaveLength(30)
  })

  test('of other suites, or with further data keys, do not open', async () => {
    const [place] = places as [EnvelopeContext]
    const encryptionContext = { ...place }
    const signed = await sealedByAws(randomBytes(10), place, {
      suiteId: Suite.ALG_AES256_GCM_IV12_TAG16_HKDF_SHA512_COMMIT_KEY_ECDSA_P384,
    })
    const keyring = keyringFor(place)
    const uncommitted = await lenient.encrypt(keyring, randomBytes(10), { encryptionContext })
    const twice = new MultiKeyringNode({ generator: keyring, children: [keyring] })
    const many = await encrypt(twice, randomBytes(10), { suiteId, encryptionContext })
    for (const sealed of [signed, uncommitted.result, many.result]) {
      await expect(opened.envelope.open(sealed, place)).rejects.toMatchObject(unreadable)
    }
  })
})
