/**
 * The defects of the specification that Sealed is built on, and of the first attempt at it, each by
 * its number: what must never come back. Those of the page and of the cryptography are tested there.
 */
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import type { RevealResponse } from '../../src/api.ts'
import { verifyWork } from '../../src/crypto/proof-of-work.ts'
import { secretsTable } from '../../src/tables.ts'
import { openDb, startApp } from '../support/sealed-app.ts'
import {
  bodyOf,
  burn,
  codeOf,
  createSecret,
  issueToken,
  newCiphertext,
  newClaim,
  newKeys,
  newSecretBody,
  post,
  postSecret,
  reveal,
} from '../support/sealed-client.ts'
import { rawItem, tokenHash } from '../support/secrets.ts'

describe.each(serviceStores())('on $name', (store) => {
  const opened = openDb(store)

  test('D1: a secret with one view can be read again within 30 seconds', async () => {
    const app = await startApp(opened.db)
    const { id, keys, ciphertext } = await createSecret(app, { maxViews: 1 })
    const claim = newClaim()
    await reveal(app, id, { ...keys, claim })
    const again = await reveal(app, id, { ...keys, claim })
    expect(await bodyOf<RevealResponse>(again)).toMatchObject({ ciphertext, remainingViews: 0 })
  })

  test('D2: a claim is created by the reader, so that no response is needed to read again', async () => {
    const app = await startApp(opened.db)
    const { id, keys } = await createSecret(app)
    const claim = newClaim()
    const lost = await reveal(app, id, { ...keys, claim })
    expect(await lost.text()).not.toContain(claim)
    expect((await reveal(app, id, { ...keys, claim })).status).toBe(200)
  })

  test('D3: a secret with a passphrase and one view is opened by one request', async () => {
    const app = await startApp(opened.db)
    const salt = Buffer.alloc(16, 3).toString('base64')
    const { id, keys, ciphertext } = await createSecret(app, { passphraseProtected: true, salt })
    const answer = await reveal(app, id, keys)
    expect(await bodyOf<RevealResponse>(answer)).toMatchObject({ ciphertext, salt })
  })

  test('D4: a second reader does not end the window of the first', async () => {
    const app = await startApp(opened.db)
    const { id, keys } = await createSecret(app, { maxViews: 2 })
    const [first, second] = [newClaim(), newClaim()]
    await reveal(app, id, { ...keys, claim: first })
    await reveal(app, id, { ...keys, claim: second })
    for (const claim of [first, second]) {
      expect((await reveal(app, id, { ...keys, claim })).status).toBe(200)
    }
  })

  test('D5: one token and one proof of work make one secret', async () => {
    const app = await startApp(opened.db, { env: { SEALED_DIFFICULTY: '4' } })
    const { token, body, id, burnToken } = await createSecret(app)
    const { challenge } = JSON.parse(
      `{"challenge":${Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()}}`,
    ) as { challenge: { prefix: string; difficulty: number; perDoubling: number } }
    let pow = 0
    while (!verifyWork(challenge, Buffer.from(body.ciphertext, 'base64'), pow)) pow++
    expect(await codeOf(await postSecret(app, token, { ...body, pow }))).toBe(
      'sealed.invalid_token',
    )
    await burn(app, id, burnToken)
    expect(await codeOf(await postSecret(app, token, { ...body, pow }))).toBe(
      'sealed.invalid_token',
    )
  })

  test('D6: work cannot be done before the secret is known', async () => {
    const app = await startApp(opened.db, { env: { SEALED_DIFFICULTY: '8' } })
    const { token, challenge } = await issueToken(app)
    const [stockpiled, sent] = [newCiphertext(), newCiphertext()]
    const does = (text: string, pow: number) =>
      verifyWork(challenge, Buffer.from(text, 'base64'), pow)
    let pow = 0
    while (!does(stockpiled, pow) || does(sent, pow)) pow++
    const body = newSecretBody(newKeys(), { ciphertext: sent, pow })
    expect(await codeOf(await postSecret(app, token, body))).toBe('sealed.invalid_pow')
  })

  test('D7: no GET uses a view, and nothing is read from the URL', async () => {
    const app = await startApp(opened.db)
    const { id, keys } = await createSecret(app)
    const query = `?${new URLSearchParams({ ...keys, claim: newClaim() }).toString()}`
    const gets = await Promise.all([
      app.request(`/v1/secrets/${id}${query}`),
      app.request(`/v1/secrets/${id}/reveal${query}`),
      app.request(`/v1/secrets/${id}/reveal${query}`, { method: 'HEAD' }),
    ])
    expect(gets.map(({ status }) => status)).toEqual([405, 405, 405])
    const posted = await app.request(`/v1/secrets/${id}/reveal${query}`, post({}))
    expect(posted.status).toBe(404)
    expect((await reveal(app, id, keys)).status).toBe(200)
  })

  test('D8: a copy of the table is not enough to burn a secret', async () => {
    const app = await startApp(opened.db)
    const { id, keys, burnToken } = await createSecret(app)
    const { burnToken: stored } = (await rawItem(opened.db, id)) ?? {}
    expect(stored).toBe(tokenHash(burnToken))
    await burn(app, id, String(stored))
    expect((await reveal(app, id, keys)).status).toBe(200)
  })

  test('D9: the id alone is not enough to use a view', async () => {
    const app = await startApp(opened.db)
    const { id, keys } = await createSecret(app)
    for (let noise = 0; noise < 20; noise++) await reveal(app, id, newKeys())
    expect((await reveal(app, id, keys)).status).toBe(200)
  })

  test('D10: a reader gets only what the link does not contain, and nothing that overrides the link', async () => {
    const app = await startApp(opened.db)
    const { id, keys } = await createSecret(app, { maxViews: 2, receipt: true })
    const answer = await bodyOf<RevealResponse>(await reveal(app, id, keys))
    const names = ['ciphertext', 'graceSeconds', 'iv', 'passphraseProtected', 'remainingViews']
    expect(Object.keys(answer).toSorted()).toEqual([...names, 'salt'])
  })

  test('D11: a server stopped between the last view and its end leaves no ciphertext', async () => {
    const app = await startApp(opened.db)
    const { id, keys } = await createSecret(app)
    await reveal(app, id, keys)
    await app.close()
    app.clock.advance({ seconds: 30 })
    const { clock } = app
    const restarted = await startApp(opened.db, { clock, env: { SEALED_SWEEP_MINUTES: '10' } })
    await restarted.settle()
    expect(await rawItem(opened.db, id)).not.toHaveProperty('ciphertext')
  })

  test('D12: the limit is 50 KB of text, which is 68,296 characters of base64', async () => {
    const app = await startApp(opened.db)
    const { ciphertext } = await createSecret(app, { ciphertext: newCiphertext(4 + 50 * 1024) })
    expect(ciphertext).toHaveLength(68_296)
    const { token } = await issueToken(app)
    const larger = newSecretBody(newKeys(), { ciphertext: newCiphertext(4 + 50 * 1024 + 3) })
    expect(await codeOf(await postSecret(app, token, larger))).toBe('sealed.invalid_request')
  })

  test('D13: a salt without a passphrase and a proof of work that is not a number are refused', async () => {
    const app = await startApp(opened.db)
    const { token } = await issueToken(app)
    const salted = newSecretBody(newKeys(), { salt: Buffer.alloc(16).toString('base64') })
    const worked = { ...newSecretBody(newKeys()), pow: '0' }
    for (const body of [salted, worked]) {
      expect(await codeOf(await postSecret(app, token, body))).toBe('sealed.invalid_request')
    }
  })

  test('D15: ids have 22 characters, including the examples in the documentation', async () => {
    const app = await startApp(opened.db)
    const { id } = await issueToken(app)
    expect(id).toMatch(/^[\w-]{22}$/)
    const document = app.app.getOpenAPI31Document({
      openapi: '3.1.0',
      info: { title: '', version: '' },
    })
    const parameters = document.paths?.['/sealed/v1/secrets/{id}/reveal']?.post?.parameters
    expect(parameters).toEqual([
      expect.objectContaining({
        schema: expect.objectContaining({ example: expect.stringMatching(/^[\w-]{22}$/) }),
      }),
    ])
  })

  test('D20: a key of less than 32 bytes cannot sign, and no backup keeps destroyed secrets', async () => {
    const short = { version: 1, key: new Uint8Array(31) }
    const secrets = { current: async () => short, accepted: async () => [short] }
    const app = await startApp(opened.db, { secrets })
    const answer = await app.request('/v1/token', { method: 'POST' })
    expect([answer.status, await codeOf(answer)]).toEqual([500, 'server.internal'])
    expect(secretsTable.pointInTimeRecovery).toBe(false)
  })

  test('D21: token, body, work and reuse of the token are checked in this order', async () => {
    const app = await startApp(opened.db, { env: { SEALED_DIFFICULTY: '8' } })
    const { token, challenge, id } = await issueToken(app)
    const body = newSecretBody(newKeys())
    let wrong = 0
    while (verifyWork(challenge, Buffer.from(body.ciphertext, 'base64'), wrong)) wrong++
    const answers = [
      await postSecret(app, 'x', '{'),
      await postSecret(app, token, { ...body, maxViews: 9, pow: wrong }),
      await postSecret(app, token, { ...body, pow: wrong }),
      await app.request(`/v1/secrets/${id}/nothing`),
    ]
    const codes = [
      'sealed.invalid_token',
      'sealed.invalid_request',
      'sealed.invalid_pow',
      'request.not_found',
    ]
    expect(await Promise.all(answers.map(codeOf))).toEqual(codes)
    const headersOf = (answer: Response) =>
      [...answer.headers.keys()].filter((name) => name !== 'www-authenticate')
    for (const answer of answers) expect(headersOf(answer)).toEqual(headersOf(answers[1] ?? answer))
  })
})
