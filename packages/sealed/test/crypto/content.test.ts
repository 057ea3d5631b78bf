import { createCipheriv } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { FileContent } from '../../src/crypto/content.ts'
import { deriveKeys } from '../../src/crypto/keys.ts'
import { MAX_CONTENT_BYTES, pad } from '../../src/crypto/padding.ts'
import { openContent, sealContent } from '../../src/crypto/seal.ts'

const id = 'qbfk9EIRpnNPxOxc0C5C1Q'
const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte)

async function roundTrip(content: FileContent, passphrase?: string) {
  const { fragment, body } = await sealContent({ id, content, passphrase })
  return openContent(await deriveKeys(fragment, passphrase), { id, ...body })
}

/** Seals bytes that no client of this version creates. */
async function openForeign(plaintext: Buffer) {
  const fragment = { passphraseProtected: false, isFile: true, linkKey: new Uint8Array(32) }
  const keys = await deriveKeys(fragment)
  const iv = Buffer.alloc(12)
  const cipher = createCipheriv('aes-256-gcm', keys.enc, iv)
  cipher.setAAD(Buffer.concat([Buffer.from('sealed/1'), keys.header, Buffer.from(id)]))
  const parts = [cipher.update(pad(plaintext)), cipher.final(), cipher.getAuthTag()]
  const ciphertext = Buffer.concat(parts).toString('base64')
  return openContent(keys, { id, ciphertext, iv: iv.toString('base64') })
}

function plaintextOf(name: string | Buffer, mediaType: string, bytes = 'x'): Buffer {
  const parts = [Buffer.from(name), Buffer.from(mediaType)]
  return Buffer.concat([
    ...parts.flatMap((part) => [Buffer.of(part.length), part]),
    Buffer.from(bytes),
  ])
}

describe('a sealed file', () => {
  test.each([
    { name: 'key.bin', mediaType: '', bytes: everyByte },
    { name: '.env', mediaType: 'text/plain', bytes: Uint8Array.of(0xff, 0xfe) },
    { name: 'empty', mediaType: 'application/x-pem-file', bytes: new Uint8Array() },
  ])('comes out with its name, media type and every byte: $name', async (file) => {
    expect(await roundTrip(file)).toEqual(file)
    expect(await roundTrip(file, 'a passphrase')).toEqual(file)
  })

  test('and its name and media type have at most 51,200 bytes together', async () => {
    const file = { name: 'four', mediaType: 'a/b', bytes: new Uint8Array(MAX_CONTENT_BYTES - 9) }
    expect(await roundTrip(file)).toEqual(file)
    const larger = { ...file, bytes: new Uint8Array(MAX_CONTENT_BYTES - 8) }
    await expect(roundTrip(larger)).rejects.toMatchObject({ code: 'file_too_large' })
  })

  test('hides the length of its name', async () => {
    const sizes = await Promise.all(
      ['a', 'n'.repeat(200)].map(async (name) => {
        const content = { name, mediaType: '', bytes: Uint8Array.of(1) }
        return (await sealContent({ id, content })).ciphertext.length
      }),
    )
    expect(sizes).toEqual([272, 272])
  })

  test('does not open as a text, and a text does not open as a file', async () => {
    const file = await sealContent({ id, content: { name: 'a', mediaType: '', bytes: everyByte } })
    const asText = await deriveKeys({ ...file.fragment, isFile: false })
    const refused = { code: 'cannot_open' }
    await expect(openContent(asText, { id, ...file.body })).rejects.toMatchObject(refused)
    const text = await sealContent({ id, content: '\u0001a\u0000x' })
    const asFile = await deriveKeys({ ...text.fragment, isFile: true })
    await expect(openContent(asFile, { id, ...text.body })).rejects.toMatchObject(refused)
  })

  test.each([
    ['../../x', '.._.._x'],
    ['a\u202egnp.exe', 'a_gnp.exe'],
    ['a\u0007b', 'a_b'],
    ['', 'file'],
    [Buffer.of(0x61, 0xff), 'a\ufffd'],
    [Buffer.alloc(255, 'n'), 'n'.repeat(255)],
  ])('of another program gets a safe name', async (name, expected) => {
    expect(await openForeign(plaintextOf(name, 'Text/HTML; x=<b>'))).toEqual({
      name: expected,
      mediaType: '',
      bytes: Uint8Array.of(0x78),
    })
  })

  test.each([
    ['no name', Buffer.alloc(0)],
    ['less than its name', Buffer.of(5, 0x61)],
    ['no media type', Buffer.of(1, 0x61)],
    ['less than its media type', Buffer.of(1, 0x61, 9, 0x62)],
  ])('with %s is refused like a changed one', async (_, plaintext) => {
    await expect(openForeign(plaintext)).rejects.toMatchObject({ code: 'cannot_open' })
  })
})
