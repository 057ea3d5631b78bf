import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type EnvelopeContext, placeOf } from '../../src/envelope/place.ts'
import { createEnvelope } from '../../src/envelope/envelope.ts'
import { wrapDataKey } from '../../src/envelope/edk.ts'
import { headerTag, writeOnlyFrame } from '../../src/envelope/frames.ts'
import { type Header, writeHeader } from '../../src/envelope/header.ts'
import { messageKeys } from '../../src/envelope/message-keys.ts'
import { branchKeysInMemory } from '../support/branch-keys-in-memory.ts'

const place: EnvelopeContext = {
  service: 'ferryhook',
  tenant: 'user_1',
  entity: 'src_1',
  attribute: 'signingSecret',
}
const plaintext = new TextEncoder().encode('whsec')
const unreadable = { name: 'EnvelopeUnreadable' }

/** For thousands of tries, of each of which an assertion would cost more than the try. */
const outcomeOf = (opening: Promise<unknown>) =>
  opening.then(
    () => 'opened',
    (error: Error) => error.name,
  )

describe('a sealed message', () => {
  const { branchKeys, keyStore, reads } = branchKeysInMemory()
  const envelope = createEnvelope({ keyStore, branchKeys })

  test('opens at any length, with any text in its context', async () => {
    const text = fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' })
    const tenant = fc.constantFrom('t1', 'a:b', 'ключ', '🔑')
    const lengths = fc.constantFrom(0, 1, 15, 16, 4095, 4096, 4097, 8192, 100_000)
    await fc.assert(
      fc.asyncProperty(tenant, text, text, lengths, async (whose, entity, attribute, length) => {
        const context = { service: 'two-key', tenant: whose, entity, attribute }
        const bytes = new Uint8Array(randomBytes(length))
        const opened = await envelope.open(await envelope.seal(bytes, context), context)
        expect(Buffer.compare(opened, bytes)).toBe(0)
      }),
    )
  })

  test('is of format version 2 and suite 0478, which services know by its beginning', async () => {
    const sealed = await envelope.seal(plaintext, place)
    expect(Buffer.from(sealed).toString('base64')).toMatch(/^AgR4/)
  })

  test('is another one each time, also of the same plaintext at the same place', async () => {
    const sealed = await Promise.all(
      Array.from({ length: 20 }, () => envelope.seal(plaintext, place)),
    )
    const texts = sealed.map((each) => Buffer.from(each).toString('latin1'))
    // Message id, wrapped data key and content: what is equal is the context and the version.
    expect(new Set(texts.map((text) => text.slice(3, 35))).size).toBe(20)
    expect(new Set(texts.map((text) => text.slice(-21))).size).toBe(20)
  })

  test('is refused after any change of any of its bits', async () => {
    const sealed = await envelope.seal(plaintext, place)
    const outcomes = new Set<string>()
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Uint8Array.from(sealed)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      outcomes.add(await outcomeOf(envelope.open(changed, place)))
    }
    expect([...outcomes]).toEqual(['EnvelopeUnreadable'])
    expect(await envelope.open(sealed, place)).toEqual(plaintext)
  })

  test('is refused when any of its end is missing, or anything follows', async () => {
    const sealed = await envelope.seal(plaintext, place)
    const outcomes = new Set<string>()
    for (let length = 0; length < sealed.length; length++) {
      outcomes.add(await outcomeOf(envelope.open(sealed.subarray(0, length), place)))
    }
    expect([...outcomes]).toEqual(['EnvelopeUnreadable'])
    const longer = new Uint8Array(sealed.length + 1)
    longer.set(sealed)
    await expect(envelope.open(longer, place)).rejects.toMatchObject(unreadable)
  })

  test('is rejected with a commitment to another data key or a wrong frame length, although all tags are right', async () => {
    await envelope.seal(plaintext, place)
    const bytes = placeOf(place)
    const materials = await branchKeys.getActiveBranchKey(bytes)
    const forged = (wrong: Partial<Header>) => {
      const [dataKey, messageId] = [randomBytes(32), randomBytes(32)]
      const edk = wrapDataKey(dataKey, materials, bytes, randomBytes(28))
      const { commitment, key } = messageKeys(dataKey, messageId)
      const right = { messageId, edk, frameLength: plaintext.length, commitment }
      const header = writeHeader(bytes, { ...right, ...wrong })
      const frame = writeOnlyFrame(key, messageId, plaintext)
      return Buffer.concat([header, headerTag(key, header), ...frame])
    }
    expect(await envelope.open(forged({}), place)).toEqual(plaintext)
    for (const wrong of [{ commitment: randomBytes(32) }, { frameLength: plaintext.length - 1 }]) {
      await expect(envelope.open(forged(wrong), place)).rejects.toMatchObject(unreadable)
    }
  })

  test('is refused when it never was one', async () => {
    const notOurs = [randomBytes(500), Buffer.alloc(0), Buffer.from('whsec_plain'), 'AgR4', null]
    for (const sealed of notOurs) {
      await expect(envelope.open(sealed as Uint8Array, place)).rejects.toMatchObject(unreadable)
    }
  })

  test('does not open at another place, and no key is read for it', async () => {
    const sealed = await envelope.seal(plaintext, place)
    const before = reads.length
    for (const name of ['service', 'tenant', 'entity', 'attribute'] as const) {
      const elsewhere = { ...place, [name]: `${place[name]}x` }
      await expect(envelope.open(sealed, elsewhere), name).rejects.toMatchObject(unreadable)
    }
    const shifted = { ...place, entity: 'src_', attribute: '1signingSecret' }
    await expect(envelope.open(sealed, shifted)).rejects.toMatchObject(unreadable)
    expect(reads).toHaveLength(before)
  })

  test('may be a part of a larger buffer', async () => {
    const sealed = await envelope.seal(plaintext.subarray(1, 4), place)
    const inside = new Uint8Array(sealed.length + 20)
    inside.set(sealed, 7)
    const opened = await envelope.open(inside.subarray(7, 7 + sealed.length), place)
    expect(opened).toEqual(plaintext.slice(1, 4))
  })

  test('shares no memory with anything else', async () => {
    const sealed = await envelope.seal(plaintext, place)
    const opened = await envelope.open(sealed, place)
    for (const bytes of [sealed, opened]) expect(bytes.buffer.byteLength).toBe(bytes.length)
  })
})

