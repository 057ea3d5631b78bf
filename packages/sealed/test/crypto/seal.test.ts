import { describe, expect, test } from 'vitest'
import { formatFragment } from '../../src/crypto/fragment.ts'
import { deriveKeys } from '../../src/crypto/keys.ts'
import { MAX_TEXT_BYTES } from '../../src/crypto/padding.ts'
import { newClaim, openText, sealText, textBytes } from '../../src/crypto/seal.ts'

const id = 'qbfk9EIRpnNPxOxc0C5C1Q'

async function roundTrip(text: string, passphrase?: string) {
  const { fragment, body } = await sealText({ id, text, passphrase })
  return openText(await deriveKeys(fragment, passphrase), { id, ...body })
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
    'x'.repeat(MAX_TEXT_BYTES),
  ])('comes out exactly as it went in', async (text) => {
    expect(await roundTrip(text)).toBe(text)
  })

  test('is never the same twice, and neither is its link or claim', async () => {
    const [one, two] = [await sealText({ id, text: 'x' }), await sealText({ id, text: 'x' })]
    expect(one.body.ciphertext).not.toBe(two.body.ciphertext)
    expect(one.body.iv).not.toBe(two.body.iv)
    expect(formatFragment(one.fragment)).not.toBe(formatFragment(two.fragment))
    expect(newClaim()).not.toBe(newClaim())
    expect(newClaim()).toMatch(/^[0-9a-f]{32}$/)
  })

  test('has one of five lengths, whatever is in it', async () => {
    const lengths = new Set<number>()
    for (const size of [1, 7, 252, 253, 1020, 1021, 4092, 4093, 9000, 16_380, 16_381, 51_200]) {
      lengths.add((await sealText({ id, text: 'x'.repeat(size) })).ciphertext.length)
    }
    expect([...lengths]).toEqual([272, 1040, 4112, 16_400, 51_220])
  })

  test('does not open with another passphrase, with none, or with one more', async () => {
    const { fragment, body } = await sealText({ id, text: 'x', passphrase: 'right' })
    const sealed = { id, ...body }
    const wrong = await deriveKeys(fragment, 'wrong')
    await expect(openText(wrong, sealed)).rejects.toMatchObject({ code: 'cannot_open' })
    await expect(deriveKeys(fragment)).rejects.toMatchObject({ code: 'passphrase_needed' })
    const unprotected = await deriveKeys({ ...fragment, passphraseProtected: false })
    await expect(openText(unprotected, sealed)).rejects.toMatchObject({ code: 'cannot_open' })
    const plain = await sealText({ id, text: 'x' })
    const added = await deriveKeys({ ...plain.fragment, passphraseProtected: true }, 'right')
    await expect(openText(added, { id, ...plain.body })).rejects.toMatchObject({
      code: 'cannot_open',
    })
  })

  test('ignores a passphrase that it does not need', async () => {
    const { fragment, body } = await sealText({ id, text: 'x' })
    expect(await openText(await deriveKeys(fragment, 'unasked'), { id, ...body })).toBe('x')
  })
})

describe('a text that cannot be sealed is refused with a reason', () => {
  test.each([
    ['', 'text_empty'],
    ['half \ud83d of a character', 'text_malformed'],
    ['\udc00', 'text_malformed'],
    ['x'.repeat(MAX_TEXT_BYTES + 1), 'text_too_long'],
    // 51,200 characters, but more bytes.
    [`${'x'.repeat(MAX_TEXT_BYTES - 1)}é`, 'text_too_long'],
  ])('a text', async (text, code) => {
    await expect(sealText({ id, text })).rejects.toMatchObject({ name: 'SealedError', code })
    expect(() => textBytes(text)).toThrow(expect.objectContaining({ code }))
  })

  test.each([
    ['', 'passphrase_empty'],
    ['\ud83d', 'passphrase_malformed'],
  ])('a passphrase', async (passphrase, code) => {
    await expect(sealText({ id, text: 'x', passphrase })).rejects.toMatchObject({ code })
  })
})
