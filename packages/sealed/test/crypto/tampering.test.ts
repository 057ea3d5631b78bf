import { createCipheriv } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Content } from '../../src/crypto/content.ts'
import { SealedError } from '../../src/crypto/errors.ts'
import { deriveKeys } from '../../src/crypto/keys.ts'
import { parseTarget, trimPastedLink } from '../../src/crypto/link.ts'
import { pad } from '../../src/crypto/padding.ts'
import { openContent } from '../../src/crypto/seal.ts'
import { secretNamed } from './vectors.ts'

const vector = secretNamed('a password with the newline of echo')
const { id } = vector
const { fragment, body } = vector.expected
const { ciphertext = '', iv } = body

const right = { target: `${id}:${fragment}`, ciphertext, iv }

/** Opens a secret from a link and a response, as a reader does. */
async function open(sealed: typeof right): Promise<Content> {
  const link = sealed.target === right.target ? await rightLink : await linkOf(sealed.target)
  return openContent(link.keys, { ...sealed, id: link.id })
}

async function linkOf(text: string) {
  const target = parseTarget(trimPastedLink(text))
  if (target.kind !== 'secret') throw new SealedError('not_secret_link')
  return { id: target.id, keys: await deriveKeys(target.fragment, 'a passphrase') }
}

/** Cached, because most tests change only the response and not the link. */
const rightLink = linkOf(right.target)

/** Every way to change one bit. */
function* flips(bytes: Buffer): Generator<Buffer> {
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes)
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    yield changed
  }
}

const inBase64 = (text: string) => flips(Buffer.from(text, 'base64'))
const inText = (text: string) => flips(Buffer.from(text, 'latin1'))

/** Those that open although they were changed, or fail with anything but a reason. */
async function survivors(changed: readonly (typeof right)[]): Promise<(typeof right)[]> {
  const outcomes = await Promise.allSettled(changed.map(open))
  return changed.filter((_, at) => {
    const outcome = outcomes[at]
    return outcome?.status !== 'rejected' || !(outcome.reason instanceof SealedError)
  })
}

test('opens as it is', async () => {
  expect(await open(right)).toBe('hunter2\n')
})

test('no single bit of the ciphertext can be changed', async () => {
  const changed = [...inBase64(ciphertext)].map((bytes) => ({
    ...right,
    ciphertext: bytes.toString('base64'),
  }))
  expect(changed).toHaveLength(272 * 8)
  expect(await survivors(changed)).toEqual([])
})

test('no single bit of the iv can be changed', async () => {
  expect(
    await survivors([...inBase64(iv)].map((bytes) => ({ ...right, iv: bytes.toString('base64') }))),
  ).toEqual([])
})

test('no single bit of version, flags and key can be changed', async () => {
  const changed = [...inBase64(fragment)].map((bytes) => bytes.toString('base64url'))
  expect(changed).toHaveLength(34 * 8)
  expect(await survivors(changed.map((each) => ({ ...right, target: `${id}:${each}` })))).toEqual(
    [],
  )
})

test('no single bit of the id can be changed', async () => {
  const changed = [...inBase64(id)].map((bytes) => bytes.toString('base64url'))
  expect(changed).toHaveLength(128)
  expect(
    await survivors(changed.map((each) => ({ ...right, target: `${each}:${fragment}` }))),
  ).toEqual([])
})

test('no single bit of the text of the link, the ciphertext or the iv can be changed', async () => {
  for (const name of ['target', 'ciphertext', 'iv'] as const) {
    const changed = [...inText(right[name])].map((bytes) => bytes.toString('latin1'))
    expect(await survivors(changed.map((each) => ({ ...right, [name]: each })))).toEqual([])
  }
})

test('nothing can be removed or added', async () => {
  const bytes = Buffer.from(ciphertext, 'base64')
  const others = [
    Buffer.alloc(0),
    bytes.subarray(1),
    bytes.subarray(0, -1),
    bytes.subarray(0, 16),
    Buffer.concat([bytes, Buffer.of(0)]),
  ]
  expect(
    await survivors(others.map((each) => ({ ...right, ciphertext: each.toString('base64') }))),
  ).toEqual([])
})

test('a sealed ciphertext that is not text is refused like a changed one', async () => {
  const target = parseTarget(right.target)
  if (target.kind !== 'secret') throw new Error('The vector opens no secret')
  const { enc, header } = await deriveKeys(target.fragment)
  const cipher = createCipheriv('aes-256-gcm', enc, Buffer.from(iv, 'base64'))
  cipher.setAAD(Buffer.concat([Buffer.from('sealed/1'), header, Buffer.from(id)]))
  const sealed = [cipher.update(pad(Buffer.of(0xff, 0xfe))), cipher.final(), cipher.getAuthTag()]
  const noText = { ...right, ciphertext: Buffer.concat(sealed).toString('base64') }
  await expect(open(noText)).rejects.toMatchObject({ name: 'SealedError', code: 'cannot_open' })
})
