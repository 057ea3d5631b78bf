import { openApiDocument } from '@strongroom/kit/http/openapi'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { beforeAll, describe, expect, test } from 'vitest'
import { deliver } from '../support/people.ts'
import { openApi, type Person } from '../support/test-api.ts'
import { eventInput } from '../support/test-stores.ts'

const V1 = '/ferryhook/v1'
const NEEDS = [
  'public',
  'read',
  'write',
  'admin',
  'session',
  'operator:viewer',
  'operator:editor',
  'operator:admin',
]

interface Operation {
  method: string
  /** With its placeholders, relative to /v1. */
  path: string
  need: string
}

/** A valid body for each route that needs one, so that only the permission decides. */
const BODIES: Record<string, unknown> = {
  'POST /sources': { name: 'S', provider: 'custom' },
  'PATCH /sources/{id}': { name: 'S' },
  'POST /sources/{id}/rotate-secret': { signingSecret: 'two' },
  'POST /sources/{id}/connections': { name: 'C', destinationUrl: 'https://a.example/' },
  'POST /sources/{id}/dry-run': { sample: { body: '{}' } },
  'POST /sources/{id}/dry-runs': { last: 1 },
  'PATCH /connections/{id}': { name: 'C' },
  'POST /connections/{id}/rotate-secret': {},
  'POST /api-keys': { name: 'K', permissions: 'read' },
  'PATCH /account': { name: 'N' },
  'PUT /alerts': { webhookUrl: 'https://a.example/' },
  'POST /alerts/rotate-secret': {},
  'POST /invites/mail': { email: 'a@b.example' },
  'PUT /account/password': { currentPassword: 'x', newPassword: 'long enough it is' },
  'POST /account/delete': { currentPassword: 'x' },
  'PUT /users/{id}/plan': { plan: 'free' },
  ...Object.fromEntries(
    ['replay', 'cancel', 'hold', 'release', 'retry'].map((action) => [
      `POST /events/${action}`,
      { eventIds: ['evt_0000000000000000'] },
    ]),
  ),
}

/** The resources of a user, by the position of their id in a path. */
interface Owned {
  sources: string
  connections: string
  'api-keys': string
  events: string
  replays: string
}