describe('what cannot be sealed', () => {
  const { branchKeys, keyStore, reads } = branchKeysInMemory()
  const envelope = createEnvelope({ keyStore, branchKeys })

  test.each<[wrong: Partial<Record<keyof EnvelopeContext, unknown>>, message: string]>([
    [{ entity: '' }, 'entity must be a text that is not empty'],
    [{ attribute: undefined }, 'attribute must be a text that is not empty'],
    [{ tenant: 17 }, 'tenant must be a text that is not empty'],
    // Would share branch keys with a service of another name.
    [{ service: 'a:b' }, 'service must not contain a colon'],
    // Would be the same place as another half of a character.
    [{ entity: 'x\ud83d' }, 'entity must be well-formed Unicode'],
    [{ entity: 'é'.repeat(1025) }, 'entity must have at most 2048 bytes'],
    [{ tenant: 'x'.repeat(2048) }, 'service and tenant are too long together'],
  ])('a place with %j is refused before any key is read', async (wrong, message) => {
    const context = { ...place, ...wrong } as EnvelopeContext
    const refusal = { name: 'InvalidEnvelopeContext', message: `Invalid place: ${message}` }
    await expect(envelope.seal(plaintext, context)).rejects.toMatchObject(refusal)
    await expect(envelope.open(plaintext, context)).rejects.toMatchObject(refusal)
    expect(reads).toEqual([])
  })

  test('text in place of bytes, and more than 16 MiB', async () => {
    await expect(envelope.seal('text' as never, place)).rejects.toThrow(TypeError)
    const long = new Uint8Array(16 * 1024 * 1024 + 1)
    await expect(envelope.seal(long, place)).rejects.toMatchObject({ name: 'PlaintextTooLong' })
    expect(reads).toEqual([])
  })
})
