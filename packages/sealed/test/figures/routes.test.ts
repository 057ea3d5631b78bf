import { everyStore } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, test } from 'vitest'
import { openDb, type SealedApp, startApp } from '../support/sealed-app.ts'
import { createSecret, reveal } from '../support/sealed-client.ts'

describe.each(everyStore())('the figures of Sealed on $name', (store) => {
  const opened = openDb(store)

  async function getFigures(app: SealedApp, query = '', role: 'viewer' | 'admin' = 'viewer') {
    const name = `ops-${Math.random().toString(36).slice(2, 10)}`
    const token = await app.operators.add(name, { role })
    const response = await app.request(`/v1/figures${query}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    return { status: response.status, body: JSON.parse(await response.text()) }
  }

  test('count what was created, opened, refused and expired, of all servers, by hour', async () => {
    const clock = testClock('2101-01-01T00:00:00.000Z')
    const one = await startApp(opened.db, { clock, env: { SEALED_QUOTA_MB: '1' } })
    const other = await startApp(opened.db, { clock })
    const first = await createSecret(one)
    await createSecret(one, { ttlSeconds: 900 })
    expect((await reveal(other, first.id, first.keys)).status).toBe(200)
    clock.advance({ minutes: 59 })
    expect((await reveal(other, 'unknown', first.keys)).status).toBe(404)
    clock.advance({ minutes: 2 })
    await createSecret(one)
    await one.settle()
    await other.settle()
    const { status, body } = await getFigures(one, '?hours=2')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      hours: [
        { from: '2101-01-01T00:00:00.000Z', created: 2, opened: 1, refused: 1 },
        { from: '2101-01-01T01:00:00.000Z', created: 1, opened: 0, refused: 0 },
      ],
      total: { created: 3, opened: 1, refused: 1 },
      quota: { usedBytes: expect.any(Number), maxBytes: 1024 * 1024 },
    })
    expect(JSON.stringify(body)).not.toContain(first.id)
    const { Items = [] } = await opened.db.query({
      TableName: 'strongroom-operations',
      KeyConditionExpression: 'PK = :pk AND SK = :sk',
      ExpressionAttributeValues: { ':pk': 'SEALED#FIGURES', ':sk': '2101-01-01T01' },
    })
    expect(Items).toEqual([
      {
        PK: 'SEALED#FIGURES',
        SK: '2101-01-01T01',
        created: 1,
        opened: 0,
        expired: 0,
        refused: 0,
        expiresAt: Math.floor(clock.now() / 1000) + 90 * 86_400,
      },
    ])
  })

  test('count a secret that ends unread because of its age', async () => {
    const clock = testClock('2102-01-01T00:00:00.000Z')
    const app = await startApp(opened.db, { clock })
    const { id, keys } = await createSecret(app, { ttlSeconds: 900 })
    clock.advance({ minutes: 16 })
    await reveal(app, id, keys)
    await app.settle()
    const { body } = await getFigures(app)
    expect(body.total).toMatchObject({ created: 1, opened: 0, expired: 1, refused: 1 })
    expect(body.quota).toBeNull()
  })

  test('are written once a minute and when the server stops, not by requests', async () => {
    const clock = testClock('2103-01-01T00:00:00.000Z')
    const app = await startApp(opened.db, { clock })
    const writes = () => app.operations.filter((name) => name === 'updateItem').length
    const before = writes()
    for (let number = 0; number < 5; number++) await createSecret(app)
    expect(writes() - before).toBe(0)
    clock.advance({ minutes: 1 })
    await app.settle()
    expect(writes() - before).toBe(1)
    await createSecret(app)
    await app.close()
    expect(writes() - before).toBe(2)
    const later = await startApp(opened.db, { clock })
    expect((await getFigures(later)).body.total.created).toBe(6)
  })

  test('need an operator, and are dropped while the store is unavailable', async () => {
    const app = await startApp(opened.db)
    expect((await app.request('/v1/figures')).status).toBe(401)
    expect((await getFigures(app, '?hours=0')).status).toBe(400)
    const failing = await startApp({
      ...opened.db,
      updateItem: async () => {
        throw Object.assign(new Error('down'), { name: 'ServiceUnavailable' })
      },
    })
    await createSecret(failing)
    await failing.close()
    expect(failing.lines.join('')).toContain('figures not stored')
  })
})
