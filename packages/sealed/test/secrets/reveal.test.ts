import { hostileDb } from '@strongroom/kit/testing/hostile-db'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import type { RevealResponse } from '../../src/api.ts'
import { openDb, startApp } from '../support/sealed-app.ts'
import {
  ack,
  bodyOf,
  burn,
  codeOf,
  createSecret,
  newClaim,
  newKeys,
  reveal,
} from '../support/sealed-client.ts'
import { rawItem } from '../support/secrets.ts'

const RACE = process.env.SLOW ? { rounds: 200, timeout: 300_000 } : { rounds: 10, timeout: 60_000 }
const many = <T>(count: number, each: (index: number) => T) =>
  Array.from({ length: count }, (_, at) => each(at))
const statusesOf = (answers: Response[]) =>
  answers.map(({ status }) => status).toSorted((a, b) => a - b)

describe.each(serviceStores())('revealing over HTTP on $name', (store) => {
  const opened = openDb(store)

  test('reveals the secret as it was stored to a reader with link and passphrase', async () => {
    const app = await startApp(opened.db)
    const salt = Buffer.alloc(16, 1).toString('base64')
    const { id, keys, body } = await createSecret(app, {
      maxViews: 2,
      passphraseProtected: true,
      salt,
    })
    const answer = await reveal(app, id, keys)
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({
      ciphertext: body.ciphertext,
      iv: body.iv,
      salt,
      passphraseProtected: true,
      remainingViews: 1,
      graceSeconds: 30,
    })
  })

  test(
    'of twenty simultaneous readers of a one-view secret exactly one gets it, in every round',
    { timeout: RACE.timeout },
    async () => {
      const app = await startApp(opened.db)
      for (let round = 0; round < RACE.rounds; round++) {
        const { id, keys } = await createSecret(app)
        const answers = await Promise.all(many(20, () => reveal(app, id, keys)))
        expect(statusesOf(answers)).toEqual([200, ...many(19, () => 404)])
      }
    },
  )

  test('the same claim gets the same ciphertext for 30 seconds without a view, even after the last', async () => {
    const app = await startApp(opened.db)
    const { id, keys, ciphertext } = await createSecret(app)
    const claim = newClaim()
    await reveal(app, id, { ...keys, claim })
    app.clock.advance({ seconds: 29 })
    await app.settle()
    const again = await reveal(app, id, { ...keys, claim })
    expect(await bodyOf<RevealResponse>(again)).toMatchObject({
      ciphertext,
      remainingViews: 0,
      graceSeconds: 1,
    })
    expect((await reveal(app, id, keys)).status).toBe(404)
    app.clock.advance({ seconds: 1 })
    expect((await reveal(app, id, { ...keys, claim })).status).toBe(404)
  })

  test('a reader whose response was lost repeats the claim and gets the secret', async () => {
    const app = await startApp(opened.db)
    const { id, keys, ciphertext } = await createSecret(app)
    const clock = app.clock
    // The write happens but its response never arrives, and neither the server nor the reader knows.
    const losing = await startApp(hostileDb(opened.db, { seed: 1, lostResponse: 1 }), { clock })
    const claim = newClaim()
    expect((await reveal(losing, id, { ...keys, claim })).status).toBe(503)
    expect(await rawItem(opened.db, id)).toMatchObject({ remainingViews: 0 })
    const again = await reveal(app, id, { ...keys, claim })
    expect(await bodyOf<RevealResponse>(again)).toMatchObject({ ciphertext, remainingViews: 0 })
  })

  test('after the window nobody can read the secret, and it is destroyed', async () => {
    const app = await startApp(opened.db)
    const { id, keys } = await createSecret(app)
    app.clock.advance({ minutes: 5 })
    const claim = newClaim()
    await reveal(app, id, { ...keys, claim })
    app.clock.advance({ seconds: 30 })
    await app.settle()
    expect(await rawItem(opened.db, id)).toBeUndefined()
    expect((await reveal(app, id, { ...keys, claim })).status).toBe(404)
    expect((await reveal(app, id, keys)).status).toBe(404)
  })

  test('after the acknowledgement of the last view nobody can read the secret, and it is destroyed', async () => {
    const app = await startApp(opened.db)
    const { id, keys } = await createSecret(app)
    app.clock.advance({ minutes: 5 })
    const claim = newClaim()
    await reveal(app, id, { ...keys, claim })
    const answer = await ack(app, id, claim)
    expect([answer.status, await answer.text()]).toEqual([204, ''])
    expect(Object.keys((await rawItem(opened.db, id)) ?? {}).toSorted()).toEqual([
      'expiresAt',
      'id',
    ])
    expect((await reveal(app, id, { ...keys, claim })).status).toBe(404)
  })

  test('an acknowledgement ends only its own claim and keeps the remaining views', async () => {
    const app = await startApp(opened.db)
    const { id, keys } = await createSecret(app, { maxViews: 3 })
    const [first, second] = [newClaim(), newClaim()]
    await reveal(app, id, { ...keys, claim: first })
    await reveal(app, id, { ...keys, claim: second })
    await ack(app, id, first)
    await ack(app, id, newClaim())
    expect(
      await bodyOf<RevealResponse>(await reveal(app, id, { ...keys, claim: second })),
    ).toMatchObject({ remainingViews: 1 })
    expect(
      await bodyOf<RevealResponse>(await reveal(app, id, { ...keys, claim: first })),
    ).toMatchObject({
      remainingViews: 0,
    })
  })

  test('a wrong passphrase uses a try but no view, and returns how many are left', async () => {
    const app = await startApp(opened.db)
    const { id, keys } = await createSecret(app)
    const answer = await reveal(app, id, { ...keys, proof: newKeys().proof })
    expect(answer.status).toBe(403)
    expect(await answer.json()).toEqual({
      error: {
        code: 'sealed.wrong_passphrase',
        message: expect.any(String),
        data: { triesLeft: 9 },
      },
    })
    expect((await reveal(app, id, keys)).status).toBe(200)
  })

  test('a hundred parallel wrong proofs use ten tries and destroy the secret', async () => {
    const app = await startApp(opened.db)
    const { id, keys } = await createSecret(app, { maxViews: 5 })
    const guesses = many(100, () => reveal(app, id, { ...keys, proof: newKeys().proof }))
    const answers = await Promise.all(guesses)
    expect(statusesOf(answers)).toEqual([...many(10, () => 403), ...many(90, () => 404)])
    expect((await reveal(app, id, keys)).status).toBe(404)
    expect(await rawItem(opened.db, id)).not.toHaveProperty('ciphertext')
  })

  test('a reader with the id but without the link can neither read nor use a view or a try', async () => {
    const app = await startApp(opened.db)
    const { id, keys } = await createSecret(app)
    const before = await rawItem(opened.db, id)
    const answers = await Promise.all([
      reveal(app, id, newKeys()),
      reveal(app, id, { ...newKeys(), proof: keys.proof }),
    ])
    expect(await Promise.all(answers.map(codeOf))).toEqual([
      'sealed.not_available',
      'sealed.not_available',
    ])
    await app.settle()
    expect(await rawItem(opened.db, id)).toEqual(before)
  })

  test('a secret ends at the second of its expiry, whether or not the store has deleted it', async () => {
    const app = await startApp(opened.db)
    const { id, keys } = await createSecret(app, { ttlSeconds: 900, maxViews: 2 })
    app.clock.advance({ seconds: 899 })
    expect(await bodyOf<RevealResponse>(await reveal(app, id, keys))).toMatchObject({
      graceSeconds: 1,
    })
    app.clock.advance({ seconds: 1 })
    expect((await reveal(app, id, keys)).status).toBe(404)
    await app.settle()
    expect(await rawItem(opened.db, id)).toBeUndefined()
  })

  test('a burned secret is destroyed immediately, even for a reader inside the window', async () => {
    const app = await startApp(opened.db)
    const { id, keys, burnToken } = await createSecret(app, { maxViews: 2 })
    const claim = newClaim()
    await reveal(app, id, { ...keys, claim })
    const answer = await burn(app, id, burnToken)
    expect([answer.status, await answer.text()]).toEqual([204, ''])
    expect((await reveal(app, id, { ...keys, claim })).status).toBe(404)
    expect(await rawItem(opened.db, id)).not.toHaveProperty('ciphertext')
  })

  test('burning with another token or none changes nothing and gets the same response', async () => {
    const app = await startApp(opened.db)
    const { id, keys } = await createSecret(app)
    const before = await rawItem(opened.db, id)
    const none = app.request(`/v1/secrets/${id}`, { method: 'DELETE' })
    const answers = await Promise.all([burn(app, id, newClaim()), burn(app, id, 'no token'), none])
    expect(statusesOf(answers)).toEqual([204, 204, 204])
    expect(await rawItem(opened.db, id)).toEqual(before)
    expect((await reveal(app, id, keys)).status).toBe(200)
  })
})
