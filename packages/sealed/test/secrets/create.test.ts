import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import type { RevealResponse } from '../../src/api.ts'
import { deriveKeys } from '../../src/crypto/keys.ts'
import { solveWork } from '../../src/crypto/proof-of-work.ts'
import { openContent, revealProof, sealContent } from '../../src/crypto/seal.ts'
import { openDb, startApp } from '../support/sealed-app.ts'
import {
  bodyOf,
  codeOf,
  createSecret,
  issueToken,
  newCiphertext,
  newClaim,
  newKeys,
  newSecretBody,
  postSecret,
  reveal,
} from '../support/sealed-client.ts'
import { rawItem } from '../support/secrets.ts'

const base64 = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64')
const base64url = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64url')
/** The same bytes with a bit set that belongs to none of them. */
const withStrayBit = (text: string) =>
  text.replace(/[A-Za-z0-9+/_-](=*)$/, (_, end: string) => `x${end}`)

const missing = [
  'ciphertext',
  'iv',
  'salt',
  'passphraseProtected',
  'linkHash',
  'proofHash',
  'ttlSeconds',
  'maxViews',
  'pow',
]

const wrong: [field: string, what: string, value: unknown][] = [
  ['ciphertext', 'is no text', 5],
  ['ciphertext', 'is empty', ''],
  ['ciphertext', 'has no padded size', base64(273)],
  ['ciphertext', 'is a byte short', base64(271)],
  ['ciphertext', 'is larger than the largest', base64(51_221)],
  ['ciphertext', 'is no base64', `!${base64(272).slice(1)}`],
  ['ciphertext', 'is base64url', base64(272).replaceAll('B', '_')],
  ['ciphertext', 'has a line end', `\n${base64(272).slice(1)}`],
  ['ciphertext', 'has stray bits', withStrayBit(base64(272))],
  ['iv', 'has 11 bytes', base64(11)],
  ['iv', 'has 13 bytes', base64(13)],
  ['iv', 'is base64url', '_'.repeat(16)],
  ['salt', 'has 15 bytes', base64(15)],
  ['salt', 'is there without a passphrase', base64(16)],
  ['passphraseProtected', 'is no truth value', 'false'],
  ['linkHash', 'has 31 bytes', base64url(31)],
  ['linkHash', 'is base64', base64(32)],
  ['linkHash', 'has stray bits', withStrayBit(base64url(32))],
  ['proofHash', 'has 33 bytes', base64url(33)],
  ['ttlSeconds', 'is a second too short', 899],
  ['ttlSeconds', 'is a second too long', 7_776_001],
  ['ttlSeconds', 'is no whole number', 900.5],
  ['ttlSeconds', 'is a text', '900'],
  ['maxViews', 'is 0', 0],
  ['maxViews', 'is 6', 6],
  ['maxViews', 'is no whole number', 1.5],
  ['receipt', 'is no truth value', 1],
  ['receipt', 'is null', null],
  ['pow', 'is a text', '0'],
  ['pow', 'is negative', -1],
  ['pow', 'is no whole number', 0.5],
  ['pow', 'is beyond exact numbers', 2 ** 53],
  ['burnToken', 'is no known field', 'x'],
]