describe.each(serviceStores())('permissions on $name', (store) => {
  const api = openApi(store)
  let operations: Operation[]
  let ada: Person
  let owned: Owned

  beforeAll(async () => {
    const document = openApiDocument(api.app, { title: 'Ferryhook', version: '1' })
    operations = Object.entries(document.paths)
      .filter(([path]) => path.startsWith(V1))
      .flatMap(([path, item]) =>
        Object.entries(item as Record<string, Record<string, unknown>>).map(
          ([method, declared]) => ({
            method: method.toUpperCase(),
            path: path.slice(V1.length),
            need: String(declared['x-permission']),
          }),
        ),
      )
    ada = await api.person()
    owned = await somethingOf(ada)
  })

  /** One resource of each kind. */
  async function somethingOf(person: Person): Promise<Owned> {
    const { token } = person
    const sources = await api.source(person, { signingSecret: 'one' })
    const destinationUrl = 'test:200'
    const { body: connection } = await api.connection(person, sources, { destinationUrl })
    await api.ask('POST', `/connections/${connection.id}/test`, { token })
    const event = await api.stores.events.create(
      eventInput({ sourceId: sources, userId: person.id }),
    )
    await deliver(api, event, [connection.id], 'retrying')
    const { body: replay } = await api.ask('POST', '/replays', { token, body: rangeOf(sources) })
    await api.key(person, 'read')
    const { body: keys } = await api.ask('GET', '/api-keys', { token })
    return {
      sources,
      connections: connection.id,
      'api-keys': keys.items[0].id,
      events: event.eventId,
      replays: replay.id,
    }
  }

  const rangeOf = (sourceId: string) => ({ sourceId, from: '2100-01-01T00:00:00.000Z' })

  const pathOf = ({ path }: Operation, ids: Owned) =>
    path
      .replace(
        /^\/(sources|connections|api-keys|events|replays)\/\{id\}/,
        (_, kind: keyof Owned) => `/${kind}/${ids[kind]}`,
      )
      .replace('{id}', 'usr_0000000000000000')
      .replace('{number}', '1')
      .replace('{connectionId}', ids.connections)
      .replace('{provider}', 'github')
      .replace(/counts$/, 'counts?from=2100-01-01T00:00:00Z')
  const bodyOf = ({ method, path }: Operation, ids: Owned) =>
    `${method} ${path}` === 'POST /replays' ? rangeOf(ids.sources) : BODIES[`${method} ${path}`]
  const call = (operation: Operation, token: string | undefined, ids = owned) => {
    const body = bodyOf(operation, ids)
    return api.ask(operation.method, pathOf(operation, ids), {
      token,
      ...(body !== undefined && { body }),
    })
  }
  const needing = (...needs: string[]) => operations.filter(({ need }) => needs.includes(need))

  test('every route of the API declares its permission', () => {
    expect(operations.length).toBeGreaterThan(35)
    for (const { method, path, need } of operations) {
      expect(NEEDS, `${method} ${path}`).toContain(need)
    }
  })

  test('without a token only public routes are served', async () => {
    for (const operation of needing('read', 'write', 'admin', 'session')) {
      const { status, body } = await call(operation, undefined)
      expect(status, operation.path).toBe(401)
      expect(body.error.code).toBe('ferryhook.unauthorized')
    }
    for (const operation of needing('operator:viewer', 'operator:editor', 'operator:admin')) {
      for (const token of [undefined, ada.token, await api.key(ada, 'admin')]) {
        expect((await call(operation, token)).body.error.code).toBe('operator.unauthorized')
      }
    }
    for (const operation of needing('read', 'session')) {
      expect((await call(operation, api.operator)).status, operation.path).toBe(401)
    }
  })

  test('read keys cannot write, and write keys cannot administer', async () => {
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
  })

  test('read keys can read, and write keys can write', async () => {
    const person = await api.person()
    const ids = await somethingOf(person)
    const [reads, writes] = [await api.key(person, 'read'), await api.key(person, 'write')]
    for (const operation of needing('read')) {
      expect((await call(operation, reads, ids)).status, operation.path).toBe(200)
    }
    // Deleted resources are not available to later requests, so the source, which owns the rest, comes last.
    const rank = ({ method, path }: Operation) =>
      method === 'DELETE' ? (path.startsWith('/sources') ? 2 : 1) : 0
    for (const operation of needing('write').toSorted((a, b) => rank(a) - rank(b))) {
      const { status } = await call(operation, writes, ids)
      // The state of a delivery may not allow the action, but the permission does.
      expect(status < 300 || status === 409, `${operation.method} ${operation.path}`).toBe(true)
    }
  })

  test('no key is accepted where a session is required', async () => {
    const admin = await api.key(ada, 'admin')
    for (const operation of needing('session')) {
      const { status, body } = await call(operation, admin)
      expect(status, operation.path).toBe(403)
      expect(body.error.code).toBe('ferryhook.session_required')
    }
  })

  test('resources of other users are reported as not found', async () => {
    const stranger = await api.key(await api.person(), 'admin')
    const missing: Owned = {
      sources: 'src_0000000000000000',
      connections: 'conn_0000000000000000',
      'api-keys': 'key_0000000000000000',
      events: 'evt_0000000000000000',
      replays: 'rpl_0000000000000000',
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

  test('lists, statistics and exports contain only the resources of the user', async () => {
    const stranger = await api.key(await api.person(), 'admin')
    const withoutIds = needing('read', 'write', 'admin').filter(({ path }) => !path.includes('{'))
    expect(withoutIds.length).toBeGreaterThan(8)
    for (const operation of withoutIds) {
      const { text } = await call(operation, stranger)
      for (const id of [ada.id, ada.email, ...Object.values(owned)]) {
        expect(text, `${operation.method} ${operation.path}`).not.toContain(id)
      }
    }
    const theirs = { token: stranger }
    const ofAda = `/analytics/overview?sourceId=${owned.sources}`
    expect((await api.ask('GET', ofAda, theirs)).status).toBe(404)
    const replay = { eventIds: [owned.events] }
    const { body } = await api.ask('POST', '/events/replay', { ...theirs, body: replay })
    expect(JSON.stringify(body)).toContain('ferryhook.event_not_found')
  })

  /** As if this many requests had been made before. */
  const countAlso = (PK: string, others: number) =>
    api.db.updateItem({
      TableName: 'ferryhook-events',
      Key: { PK, SK: 'WINDOW' },
      UpdateExpression: 'ADD minute_cur :others',
      ExpressionAttributeValues: { ':others': others },
    })

  test('a key is limited to a hundred requests per minute', async () => {
    const person = await api.person()
    const token = await api.key(person, 'read')
    const ask = () => api.ask('GET', '/account', { token })
    expect((await ask()).status).toBe(200)
    const [key] = await api.stores.apiKeys.listByUser(person.id)
    await countAlso(`RATE#key#${key?.keyId}`, 98)
    expect((await ask()).status).toBe(200)
    const refused = await ask()
    expect(refused.body.error.code).toBe('request.rate_limited')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await api.ask('GET', '/account', { token: person.token })).status).toBe(200)
    api.clock.advance({ minutes: 2 })
    expect((await ask()).status).toBe(200)
  })

  test('a user is limited to a thousand requests per minute with all keys', async () => {
    const person = await api.person()
    // This request counts, too.
    const key = await api.key(person, 'read')
    await countAlso(`RATE#user#${person.id}`, 998)
    expect((await api.ask('GET', '/account', { token: key })).status).toBe(200)
    for (const token of [key, person.token]) {
      expect((await api.ask('GET', '/account', { token })).status).toBe(429)
    }
  })
})
