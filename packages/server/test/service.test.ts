import { createTables } from '@strongroom/kit/tables'
import type { Db } from '@strongroom/kit/db'
import { retryingDb } from '@strongroom/kit/retrying-db'
import { hostileDb } from '@strongroom/kit/testing/hostile-db'
import { testStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { settings } from '../src/settings.ts'
import { tablesOf } from '../src/tables.ts'
import { notesService } from './notes-service.ts'
import { testApp } from './test-app.ts'

async function appOn(db: Db, { atRoot = false } = {}) {
  return testApp({
    db,
    services: [notesService],
    atRoot,
    settings: settings.parse({}),
    publicUrl: 'http://localhost:4280',
  })
}

const put = (body: unknown) => ({
  method: 'PUT',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const post = { method: 'POST' }

describe.each(testStores())('a service mounted in the server, on $name', (store) => {
  let db: Db
  let close: () => Promise<void>
  let names = 0

  beforeAll(async () => {
    ;({ db, close } = await store.open())
    await createTables(db, tablesOf([notesService]))
  })
  afterAll(() => close())

  const newName = () => `note${String.fromCharCode(97 + names++)}`

  test('stores exactly the declared item', async () => {
    const name = newName()
    const answer = await (await appOn(db)).request(`/notes/v1/${name}`, put({ text: 'hello' }))
    expect(answer.status).toBe(204)
    const { Item } = await db.getItem({ TableName: 'notes', Key: { PK: `NOTE#${name}` } })
    expect(Item).toEqual({ PK: `NOTE#${name}`, text: 'hello', 'reads-left': 2 })
  })

  test('returns what it stored', async () => {
    const name = newName()
    const app = await appOn(db)
    await app.request(`/notes/v1/${name}`, put({ text: 'hello' }))
    const answer = await app.request(`/notes/v1/${name}/read`, post)
    expect(await answer.json()).toEqual({ text: 'hello', readsLeft: 1 })
  })

  test('of ten simultaneous readers of a note with two reads exactly two get it', async () => {
    const name = newName()
    const app = await appOn(db)
    await app.request(`/notes/v1/${name}`, put({ text: 'hello' }))
    const read = async () => app.request(`/notes/v1/${name}/read`, post)
    const answers = await Promise.all(Array.from({ length: 10 }, read))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(2)
    expect(statuses.filter((status) => status === 404)).toHaveLength(8)
  })

  test('admits exactly two readers on a store that throttles and conflicts', async () => {
    const name = newName()
    const hostile = hostileDb(db, { seed: 11, throttle: 0.3, conflict: 0.3 })
    const app = await appOn(retryingDb(hostile, { attempts: 30, pause: async () => {} }))
    await app.request(`/notes/v1/${name}`, put({ text: 'hello' }))
    const read = async () => app.request(`/notes/v1/${name}/read`, post)
    const answers = await Promise.all(Array.from({ length: 10 }, read))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
  })

  test('rejects invalid input with the name of the field and stores nothing', async () => {
    const name = newName()
    const answer = await (await appOn(db)).request(`/notes/v1/${name}`, put({ text: 5 }))
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({
      error: { code: 'request.invalid', details: [{ path: expect.stringContaining('text') }] },
    })
    const { Item } = await db.getItem({ TableName: 'notes', Key: { PK: `NOTE#${name}` } })
    expect(Item).toBeUndefined()
  })

  test('responds to each error with its code', async () => {
    const name = newName()
    const app = await appOn(db)
    await app.request(`/notes/v1/${name}`, put({ text: 'hello' }))
    const again = await app.request(`/notes/v1/${name}`, put({ text: 'hello' }))
    const missing = await app.request('/notes/v1/nowhere/read', post)
    expect([again.status, await again.json()]).toMatchObject([
      409,
      { error: { code: 'notes.exists' } },
    ])
    expect([missing.status, await missing.json()]).toMatchObject([
      404,
      { error: { code: 'notes.gone' } },
    ])
  })

  test('is mounted at the root when it runs alone', async () => {
    const app = await appOn(db, { atRoot: true })
    const answer = await app.request(`/v1/${newName()}`, put({ text: 'hello' }))
    expect(answer.status).toBe(204)
  })

  test('is in the OpenAPI document under its mount point', async () => {
    const document: unknown = await (await (await appOn(db)).request('/openapi.json')).json()
    expect(document).toHaveProperty(['paths', '/notes/v1/{name}', 'put'])
  })
})
