import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { createApp } from '@strongroom/kit/http/app'
import type { AppEnv } from '@strongroom/kit/http/env'
import { openApiDocument } from '@strongroom/kit/http/openapi'
import { silentLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { testStores } from '@strongroom/kit/testing/stores'
import { beforeAll, describe, expect, test } from 'vitest'
import { declaredOnly } from '../../src/api/permissions.ts'
import { times } from '../workbench.ts'
import { openApi, type Person } from './open-api.ts'

const NEEDS = ['public', 'read', 'write', 'admin', 'session', 'operator']

interface Operation {
  method: string
  /** With its placeholders, below /v1. */
  path: string
  need: string
}

/** A body for each route that wants one, so that only the permission is in its way. */
const BODIES: Record<string, unknown> = {
  'POST /sources': { name: 'S', provider: 'custom' },
  'PATCH /sources/{id}': { name: 'S' },
  'POST /sources/{id}/rotate-secret': { signingSecret: 'two' },
  'POST /sources/{id}/connections': { name: 'C', destinationUrl: 'https://a.example/' },
  'POST /sources/{id}/dry-run': { sample: { body: '{}' } },
  'PATCH /connections/{id}': { name: 'C' },
  'POST /connections/{id}/rotate-secret': {},
  'POST /api-keys': { name: 'K', permissions: 'read' },
  'PATCH /account': { name: 'N' },
  'PUT /account/password': { currentPassword: 'x', newPassword: 'long enough it is' },
  'POST /account/delete': { currentPassword: 'x' },
  'PUT /users/{id}/plan': { plan: 'free' },
}

/** What a person owns, by the place of its id in a path. */
interface Owned {
  sources: string
  connections: string
  'api-keys': string
}

describe.each(testStores())('permissions on $name', (store) => {
  const api = openApi(store)
  let operations: Operation[]
  let ada: Person
  let owned: Owned

  beforeAll(async () => {
    const document = openApiDocument(api.app, { title: 'Ferryhook', version: '1' })
    operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item as Record<string, Record<string, unknown>>).map(([method, declared]) => ({
        method: method.toUpperCase(),
        path: path.replace('/ferryhook/v1', ''),
        need: String(declared['x-permission']),
      })),
    )
    ada = await api.person()
    const sourceId = await api.source(ada, { signingSecret: 'one' })
    const connection = await api.connection(ada, sourceId)
    await api.key(ada, 'read')
    const { body } = await api.ask('GET', '/api-keys', { token: ada.token })
    owned = {
      sources: sourceId,
      connections: connection.body.id,
      'api-keys': body.items[0].id,
    }
  })

  const pathOf = ({ path }: Operation, ids: Owned) =>
    path
      .replace(
        /^\/(sources|connections|api-keys)\/\{id\}/,
        (_, kind: keyof Owned) => `/${kind}/${ids[kind]}`,
      )
      .replace('{id}', 'usr_0000000000000000')
      .replace('{provider}', 'github')
  const call = (operation: Operation, token: string | undefined, ids = owned) => {
    const body = BODIES[`${operation.method} ${operation.path}`]
    return api.ask(operation.method, pathOf(operation, ids), {
      token,
      ...(body !== undefined && { body }),
    })
  }
  const needing = (...needs: string[]) => operations.filter(({ need }) => needs.includes(need))

  test('every route of the API declares what it needs', () => {
    expect(operations.length).toBeGreaterThan(35)
    for (const { method, path, need } of operations) {
      expect(NEEDS, `${method} ${path}`).toContain(need)
    }
  })

  test('a route that declares nothing is not served', async () => {
    const responses = { 200: { description: 'All' } }
    const forgotten = createRoute({ method: 'get', path: '/v1/forgotten', responses })
    const routes = new OpenAPIHono<AppEnv>()
    routes.use('/v1/*', declaredOnly)
    routes.openapi(forgotten, (c) => c.text('open to all'))
    const app = createApp({ log: silentLog, metrics: createMetrics() })
    app.route('/', routes)
    const answer = await app.request('/v1/forgotten')
    expect(answer.status).toBe(500)
    expect(await answer.text()).not.toContain('open to all')
    expect((await app.request('/v1/nothing')).status).toBe(404)
  })

  test('without a token nobody gets through but to what is public', async () => {
    for (const operation of needing('read', 'write', 'admin', 'session')) {
      const { status, body } = await call(operation, undefined)
      expect(status, operation.path).toBe(401)
      expect(body.error.code).toBe('ferryhook.unauthorized')
    }
    for (const operation of needing('operator')) {
      for (const token of [undefined, ada.token, await api.key(ada, 'admin')]) {
        expect((await call(operation, token)).body.error.code).toBe('operator.unauthorized')
      }
    }
    for (const operation of needing('read', 'session')) {
      expect((await call(operation, api.operator)).status, operation.path).toBe(401)
    }
  })

  test('keys that may read cannot write, and keys that may write cannot administrate', async () => {
    const [reads, writes] = [await api.key(ada, 'read'), await api.key(ada, 'write')]
    const refused = [
      ...needing('write', 'admin').map((operation) => [reads, operation] as const),
      ...needing('admin').map((operation) => [writes, operation] as const),
    ]
    expect(refused.length).toBeGreaterThan(15)
    for (const [token, operation] of refused) {
      const { status, body } = await call(operation, token)
      expect(status, operation.path).toBe(403)
      expect(body.error).toMatchObject({
        code: 'ferryhook.permission_required',
        data: { permission: operation.need },
      })
    }
    for (const operation of needing('read')) {
      expect((await call(operation, reads)).status, operation.path).toBe(200)
    }
    for (const operation of needing('write')) {
      // What is destroyed on the way is not there for the next.
      const fresh = await freshly()
      const { status } = await call(operation, fresh.key, fresh.ids)
      expect(status, `${operation.method} ${operation.path}`).toBeLessThan(300)
    }
  })

  /** A person with something of everything, and a key that may write. */
  async function freshly() {
    const person = await api.person()
    const sources = await api.source(person, { signingSecret: 'one' })
    const { body } = await api.connection(person, sources, {
      destinationUrl: 'https://shop.invalid/',
    })
    return {
      key: await api.key(person, 'write'),
      ids: { ...owned, sources, connections: body.id },
    }
  }

  test('no key is enough where a signed-in user is asked for', async () => {
    const admin = await api.key(ada, 'admin')
    for (const operation of needing('session')) {
      const { status, body } = await call(operation, admin)
      expect(status, operation.path).toBe(403)
      expect(body.error.code).toBe('ferryhook.session_required')
    }
  })

  test('what is somebody else’s is as unknown as what is not there', async () => {
    const stranger = await api.key(await api.person(), 'admin')
    const missing: Owned = {
      sources: 'src_0000000000000000',
      connections: 'conn_0000000000000000',
      'api-keys': 'key_0000000000000000',
    }
    const withIds = needing('read', 'write', 'admin').filter(({ path }) => path.includes('{id}'))
    expect(withIds.length).toBeGreaterThan(15)
    for (const operation of withIds) {
      const theirs = await call(operation, stranger)
      const none = await call(operation, stranger, missing)
      expect(theirs.status, operation.path).toBe(404)
      expect(theirs.text).toBe(none.text)
    }
    expect((await api.ask('GET', `/sources/${owned.sources}`, { token: ada.token })).status).toBe(
      200,
    )
  })

  test('a key may ask a hundred times a minute', async () => {
    const person = await api.person()
    const token = await api.key(person, 'read')
    const asked = await Promise.all(times(101, () => api.ask('GET', '/account', { token })))
    const refused = asked.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(1)
    expect(refused[0]?.body.error.code).toBe('request.rate_limited')
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0)
    const other = await api.ask('GET', '/account', { token: person.token })
    expect(other.status).toBe(200)
    api.clock.advance({ minutes: 2 })
    expect((await api.ask('GET', '/account', { token })).status).toBe(200)
  })

  test('a user may ask a thousand times a minute, with whatever keys', async () => {
    const person = await api.person()
    const key = await api.key(person, 'read')
    // The one that made the key is counted; so would be the 998 others that came.
    await api.db.updateItem({
      TableName: 'ferryhook-events',
      Key: { PK: `RATE#user#${person.id}`, SK: 'WINDOW' },
      UpdateExpression: 'ADD minute_cur :others',
      ExpressionAttributeValues: { ':others': 998 },
    })
    expect((await api.ask('GET', '/account', { token: key })).status).toBe(200)
    for (const token of [key, person.token]) {
      expect((await api.ask('GET', '/account', { token })).status).toBe(429)
    }
  })
})
