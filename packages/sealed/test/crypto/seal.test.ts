import { describe, expect, test } from 'vitest'
import { contentBytes } from '../../src/crypto/content.ts'
import { formatFragment } from '../../src/crypto/fragment.ts'
import { deriveKeys } from '../../src/crypto/keys.ts'
import { MAX_CONTENT_BYTES } from '../../src/crypto/padding.ts'
import { newClaim, openContent, sealContent } from '../../src/crypto/seal.ts'

const id = 'qbfk9EIRpnNPxOxc0C5C1Q'

async function roundTrip(text: string, passphrase?: string) {
  const { fragment, body } = await sealContent({ id, content: text, passphrase })
  return openContent(await deriveKeys(fragment, passphrase), { id, ...body })
}

describe('a sealed text', () => {
  test.each([
    ' ',
    '\n',
    '\r\n',
    '\u0000',
    '\ufeffmark',
    ' a\t\r\n b \n\n',
    '👩‍👩‍👧‍👦',
    '\u{10ffff}',
    'e\u0301 stays as it was composed',
    '{"json": "<b>&amp;</b>"}',
    'x'.repeat(MAX_CONTENT_BYTES),
  ])('comes out exactly as it went in', async (text) => {
    expect(await roundTrip(text)).toBe(text)
  })

  test('is never the same twice, and neither is its link or claim', async () => {
    const [one, two] = [
      await sealContent({ id, content: 'x' }),
      await sealContent({ id, content: 'x' }),
    ]
    expect(one.body.ciphertext).not.toBe(two.body.ciphertext)
    expect(one.body.iv).not.toBe(two.body.iv)
    expect(formatFragment(one.fragment)).not.toBe(formatFragment(two.fragment))
    expect(newClaim()).not.toBe(newClaim())
    expect(newClaim()).toMatch(/^[0-9a-f]{32}$/)
  })

  test('has one of five lengths, whatever is in it', async () => {
    const lengths = new Set<number>()
    for (const size of [1, 7, 252, 253, 1020, 1021, 4092, 4093, 9000, 16_380, 16_381, 51_200]) {
      lengths.add((await sealContent({ id, content: 'x'.repeat(size) })).ciphertext.length)
    }
    expect([...lengths]).toEqual([272, 1040, 4112, 16_400, 51_220])
  })

  test('does not open with another passphrase, with none, or with one more', async () => {
    const { fragment, body } = await sealContent({ id, content: 'x', passphrase: 'right' })
    const sealed = { id, ...body }
    const wrong = await deriveKeys(fragment, 'wrong')
    await expect(openContent(wrong, sealed)).rejects.toMatchObject({ code: 'cannot_open' })
    await expect(deriveKeys(fragment)).rejects.toMatchObject({ code: 'passphrase_needed' })
    const unprotected = await deriveKeys({ ...fragment, passphraseProtected: false })
    await expect(openContent(unprotected, sealed)).rejects.toMatchObject({ code: 'cannot_open' })
    const plain = await sealContent({ id, content: 'x' })
    const added = await deriveKeys({ ...plain.fragment, passphraseProtected: true }, 'right')
    await expect(openContent(added, { id, ...plain.body })).rejects.toMatchObject({
      code: 'cannot_open',
    })
  })

  test('ignores a passphrase that it does not need', async () => {
    const { fragment, body } = await sealContent({ id, content: 'x' })
    expect(await openContent(await deriveKeys(fragment, 'unasked'), { id, ...body })).toBe('x')
  })
})

describe('a text that cannot be sealed is refused with a reason', () => {
  test.each([
    ['', 'text_empty'],
    ['half \ud83d of a character', 'text_malformed'],
    ['\udc00', 'text_malformed'],
    ['x'.repeat(MAX_CONTENT_BYTES + 1), 'text_too_long'],
    // 51,200 characters, but more bytes.
    [`${'x'.repeat(MAX_CONTENT_BYTES - 1)}é`, 'text_too_long'],
  ])('a text', async (text, code) => {
    await expect(sealContent({ id, content: text })).rejects.toMatchObject({
      name: 'SealedError',
      code,
    })
    expect(() => contentBytes(text)).toThrow(expect.objectContaining({ code }))
  })

  test.each([
    ['', 'passphrase_empty'],
    ['\ud83d', 'passphrase_malformed'],
  ])('a passphrase', async (passphrase, code) => {
    await expect(sealContent({ id, content: 'x', passphrase })).rejects.toMatchObject({ code })
  })
})
