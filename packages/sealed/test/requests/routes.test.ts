import { createHash, createHmac } from 'node:crypto'
import { randomHex, randomToken } from '@strongroom/kit/ids'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, test } from 'vitest'
import type { FillRequest, RequestTokenResponse } from '../../src/api.ts'
import { challengeForRequest, solveWork } from '../../src/crypto/proof-of-work.ts'
import { type AppOptions, openDb, type SealedApp, startApp } from '../support/sealed-app.ts'
import {
  ack,
  bodyOf,
  burn,
  codeOf,
  issueToken,
  type Keys,
  newCiphertext,
  newClaim,
  newKeys,
  newSecretBody,
  post,
  postSecret,
  reveal,
  status,
} from '../support/sealed-client.ts'
import { rawItem } from '../support/secrets.ts'

const DAY = 86_400
const HOUR = 3600
const sha256 = (base64url: string) =>
  createHash('sha256').update(Buffer.from(base64url, 'base64url')).digest('base64url')
const hashesOf = ({ link, proof }: Keys) => ({ linkHash: sha256(link), proofHash: sha256(proof) })
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** A response without the parts that identify its request. */
async function bytesOf(answer: Response): Promise<string> {
  const headers = [...answer.headers].filter(([name]) => name !== 'x-request-id' && name !== 'date')
  return JSON.stringify([answer.status, headers, await answer.text()])
}

