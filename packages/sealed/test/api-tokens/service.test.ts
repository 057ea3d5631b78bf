import { createHash } from 'node:crypto'
import { randomHex } from '@strongroom/kit/ids'
import { serverTable } from '@strongroom/kit/server-table'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, test } from 'vitest'
import { createApiTokens } from '../../src/api-tokens/service.ts'
import { openDb, type SealedApp, startApp } from '../support/sealed-app.ts'
import {
  codeOf,
  issueToken,
  newKeys,
  newSecretBody,
  post,
  postSecret,
} from '../support/sealed-client.ts'

const newName = () => `robot-${randomHex(8)}`
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const ask = (app: SealedApp, token: string) =>
  app.request('/v1/token', { method: 'POST', headers: bearer(token) })
const statusOf = async (app: SealedApp, token: string) => (await ask(app, token)).status

describe.each(serviceStores())('API tokens of Sealed, on $name', (store) => {
  const opened = openDb(store)
  const stored = async (name: string, SK: string) =>
    (
      await opened.db.getItem({
        TableName: serverTable.name,
        Key: { PK: `SEALEDTOKEN#${name}`, SK },
        ConsistentRead: true,
      })
    ).Item

  test('are stored as hashes', async () => {
    const app = await startApp(opened.db)
    const name = newName()
    const { token } = await app.apiTokens.add({ name, expiresInSeconds: 90 * 86_400 })
    const now = Math.floor(app.clock.now() / 1000)
    expect(token).toMatch(new RegExp(`^srs_${name}\\.[A-Za-z0-9_-]{43}$`))
    expect(await stored(name, 'TOKEN')).toEqual({
      PK: `SEALEDTOKEN#${name}`,
      SK: 'TOKEN',
      name,
      tokenHash: new Uint8Array(createHash('sha256').update(token).digest()),
      perHour: 100,
      createdAt: now,
      expiresAt: now + 90 * 86_400,
    })
  })

  test('seal without proof of work until they are revoked, also with what was issued before', async () => {
    const app = await startApp(opened.db, { env: { SEALED_DIFFICULTY: '20' } })
    const other = await startApp(opened.db, { clock: app.clock })
    const name = newName()
    const { token } = await app.apiTokens.add({ name })
    const [used, kept] = [
      await issueToken(app, bearer(token)),
      await issueToken(app, bearer(token)),
    ]
    expect(used.challenge).toMatchObject({ difficulty: 0, perDoubling: 0 })
    expect((await postSecret(app, used.token, newSecretBody(newKeys()))).status).toBe(201)
    await app.apiTokens.revoke(name)
    expect([await statusOf(app, token), await statusOf(other, token)]).toEqual([401, 401])
    const late = await postSecret(other, kept.token, newSecretBody(newKeys()))
    expect([late.status, await codeOf(late)]).toEqual([401, 'sealed.invalid_token'])
    expect([await stored(name, 'TOKEN'), await stored(name, 'RATE')]).toEqual([
      undefined,
      undefined,
    ])

    await app.apiTokens.add({ name })
    expect(await statusOf(app, token)).toBe(401)
    const earlier = await postSecret(app, kept.token, newSecretBody(newKeys()))
    expect(earlier.status).toBe(401)
  })

  test('are refused from the second of their expiry on', async () => {
    const app = await startApp(opened.db)
    const { token } = await app.apiTokens.add({ name: newName(), expiresInSeconds: 60 })
    const issued = await issueToken(app, bearer(token))
    app.clock.advance({ seconds: 59 })
    expect(await statusOf(app, token)).toBe(200)
    app.clock.advance({ seconds: 1 })
    const refused = await ask(app, token)
    expect([refused.status, await codeOf(refused)]).toEqual([401, 'sealed.invalid_api_token'])
    expect((await postSecret(app, issued.token, newSecretBody(newKeys()))).status).toBe(401)
  })

  test('allow their number of secrets per hour, counted across processes', async () => {
    const clock = testClock()
    const apps = await Promise.all([1, 2, 3].map(() => startApp(opened.db, { clock })))
    const [first] = apps as [SealedApp]
    const [limited, free] = [
      await first.apiTokens.add({ name: newName(), perHour: 10 }),
      await first.apiTokens.add({ name: newName(), perHour: 10 }),
    ]
    const statuses = await Promise.all(
      Array.from({ length: 21 }, (_, at) => statusOf(apps[at % 3]!, limited.token)),
    )
    expect(statuses.filter((status) => status === 200)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(11)
    const refused = await ask(first, limited.token)
    expect(refused.headers.get('ratelimit-limit')).toBe('10')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await statusOf(first, free.token)).toBe(200)
    clock.advance({ hours: 2 })
    expect(await statusOf(first, limited.token)).toBe(200)
  })

  test('record their last use to the minute', async () => {
    const app = await startApp(opened.db)
    const name = newName()
    const { token } = await app.apiTokens.add({ name })
    const lastUse = async () =>
      (await app.apiTokens.list()).find((each) => each.name === name)?.lastUsedAt
    expect(await lastUse()).toBeUndefined()
    const start = app.clock.now() / 1000
    app.clock.advance({ seconds: 59 })
    await ask(app, token)
    expect(await lastUse()).toBe(start)
    app.clock.advance({ seconds: 61 })
    await ask(app, token)
    expect(await lastUse()).toBe(start + 120)
  })

  test('are added once per name, by one of ten concurrent callers', async () => {
    const name = newName()
    const add = () => createApiTokens({ db: opened.db, clock: testClock() }).add({ name })
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, add))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await expect(add()).rejects.toMatchObject({ code: 'sealed.api_token_exists' })
  })

  test('need a valid name, limit and expiry', async () => {
    const { apiTokens } = await startApp(opened.db)
    for (const name of ['', 'A', 'a b', 'a#b', 'x'.repeat(33), '-a']) {
      await expect(apiTokens.add({ name })).rejects.toMatchObject({
        code: 'sealed.invalid_api_token_name',
      })
    }
    for (const perHour of [0, 1.5, 1_000_001, Number.NaN]) {
      await expect(apiTokens.add({ name: 'x', perHour })).rejects.toMatchObject({
        code: 'sealed.invalid_api_token_limit',
      })
    }
    await expect(apiTokens.add({ name: 'x', expiresInSeconds: 0 })).rejects.toMatchObject({
      code: 'sealed.invalid_api_token_expiry',
    })
    await expect(apiTokens.revoke('nobody')).rejects.toMatchObject({
      code: 'sealed.api_token_not_found',
    })
  })

  test('are created, listed and revoked over HTTP by operators only', async () => {
    const app = await startApp(opened.db)
    const operator = bearer(await app.operators.add(newName()))
    const name = newName()
    const created = await app.request('/v1/api-tokens', post({ name, perHour: 7 }, operator))
    expect(created.status).toBe(201)
    const { token, ...view } = (await created.json()) as { token: string }
    expect(await statusOf(app, token)).toBe(200)
    for (const headers of [{}, bearer(token)]) {
      for (const request of [
        app.request('/v1/api-tokens', { headers }),
        app.request('/v1/api-tokens', post({ name: newName() }, headers)),
        app.request(`/v1/api-tokens/${name}`, { method: 'DELETE', headers }),
      ]) {
        expect(await codeOf(await request)).toBe('operator.unauthorized')
      }
    }
    const listed = await app.request('/v1/api-tokens', { headers: operator })
    const { items } = (await listed.json()) as { items: { name: string }[] }
    expect(items.find((each) => each.name === name)).toEqual({
      ...view,
      lastUsedAt: Math.floor(app.clock.now() / 60_000) * 60,
    })
    expect(JSON.stringify(items)).not.toContain('srs_')
    const gone = { method: 'DELETE', headers: operator }
    expect((await app.request(`/v1/api-tokens/${name}`, gone)).status).toBe(204)
    expect((await app.request(`/v1/api-tokens/${name}`, gone)).status).toBe(404)
    expect(await statusOf(app, token)).toBe(401)
  })
})
