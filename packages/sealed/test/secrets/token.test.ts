import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { randomHex, randomToken } from '@strongroom/kit/ids'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { openDb, startApp } from '../support/sealed-app.ts'
import {
  ack,
  bodyOf,
  burn,
  codeOf,
  createSecret,
  issueToken,
  newClaim,
  newKeys,
  newSecretBody,
  postSecret,
  reveal,
} from '../support/sealed-client.ts'

const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
const decoded = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString()) as object

function signedWith(key: Uint8Array, header: object, claims: object): string {
  const text = `${encoded(header)}.${encoded(claims)}`
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
}

/** Server secrets whose key can be replaced, with the old one still honoured or not. */
function rotatingSecrets(): ServerSecrets & { rotate(options: { keep: boolean }): void } {
  let keys = [{ version: 1, key: new Uint8Array(32).fill(1) }]
  return {
    current: async () => keys[0] ?? { version: 0, key: new Uint8Array() },
    accepted: async () => keys,
    rotate({ keep }) {
      const version = keys.length + 1
      keys = [{ version, key: new Uint8Array(32).fill(version) }, ...(keep ? keys : [])]
    },
  }
}

const key = new Uint8Array(32).fill(1)

describe.each(serviceStores())('the token of a new secret on $name', (store) => {
  const opened = openDb(store)
  const body = () => newSecretBody(newKeys())

  test('is a JWT valid for five minutes with the id of the secret', async () => {
    const app = await startApp(opened.db, { env: { SEALED_DIFFICULTY: '9' } })
    const issued = await issueToken(app)
    const [header, claims] = issued.token.split('.')
    const now = Math.floor(app.clock.now() / 1000)
    expect(decoded(header)).toEqual({ alg: 'HS256', typ: 'JWT' })
    expect(decoded(claims)).toEqual({
      jti: issued.id,
      iat: now,
      exp: now + 300,
      ...issued.challenge,
    })
    expect(issued).toMatchObject({
      id: expect.stringMatching(/^[\w-]{21}[AQgw]$/),
      challenge: { difficulty: 9, perDoubling: 0 },
      expiresAt: now + 300,
    })
  })

  test('is issued without access to the store', async () => {
    const app = await startApp(opened.db)
    await issueToken(app)
    expect(app.operations).toEqual([])
  })

  test('creates the secret with its id', async () => {
    const app = await startApp(opened.db)
    const { id, token } = await issueToken(app)
    const answer = await postSecret(app, token, body())
    expect(answer.status).toBe(201)
    expect(await answer.json()).toEqual({
      id,
      burnToken: expect.stringMatching(/^[0-9a-f]{32}$/),
      expiresAt: Math.floor(app.clock.now() / 1000) + 86_400,
    })
  })

  test('works once for twenty concurrent creations', async () => {
    const app = await startApp(opened.db)
    const { token } = await issueToken(app)
    const creations = Array.from({ length: 20 }, () => postSecret(app, token, body()))
    const answers = await Promise.all(creations)
    const refused = answers.filter(({ status }) => status !== 201)
    expect(refused).toHaveLength(19)
    expect(new Set(await Promise.all(refused.map(codeOf)))).toEqual(
      new Set(['sealed.invalid_token']),
    )
  })

  test('works once, even after the secret was burned', async () => {
    const app = await startApp(opened.db)
    const { id, burnToken, token } = await createSecret(app)
    await burn(app, id, burnToken)
    app.clock.advance({ seconds: 299 })
    await app.settle()
    expect(await codeOf(await postSecret(app, token, body()))).toBe('sealed.invalid_token')
  })

  test('works once, even after the secret was read and acknowledged', async () => {
    const app = await startApp(opened.db)
    const { id, keys, token } = await createSecret(app)
    const claim = newClaim()
    await reveal(app, id, { ...keys, claim })
    await ack(app, id, claim)
    app.clock.advance({ seconds: 299 })
    await app.settle()
    expect(await codeOf(await postSecret(app, token, body()))).toBe('sealed.invalid_token')
  })

  test('works in its last second and not after it', async () => {
    const app = await startApp(opened.db)
    const [early, late] = [await issueToken(app), await issueToken(app)]
    app.clock.advance({ seconds: 299 })
    expect((await postSecret(app, early.token, body())).status).toBe(201)
    app.clock.advance({ seconds: 1 })
    expect(await codeOf(await postSecret(app, late.token, body()))).toBe('sealed.invalid_token')
  })

  test('is accepted as long as its key is', async () => {
    const secrets = rotatingSecrets()
    const app = await startApp(opened.db, { secrets })
    const [first, second] = [await issueToken(app), await issueToken(app)]
    secrets.rotate({ keep: true })
    expect((await postSecret(app, first.token, body())).status).toBe(201)
    secrets.rotate({ keep: false })
    expect(await codeOf(await postSecret(app, second.token, body()))).toBe('sealed.invalid_token')
  })

  test('is refused if it was created or changed by someone else', async () => {
    const app = await startApp(opened.db, { secrets: rotatingSecrets() })
    const { token } = await issueToken(app)
    const [header = '', payload = '', signature = ''] = token.split('.')
    const claims = decoded(payload) as Record<string, unknown>
    const hs256 = { alg: 'HS256', typ: 'JWT' }
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const rs256 = `${encoded({ alg: 'RS256', typ: 'JWT' })}.${payload}`
    const forged: Record<string, string> = {
      nothing: '',
      'no token': 'no-token',
      'no signature': `${header}.${payload}`,
      'an empty signature': `${header}.${payload}.`,
      'alg none': `${encoded({ alg: 'none', typ: 'JWT' })}.${payload}.`,
      'alg none, signed': signedWith(key, { alg: 'none', typ: 'JWT' }, claims),
      'alg HS512': signedWith(key, { alg: 'HS512', typ: 'JWT' }, claims),
      'alg RS256': `${rs256}.${sign('sha256', Buffer.from(rs256), privateKey).toString('base64url')}`,
      'a further header': signedWith(key, { ...hs256, kid: '1' }, claims),
      'a foreign key': signedWith(new Uint8Array(32).fill(9), hs256, claims),
      'an empty key': signedWith(new Uint8Array(), hs256, claims),
      'a later expiry': `${header}.${encoded({ ...claims, exp: 9_999_999_999 })}.${signature}`,
      'less work': `${header}.${encoded({ ...claims, difficulty: -1 })}.${signature}`,
      'no id': signedWith(key, hs256, { ...claims, jti: undefined }),
      'a malformed id': signedWith(key, hs256, { ...claims, jti: 'short' }),
      'no expiry': signedWith(key, hs256, { ...claims, exp: undefined }),
      'an expiry of text': signedWith(key, hs256, { ...claims, exp: '9999999999' }),
      'negative work': signedWith(key, hs256, { ...claims, difficulty: -1 }),
      'claims of another kind': signedWith(key, hs256, { ...claims, sub: 'someone' }),
      'claims that are no object': signedWith(key, hs256, []),
      'a further part': `${token}.${signature}`,
      'a changed end': `${token.slice(0, -1)}${token.endsWith('A') ? 'E' : 'A'}`,
    }
    for (const [what, made] of Object.entries(forged)) {
      const answer = await postSecret(app, made, body())
      expect([what, answer.status, await codeOf(answer)]).toEqual([
        what,
        401,
        'sealed.invalid_token',
      ])
    }
    expect((await postSecret(app, token, body())).status).toBe(201)
  })

  test('is accepted only in the Authorization header', async () => {
    const app = await startApp(opened.db)
    const { token } = await issueToken(app)
    const init = { method: 'POST', body: JSON.stringify(body()) }
    const answers = await Promise.all([
      app.request('/v1/secrets', init),
      app.request(`/v1/secrets?token=${token}`, init),
      app.request('/v1/secrets', { ...init, headers: { authorization: `Basic ${token}` } }),
    ])
    expect(await Promise.all(answers.map(codeOf))).toEqual(
      answers.map(() => 'sealed.invalid_token'),
    )
  })

  test('requires no work with an API token, for secrets of any size', async () => {
    const app = await startApp(opened.db, { env: { SEALED_DIFFICULTY: '20' } })
    const { token: apiToken } = await app.apiTokens.add({ name: `robot-${randomHex(8)}` })
    const { token, challenge } = await issueToken(app, { authorization: `Bearer ${apiToken}` })
    expect(challenge).toMatchObject({ difficulty: 0, perDoubling: 0 })
    expect((await postSecret(app, token, body())).status).toBe(201)
  })

  test('is not issued for an invalid API token or a token of an operator', async () => {
    const app = await startApp(opened.db)
    const operator = await app.operators.add(`robot-${randomHex(8)}`)
    for (const authorization of [
      `Bearer ${operator}`,
      `Bearer srs_nobody.${randomToken(32)}`,
      'Bearer x',
      'Basic eA==',
    ]) {
      const answer = await app.request('/v1/token', { method: 'POST', headers: { authorization } })
      expect([answer.status, await codeOf(answer)]).toEqual([401, 'sealed.invalid_api_token'])
    }
  })

  test('requires more work while many secrets are created, and less again afterwards', async () => {
    const app = await startApp(opened.db, {
      env: { SEALED_DIFFICULTY: '1', SEALED_BUSY_CREATIONS: '4' },
    })
    const difficulty = async () => (await issueToken(app)).challenge.difficulty
    const risen: number[] = [await difficulty()]
    for (let made = 1; made <= 8; made++) {
      await createSecret(app)
      risen.push(await difficulty())
    }
    expect(risen).toEqual([1, 1, 1, 1, 2, 2, 2, 2, 3])
    app.clock.advance({ minutes: 2 })
    expect(await difficulty()).toBe(1)
  })

  test('requires no more work because of secrets with an API token', async () => {
    const app = await startApp(opened.db, {
      env: { SEALED_DIFFICULTY: '1', SEALED_BUSY_CREATIONS: '1' },
    })
    const { token: apiToken } = await app.apiTokens.add({ name: `robot-${randomHex(8)}` })
    const { token } = await issueToken(app, { authorization: `Bearer ${apiToken}` })
    await postSecret(app, token, body())
    expect(await bodyOf(await app.request('/v1/token', { method: 'POST' }))).toMatchObject({
      challenge: { difficulty: 1 },
    })
  })
})