describe.each(serviceStores())('a request on $name', (store) => {
  const opened = openDb(store)
  const start = (options?: AppOptions) => startApp(opened.db, options)
  const nowOf = (app: SealedApp) => Math.floor(app.clock.now() / 1000)

  async function newRequest(app: SealedApp, given: object = {}, headers = {}) {
    const keys = newKeys()
    const answer = await app.request(
      '/v1/requests',
      post({ seconds: 7 * DAY, ...hashesOf(keys), ...given }, headers),
    )
    expect(answer.status).toBe(200)
    return { ...(await bodyOf<RequestTokenResponse>(answer)), keys }
  }

  async function submission(app: SealedApp, id: string, given: Partial<FillRequest> = {}) {
    const { token, challenge } = await issueToken(app)
    const ciphertext = given.ciphertext ?? newRequestedCiphertext()
    const bytes = Buffer.from(ciphertext, 'base64')
    const pow = await solveWork(challengeForRequest(challenge, id), bytes)
    const body: FillRequest = {
      ciphertext,
      iv: Buffer.alloc(12, 1).toString('base64'),
      ttlSeconds: 8 * DAY,
      workToken: token,
      pow,
      burnToken: randomHex(16),
      ...given,
    }
    return body
  }

  const fill = (app: SealedApp, id: string, token: string, body: unknown) =>
    app.request(`/v1/requests/${id}`, post(body, bearer(token)))

  test('stores nothing until it is filled, then only the requester opens it, once', async () => {
    const app = await start()
    const before = app.operations.length
    const { id, token, keys, expiresAt } = await newRequest(app)
    expect(app.operations.slice(before)).toEqual([])
    expect(await rawItem(opened.db, id)).toBeUndefined()
    const body = await submission(app, id, { receipt: true })
    const answer = await fill(app, id, token, body)
    expect(answer.status).toBe(201)
    expect(await answer.json()).toEqual({
      id,
      burnToken: body.burnToken,
      expiresAt: nowOf(app) + 8 * DAY,
    })
    expect(await rawItem(opened.db, id)).toMatchObject({ requestUntil: expiresAt + 300 })
    // The holder of the request link has only hashes of what opens it.
    const { linkHash, proofHash } = hashesOf(keys)
    const guessed = await reveal(app, id, { link: linkHash, proof: proofHash })
    expect(guessed.status).toBe(404)
    const revealed = await reveal(app, id, keys)
    expect(await revealed.json()).toMatchObject({
      ciphertext: body.ciphertext,
      salt: null,
      passphraseProtected: false,
      remainingViews: 0,
    })
    expect((await reveal(app, id, keys)).status).toBe(404)
    expect(await (await status(app, id, body.burnToken)).json()).toMatchObject({
      state: 'viewed',
      views: 1,
      maxViews: 1,
    })
  })

  test('has a token of its own kind, which ends at a whole hour and says nothing of its start', async () => {
    const app = await start()
    app.clock.advance({ seconds: 1234 })
    const { id, token, keys, expiresAt } = await newRequest(app, { seconds: 2 * HOUR })
    const claims: unknown = JSON.parse(
      Buffer.from(token.split('.')[1] ?? '', 'base64url').toString(),
    )
    expect(claims).toEqual({ use: 'request', jti: id, exp: expiresAt, ...hashesOf(keys) })
    expect(expiresAt % HOUR).toBe(0)
    expect(expiresAt - nowOf(app)).toBeGreaterThan(HOUR)
    expect(expiresAt - nowOf(app)).toBeLessThanOrEqual(2 * HOUR)
  })

  test('lives two hours to seven days, seven by default', async () => {
    const app = await start()
    const create = (body: object) => app.request('/v1/requests', post(body))
    const hashes = hashesOf(newKeys())
    const { expiresAt } = await bodyOf<RequestTokenResponse>(await create(hashes))
    expect(expiresAt - nowOf(app)).toBeGreaterThan(7 * DAY - HOUR)
    for (const body of [
      { ...hashes, seconds: 2 * HOUR - 1 },
      { ...hashes, seconds: 7 * DAY + 1 },
      { ...hashes, seconds: '7200' },
      { ...hashes, publicKey: 'x' },
      { seconds: 7200 },
      [],
    ]) {
      const answer = await create(body)
      expect([answer.status, await codeOf(answer)]).toEqual([400, 'sealed.invalid_request'])
    }
  })

  test('of twenty simultaneous submissions exactly one wins, and the others get the bytes of a missing id', async () => {
    const app = await start()
    const { id, token, keys } = await newRequest(app)
    const bodies = await Promise.all(Array.from({ length: 20 }, () => submission(app, id)))
    const answers = await Promise.all(bodies.map((body) => fill(app, id, token, body)))
    const won = answers.findIndex(({ status: code }) => code === 201)
    expect(answers.filter(({ status: code }) => code === 201)).toHaveLength(1)
    const missing = await reveal(app, randomToken(16), newKeys())
    const lost = answers.filter((_, at) => at !== won)
    expect(new Set(await Promise.all(lost.map(bytesOf)))).toEqual(new Set([await bytesOf(missing)]))
    const revealed = await bodyOf<{ ciphertext: string }>(await reveal(app, id, keys))
    expect(revealed.ciphertext).toBe(bodies[won]?.ciphertext)
  })

  test('whatever is wrong with the token or the id, the response is that of a missing id', async () => {
    const app = await start()
    const missing = await bytesOf(await reveal(app, randomToken(16), newKeys()))
    const expired = await newRequest(app, { seconds: 2 * HOUR })
    const [filled, read, burned, other, open] = await Promise.all(
      Array.from({ length: 5 }, () => newRequest(app)),
    )
    if (!filled || !read || !burned || !other || !open) throw new Error('No requests')
    for (const each of [filled, read, burned]) {
      const body = await submission(app, each.id)
      expect((await fill(app, each.id, each.token, body)).status).toBe(201)
      if (each === burned) await burn(app, each.id, body.burnToken)
      if (each !== read) continue
      const claim = newClaim()
      await reveal(app, each.id, { ...each.keys, claim })
      await ack(app, each.id, claim)
    }
    app.clock.advance({ hours: 2 })
    await app.settle()
    const creation = await issueToken(app)
    const [header, claims = '', signature] = open.token.split('.')
    const forged = claims.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
    const key = new Uint8Array(32).fill(7)
    const foreign = createHmac('sha256', key).update(`${header}.${claims}`).digest('base64url')
    const attempts: [string, string][] = [
      [expired.id, expired.token],
      [filled.id, filled.token],
      [read.id, read.token],
      [burned.id, burned.token],
      [open.id, other.token],
      [randomToken(16), open.token],
      ['x', open.token],
      [creation.id, creation.token],
      [open.id, creation.token],
      [open.id, ''],
      [open.id, 'x'],
      [open.id, `${header}.${forged}.${signature}`],
      [open.id, `${header}.${claims}.${foreign}`],
    ]
    for (const [id, token] of attempts) {
      const answer = await fill(app, id, token, await submission(app, id))
      expect(await bytesOf(answer)).toBe(missing)
    }
    // Nor does a creation accept a request token, and the open request was not used up.
    const refused = await postSecret(app, open.token, newSecretBody(newKeys()))
    expect([refused.status, await codeOf(refused)]).toEqual([401, 'sealed.invalid_token'])
    const body = await submission(app, open.id)
    expect((await fill(app, open.id, open.token, body)).status).toBe(201)
  })

  test('the own link gets the same response before filling, after reading and after expiry', async () => {
    const app = await start()
    const missing = await bytesOf(await reveal(app, randomToken(16), newKeys()))
    const { id, token, keys } = await newRequest(app)
    expect(await bytesOf(await reveal(app, id, keys))).toBe(missing)
    await fill(app, id, token, await submission(app, id))
    const claim = newClaim()
    expect((await reveal(app, id, { ...keys, claim })).status).toBe(200)
    await ack(app, id, claim)
    expect(await bytesOf(await reveal(app, id, keys))).toBe(missing)
    app.clock.advance({ days: 8 })
    expect(await bytesOf(await reveal(app, id, keys))).toBe(missing)
  })

  test('its id stays reserved until its token is invalid, however the secret ended', async () => {
    const app = await start()
    const read = await newRequest(app)
    const burned = await newRequest(app)
    for (const { id, token } of [read, burned]) {
      await fill(app, id, token, await submission(app, id, { burnToken: 'a'.repeat(32) }))
    }
    const claim = newClaim()
    await reveal(app, read.id, { ...read.keys, claim })
    expect(await rawItem(opened.db, read.id)).toMatchObject({ expiresAt: read.expiresAt + 300 })
    await ack(app, read.id, claim)
    await burn(app, burned.id, 'a'.repeat(32))
    app.clock.advance({ days: 6 })
    await app.settle()
    for (const { id, token, expiresAt } of [read, burned]) {
      expect(await rawItem(opened.db, id)).toEqual({ id, expiresAt: expiresAt + 300 })
      expect((await fill(app, id, token, await submission(app, id))).status).toBe(404)
    }
  })

  test('a repeated submission whose response was lost gets the same response', async () => {
    const app = await start()
    const { id, token } = await newRequest(app)
    const body = await submission(app, id)
    const first = await fill(app, id, token, body)
    app.clock.advance({ seconds: 7 })
    const second = await fill(app, id, token, body)
    expect([first.status, second.status]).toEqual([201, 201])
    expect(await second.json()).toEqual(await first.json())
    const other = { ...body, burnToken: randomHex(16) }
    expect((await fill(app, id, token, other)).status).toBe(404)
  })

  test('a repeat is recognised by burn token and ciphertext, also after its work token expired', async () => {
    const app = await start({ env: { SEALED_DIFFICULTY: '4' } })
    const { id, token, keys } = await newRequest(app)
    const body = await submission(app, id)
    const first = await fill(app, id, token, body)
    app.clock.advance({ seconds: 301 })
    const late = await fill(app, id, token, body)
    expect([late.status, await late.json()]).toEqual([201, await first.json()])
    const other = { ...body, ciphertext: newRequestedCiphertext() }
    expect((await fill(app, id, token, other)).status).toBe(404)
    const revealed = await bodyOf<{ ciphertext: string }>(await reveal(app, id, keys))
    expect(revealed.ciphertext).toBe(body.ciphertext)
  })

  test('of two simultaneous contents with one burn token, one is refused', async () => {
    const app = await start()
    const { id, token } = await newRequest(app)
    const body = await submission(app, id)
    const other = await submission(app, id, { burnToken: body.burnToken })
    const answers = await Promise.all([body, other].map((each) => fill(app, id, token, each)))
    const codes = answers.map(({ status: code }) => code)
    expect(codes.toSorted((a, b) => a - b)).toEqual([201, 404])
  })

  test('a repeat while the secret can be read again does not tell that it was opened', async () => {
    const app = await start()
    const { id, token, keys } = await newRequest(app)
    const { ttlSeconds: _, ...body } = await submission(app, id)
    const first = await bytesOf(await fill(app, id, token, body))
    app.clock.advance({ seconds: 7 })
    expect((await reveal(app, id, keys)).status).toBe(200)
    expect(await bytesOf(await fill(app, id, token, body))).toBe(first)
  })

  test('a repeat counts neither in the quota nor in the difficulty nor in the figures', async () => {
    const env = { SEALED_QUOTA_MB: '1', SEALED_DIFFICULTY: '1', SEALED_BUSY_CREATIONS: '4' }
    const app = await start({ env })
    const operator = await app.operators.add(`o-${randomHex(4)}`, { role: 'viewer' })
    const counted = async () => {
      const answer = await app.request('/v1/figures?hours=1', { headers: bearer(operator) })
      expect(answer.status).toBe(200)
      const figures = await bodyOf<{ quota: unknown; hours: { created: number }[] }>(answer)
      return [
        figures.quota,
        figures.hours[0]?.created,
        (await issueToken(app)).challenge.difficulty,
      ]
    }
    const { id, token } = await newRequest(app)
    const body = await submission(app, id, { ciphertext: newRequestedCiphertext(51_204) })
    expect((await fill(app, id, token, body)).status).toBe(201)
    const before = await counted()
    for (let repeat = 0; repeat < 20; repeat++) {
      expect((await fill(app, id, token, body)).status).toBe(201)
    }
    expect(await counted()).toEqual(before)
  })

  test('the holder of its link cannot use up the API token behind it', async () => {
    const app = await start()
    const name = `drain-${randomHex(4)}`
    const added = await app.apiTokens.add({ name, perHour: 4 })
    const { id, token } = await newRequest(app, {}, bearer(added.token))
    const body = plainSubmission()
    expect((await fill(app, id, token, body)).status).toBe(201)
    for (let attempt = 0; attempt < 5; attempt++) {
      expect((await fill(app, id, token, body)).status).toBe(201)
      expect((await fill(app, id, token, plainSubmission())).status).toBe(404)
    }
    const next = await newRequest(app, {}, bearer(added.token))
    expect((await fill(app, next.id, next.token, plainSubmission())).status).toBe(201)
  })

  test('its id is not free between its end and that of its token', async () => {
    const app = await start()
    const { id, token, expiresAt } = await newRequest(app)
    const rest = expiresAt - nowOf(app)
    const short = await submission(app, id, { ttlSeconds: rest + 299 })
    expect((await fill(app, id, token, short)).status).toBe(400)
    expect((await fill(app, id, token, { ...short, ttlSeconds: rest + 300 })).status).toBe(201)
    expect(await rawItem(opened.db, id)).toMatchObject({
      expiresAt: expiresAt + 300,
      requestUntil: expiresAt + 300,
    })
  })

  test('is refused if a clock that was ahead issued it', async () => {
    const clock = testClock('2100-01-01T01:00:00.000Z')
    const ahead = await start({ clock })
    const { id, token } = await newRequest(ahead)
    const behind = (secondsAhead: number) =>
      start({ clock: testClock(clock.now() - secondsAhead * 1000) })
    const far = await behind(301)
    expect((await fill(far, id, token, await submission(far, id))).status).toBe(404)
    const near = await behind(300)
    expect((await fill(near, id, token, await submission(near, id))).status).toBe(201)
  })

  test('the secret lives longer than the request', async () => {
    const app = await start()
    const { id, token, expiresAt } = await newRequest(app)
    const body = await submission(app, id, { ttlSeconds: DAY })
    const answer = await fill(app, id, token, body)
    const min = expiresAt - nowOf(app) + 300
    expect(await bodyOf(answer)).toMatchObject({
      error: {
        code: 'sealed.invalid_request',
        details: [
          {
            path: 'body.ttlSeconds',
            message: `Must be at least ${min}: a secret lives 300 seconds longer than its request`,
          },
        ],
      },
    })
    expect((await fill(app, id, token, { ...body, ttlSeconds: min })).status).toBe(201)
  })

  test.each([
    ['15', 15 * 60],
    ['90', 90 * 60],
    ['1440', DAY],
  ])(
    "ends within the operator's maximum of %s minutes, and so does its secret",
    async (minutes, max) => {
      const app = await start({ env: { SEALED_MAX_EXPIRY_MINUTES: minutes } })
      app.clock.advance({ seconds: 3599 })
      const { id, token, expiresAt } = await newRequest(app)
      expect(expiresAt + 300 - nowOf(app)).toBeLessThanOrEqual(max)
      expect(expiresAt - nowOf(app)).toBeGreaterThan(Math.min(max / 2, max - HOUR / 2))
      const body = await submission(app, id, { ttlSeconds: max + 1 })
      expect(await bodyOf(await fill(app, id, token, body))).toMatchObject({
        error: {
          code: 'sealed.invalid_request',
          details: [
            {
              path: 'body.ttlSeconds',
              message: `Must be at most ${max}, the maximum of this server`,
            },
          ],
        },
      })
      const { ttlSeconds: _, ...withoutTtl } = body
      const filled = await fill(app, id, token, withoutTtl)
      expect([filled.status, await bodyOf(filled)]).toMatchObject([
        201,
        { expiresAt: nowOf(app) + max },
      ])
    },
  )

  test('can still be filled after the operator lowered the maximum, until it ends', async () => {
    const before = await start()
    const { id, token, expiresAt } = await newRequest(before)
    const app = await start({ env: { SEALED_MAX_EXPIRY_MINUTES: '60' }, clock: before.clock })
    const rest = expiresAt - nowOf(app)
    const body = await submission(app, id, { ttlSeconds: rest + 301 })
    expect((await fill(app, id, token, body)).status).toBe(400)
    const { ttlSeconds: _, ...withoutTtl } = body
    const filled = await fill(app, id, token, withoutTtl)
    expect([filled.status, await bodyOf(filled)]).toMatchObject([
      201,
      { expiresAt: expiresAt + 300 },
    ])
  })

  test('takes only a ciphertext with a point, and a plain secret only one without', async () => {
    const app = await start()
    const { id, token } = await newRequest(app)
    const wrong: object[] = [
      { ciphertext: newCiphertext() },
      { linkHash: sha256(newKeys().link) },
      { maxViews: 2 },
      { salt: null },
      { burnToken: 'x' },
      { iv: 'x' },
    ]
    for (const given of wrong) {
      const answer = await fill(app, id, token, { ...(await submission(app, id)), ...given })
      expect([answer.status, await codeOf(answer)]).toEqual([400, 'sealed.invalid_request'])
    }
    const creation = await issueToken(app)
    const plain = newSecretBody(newKeys(), { ciphertext: newRequestedCiphertext() })
    expect((await postSecret(app, creation.token, plain)).status).toBe(400)
    const large = { ...(await submission(app, id)), ciphertext: 'A'.repeat(70_000) }
    expect((await fill(app, id, token, large)).status).toBe(413)
    const largest = await submission(app, id, { ciphertext: newRequestedCiphertext(51_204) })
    expect((await fill(app, id, token, largest)).status).toBe(201)
  })

  test('needs work of now for this request only', async () => {
    const app = await start({ env: { SEALED_DIFFICULTY: '10' } })
    const [first, second] = [await newRequest(app), await newRequest(app)]
    const body = await submission(app, first.id)
    const refused = async (answer: Response) => [answer.status, await codeOf(answer)]
    const invalid = [403, 'sealed.invalid_pow']
    const { workToken: _, ...without } = body
    expect(await refused(await fill(app, first.id, first.token, without))).toEqual(invalid)
    expect(await refused(await fill(app, second.id, second.token, body))).toEqual(invalid)
    // The work of a plain secret does not serve a request.
    const { token, challenge } = await issueToken(app)
    const pow = await solveWork(challenge, Buffer.from(body.ciphertext, 'base64'))
    const plain = { ...body, workToken: token, pow }
    expect(await refused(await fill(app, first.id, first.token, plain))).toEqual(invalid)
    // A token without work is for the secrets of its API token only.
    const added = await app.apiTokens.add({ name: `work-${randomHex(4)}` })
    const free = await issueToken(app, bearer(added.token))
    const freely = { ...body, workToken: free.token, pow: 0 }
    expect(await refused(await fill(app, first.id, first.token, freely))).toEqual(invalid)
    expect((await fill(app, first.id, first.token, body)).status).toBe(201)
  })

  test('of an API token needs no work, counts again when it is filled, and ends with the token', async () => {
    const app = await start({ env: { SEALED_DIFFICULTY: '20' } })
    const name = `ci-${randomHex(4)}`
    const added = await app.apiTokens.add({ name, perHour: 3, expiresInSeconds: 3 * HOUR })
    const made = await newRequest(app, {}, bearer(added.token))
    expect(made.expiresAt).toBe(nowOf(app) + 3 * HOUR)
    const body = { ...plainSubmission(), pow: 0 }
    expect((await fill(app, made.id, made.token, body)).status).toBe(201)
    const next = await newRequest(app, {}, bearer(added.token))
    const full = await fill(app, next.id, next.token, { ...plainSubmission(), pow: 0 })
    expect(full.status).toBe(429)
    await app.apiTokens.revoke(name)
    const ended = await fill(app, next.id, next.token, { ...plainSubmission(), pow: 0 })
    expect(ended.status).toBe(404)
  })

  test('can be left to API tokens or turned off', async () => {
    const app = await start({ env: { SEALED_REQUESTS: 'api-token' } })
    const body = hashesOf(newKeys())
    const refused = await app.request('/v1/requests', post(body))
    expect([refused.status, await codeOf(refused)]).toEqual([401, 'sealed.invalid_api_token'])
    const { token } = await app.apiTokens.add({ name: `some-${randomHex(4)}` })
    expect((await app.request('/v1/requests', post(body, bearer(token)))).status).toBe(200)
    // Also if it was made before that was set.
    const anyone = await start()
    const open = await newRequest(anyone)
    const missing = await bytesOf(await reveal(app, randomToken(16), newKeys()))
    const late = await fill(app, open.id, open.token, await submission(app, open.id))
    expect(await bytesOf(late)).toBe(missing)
    const off = await start({ env: { SEALED_REQUESTS: 'off' } })
    const closed = await fill(off, open.id, open.token, await submission(off, open.id))
    expect(closed.status).toBe(404)
    const filled = await fill(anyone, open.id, open.token, await submission(anyone, open.id))
    expect(filled.status).toBe(201)
    expect((await off.request('/v1/requests', post(body, bearer(token)))).status).toBe(404)
    const pages = await Promise.all([app, off, await start()].map((each) => each.request('/')))
    const texts = await Promise.all(pages.map((page) => page.text()))
    const settings = texts.map((text) => /data-requests="([^"]+)"/.exec(text)?.[1])
    expect(settings).toEqual(['api-token', 'off', 'anyone'])
  })

  test('is limited per client, when it is made and when it is filled', async () => {
    const app = await start({ env: { SEALED_TOKEN_LIMIT: '2' } })
    const { id, token } = await newRequest(app)
    await issueToken(app)
    const third = await app.request('/v1/requests', post(hashesOf(newKeys())))
    expect(third.status).toBe(429)
    const submit = () => fill(app, id, token, plainSubmission())
    expect([(await submit()).status, (await submit()).status]).not.toContain(429)
    expect((await submit()).status).toBe(429)
  })

  test('logs neither its token nor its id', async () => {
    const app = await start()
    const { id, token } = await newRequest(app)
    await fill(app, id, token, await submission(app, id))
    await fill(app, id, token, await submission(app, id))
    const logged = app.lines.join('\n')
    expect([id, token].filter((each) => logged.includes(each))).toEqual([])
  })
})

function newRequestedCiphertext(paddedBytes = 256): string {
  return newCiphertext(paddedBytes + 65)
}

function plainSubmission() {
  return {
    ciphertext: newRequestedCiphertext(),
    iv: Buffer.alloc(12, 1).toString('base64'),
    ttlSeconds: 8 * DAY,
    pow: 0,
    burnToken: randomHex(16),
  }
}