describe.each(serviceStores())('creating over HTTP on $name', (store) => {
  const opened = openDb(store)

  test('a sealed text is opened by its reader, and the server never has the key', async () => {
    const app = await startApp(opened.db, { env: { SEALED_DIFFICULTY: '4' } })
    const text = '  pässwörd\n\t  '
    const { id, token, challenge } = await issueToken(app)
    const sealed = await sealContent({ id, content: text })
    const pow = await solveWork(challenge, sealed.ciphertext)
    await postSecret(app, token, { ...sealed.body, ttlSeconds: 900, maxViews: 1, pow })
    const keys = await deriveKeys(sealed.fragment)
    const answer = await reveal(app, id, { ...revealProof(keys), claim: newClaim() })
    expect(await openContent(keys, { id, ...(await bodyOf<RevealResponse>(answer)) })).toBe(text)
  })

  test.each([256, 1024, 4096, 16_384, 51_204])(
    'a secret padded to %i bytes is stored',
    async (size) => {
      const app = await startApp(opened.db)
      const { id, ciphertext } = await createSecret(app, { ciphertext: newCiphertext(size) })
      expect(await rawItem(opened.db, id)).toMatchObject({ ciphertext })
    },
  )

  test.each([
    { ttlSeconds: 900, maxViews: 1 },
    { ttlSeconds: 7_776_000, maxViews: 5 },
  ])('the outermost values are accepted: %o', async (given) => {
    const app = await startApp(opened.db)
    const { id, expiresAt } = await createSecret(app, given)
    expect(expiresAt).toBe(Math.floor(app.clock.now() / 1000) + given.ttlSeconds)
    expect(await rawItem(opened.db, id)).toMatchObject({
      expiresAt,
      remainingViews: given.maxViews,
    })
  })

  test('only hashes of the secrets of creator and reader are stored', async () => {
    const app = await startApp(opened.db)
    const { id, keys, burnToken, body } = await createSecret(app)
    const claim = newClaim()
    await reveal(app, id, { ...keys, claim })
    const stored = JSON.stringify(await rawItem(opened.db, id), (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('base64url') : value,
    )
    for (const secret of [keys.link, keys.proof, burnToken, claim])
      expect(stored).not.toContain(secret)
    for (const hash of [body.linkHash, body.proofHash]) expect(stored).toContain(hash)
  })
})

describe.each(serviceStores())('an invalid creation', (store) => {
  const opened = openDb(store)

  async function refused(body: unknown) {
    const app = await startApp(opened.db)
    const { id, token } = await issueToken(app)
    const answer = await postSecret(app, token, body)
    expect(await rawItem(opened.db, id)).toBeUndefined()
    const { error } = await bodyOf<{ error: { code: string; details: { path: string }[] } }>(answer)
    return [answer.status, error.code, ...new Set(error.details.map(({ path }) => path))]
  }

  test.each(wrong)('is refused with the name of the field: %s %s', async (field, _, value) => {
    const body = { ...newSecretBody(newKeys()), [field]: value }
    expect(await refused(body)).toEqual([400, 'sealed.invalid_request', `body.${field}`])
  })

  test.each(missing)('is refused with the name of the missing field: %s', async (field) => {
    const body = { ...newSecretBody(newKeys()), [field]: undefined }
    expect(await refused(body)).toEqual([400, 'sealed.invalid_request', `body.${field}`])
  })

  test('is refused with a passphrase and without a salt', async () => {
    const body = newSecretBody(newKeys(), { passphraseProtected: true })
    expect(await refused(body)).toEqual([400, 'sealed.invalid_request', 'body.salt'])
  })

  test.each(['', '{', 'null', '[]', '"text"', '5'])(
    'is refused if it is not an object: %s',
    async (body) => {
      expect(await refused(body)).toEqual([400, 'sealed.invalid_request', 'body'])
    },
  )

  test('is refused before it is parsed if it is larger than any secret', async () => {
    const app = await startApp(opened.db)
    const { token } = await issueToken(app)
    const answer = await postSecret(app, token, `"${'x'.repeat(70_000)}"`)
    expect([answer.status, await codeOf(answer)]).toEqual([413, 'request.too_large'])
  })

  test('never repeats the request in the response', async () => {
    const app = await startApp(opened.db)
    const { token } = await issueToken(app)
    const body = { ...newSecretBody(newKeys()), linkHash: 'hunter2hunter2', ['pass phrase']: 1 }
    const text = await (await postSecret(app, token, body)).text()
    expect(text).toContain('body.linkHash')
    expect(text).not.toMatch(/hunter2|pass phrase/)
  })
})
