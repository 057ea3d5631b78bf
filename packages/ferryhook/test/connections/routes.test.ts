import { serviceStores } from '@strongroom/kit/testing/stores'
import { secretBox } from '@strongroom/kit/testing/test-secrets'
import { beforeAll, describe, expect, test } from 'vitest'
import { createSealedSecrets } from '../../src/signing/sealed-secrets.ts'
import { required } from '../support/test-stores.ts'
import { openApi, type Person } from '../support/test-api.ts'

const WHSEC = /^whsec_[A-Za-z0-9+/]{43}=$/

describe.each(serviceStores())('connections on $name', (store) => {
  const api = openApi(store)
  let ada: Person
  let sourceId: string
  beforeAll(async () => {
    ada = await api.person()
    sourceId = await api.source(ada)
  })

  const make = (given?: object) => api.connection(ada, sourceId, given)
  const ask = (method: string, path: string, body?: unknown) =>
    api.ask(method, `/connections${path}`, {
      token: ada.token,
      ...(body !== undefined && { body }),
    })
  const stored = async (connectionId: string) =>
    required(await api.stores.connections.get(connectionId, sourceId))

  test('are created with a secret that is shown in the response', async () => {
    const made = await make()
    expect(made.status).toBe(201)
    const { signingSecret, ...view } = made.body
    expect(signingSecret).toMatch(WHSEC)
    expect(view).toEqual({
      id: expect.stringMatching(/^conn_[\w-]{16}$/),
      circuit: { state: 'closed', since: null, nextAttemptAt: null },
      sourceId,
      name: 'To the shop',
      destinationUrl: 'https://shop.example/hooks',
      filters: [],
      transform: { type: 'passthrough' },
      retryConfig: null,
      limits: {},
      headerNames: [],
      rev: 0,
      status: 'active',
      statusReason: null,
      failingSince: null,
      failedAttempts: 0,
      lastDeliveredAt: null,
      deliveryCount: 0,
      failureCount: 0,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect((await ask('GET', `/${view.id}`)).body).toEqual(view)
    const listed = await api.ask('GET', `/sources/${sourceId}/connections`, { token: ada.token })
    expect(listed.body.items).toContainEqual(view)
    expect(JSON.stringify(await stored(view.id))).not.toContain(signingSecret)
  })

  test('store filters, transform, delays, limits and headers, and never show header values', async () => {
    const given = {
      filters: [{ path: '$.type', operator: 'equals', value: 'invoice.paid' }],
      transform: { type: 'field_map', rules: [{ from: '$.id', to: 'id' }] },
      retryConfig: [0, 60, 600],
      limits: { concurrency: 2, perSecond: 0.5 },
    }
    const headers = { Authorization: 'Bearer tell-nobody', 'X-Shop': '7' }
    const made = await make({ ...given, headers })
    expect(made.body).toMatchObject({ ...given, headerNames: ['authorization', 'x-shop'] })
    expect(made.text).not.toContain('tell-nobody')
    const item = await stored(made.body.id)
    expect(JSON.stringify(item)).not.toContain('tell-nobody')
    expect(await createSealedSecrets(secretBox).customHeaders(item)).toEqual({
      authorization: 'Bearer tell-nobody',
      'x-shop': '7',
    })
  })

  test('an update of an old revision changes nothing and returns the current version', async () => {
    const { body: made } = await make()
    const first = await ask('PATCH', `/${made.id}`, { name: 'First', rev: made.rev })
    expect([first.status, first.body.rev]).toEqual([200, made.rev + 1])
    const audited = async () => (await api.stores.audit.listByUser(ada.id)).items.length
    const [before, entries] = [await stored(made.id), await audited()]
    const late = await ask('PATCH', `/${made.id}`, { name: 'Late', rev: made.rev })
    expect(late.status).toBe(409)
    expect(late.body.error).toEqual({
      code: 'ferryhook.connection_changed',
      message: expect.any(String),
      data: { connection: (await ask('GET', `/${made.id}`)).body },
    })
    expect([await stored(made.id), await audited()]).toEqual([before, entries])
    const { rev } = late.body.error.data.connection
    expect((await ask('PATCH', `/${made.id}`, { name: 'Late', rev })).body).toMatchObject({
      name: 'Late',
      rev: rev + 1,
    })
    expect((await ask('POST', `/${made.id}/pause`)).body.rev).toBe(rev + 2)
    const none = await ask('PATCH', `/${made.id}`, { name: 'Any' })
    expect([none.status, none.body.rev]).toEqual([200, rev + 3])
    expect((await ask('PATCH', `/${made.id}`, { rev: -1 })).body.error.code).toBe('request.invalid')
  })

  test('of ten simultaneous updates of one revision exactly one succeeds', async () => {
    const { body: made } = await make()
    const names = Array.from({ length: 10 }, (_, n) => `Name ${n}`)
    const answers = await Promise.all(
      names.map((name) => ask('PATCH', `/${made.id}`, { name, rev: made.rev })),
    )
    const [winner, ...others] = answers.filter(({ status }) => status === 200)
    expect(others).toEqual([])
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(9)
    expect(await stored(made.id)).toMatchObject({ name: winner?.body.name, rev: made.rev + 1 })
  })

  test('a key without the admin permission cannot redirect stored headers', async () => {
    const headers = { Authorization: 'Bearer tell-nobody' }
    const { body: made } = await make({ headers })
    const [writes, admin] = [await api.key(ada, 'write'), await api.key(ada, 'admin')]
    const change = (token: string, body: object) =>
      api.ask('PATCH', `/connections/${made.id}`, { token, body })
    for (const destinationUrl of ['https://other.example/', 'https://shop.example/not-theirs']) {
      const refused = await change(writes, { destinationUrl })
      expect(refused.body.error).toMatchObject({
        code: 'ferryhook.permission_required',
        data: { permission: 'admin' },
      })
    }
    expect((await stored(made.id)).destinationUrl).toBe(made.destinationUrl)
    const same = { name: 'Renamed', destinationUrl: made.destinationUrl }
    expect((await change(writes, same)).status).toBe(200)
    const anew = { destinationUrl: 'https://other.example/', headers: { 'X-Shop': '7' } }
    expect((await change(writes, anew)).body.headerNames).toEqual(['x-shop'])
    const moved = await change(admin, { destinationUrl: 'https://third.example/' })
    expect(moved.body).toMatchObject({
      destinationUrl: 'https://third.example/',
      headerNames: ['x-shop'],
    })
  })

  test('are updated partially; null removes a value', async () => {
    const { body } = await make({
      filters: [{ path: '$.a', operator: 'exists' }],
      retryConfig: [0],
      limits: { perSecond: 1 },
      headers: { 'x-a': '1' },
    })
    const renamed = await ask('PATCH', `/${body.id}`, {
      name: 'Other',
      destinationUrl: 'https://other.example/',
    })
    expect(renamed.body).toMatchObject({
      name: 'Other',
      destinationUrl: 'https://other.example/',
      filters: body.filters,
      headerNames: ['x-a'],
    })
    const bare = await ask('PATCH', `/${body.id}`, {
      filters: null,
      transform: null,
      retryConfig: null,
      limits: null,
      headers: null,
    })
    expect(bare.body).toMatchObject({
      filters: [],
      retryConfig: null,
      limits: {},
      headerNames: [],
      name: 'Other',
    })
    for (const name of ['filters', 'retryConfig', 'limits', 'customHeaders', 'transform'])
      expect(await stored(body.id)).not.toHaveProperty(name)
  })

  test('reject destinations that events must not be sent to', async () => {
    const wrong = [
      ['http://shop.example/', 'invalid_url'],
      ['ftp://shop.example/', 'invalid_url'],
      ['not a url', 'invalid_url'],
      ['https://user:pass@shop.example/', 'invalid_url'],
      ['https://shop.example:22/', 'invalid_url'],
      ['https://localhost/', 'blocked_address'],
      ['https://127.0.0.1/', 'blocked_address'],
      ['https://2130706433/', 'blocked_address'],
      ['https://[::1]/', 'blocked_address'],
      ['https://169.254.169.254/latest/meta-data', 'blocked_address'],
      ['https://db.internal/', 'blocked_address'],
    ] as const
    for (const [destinationUrl, reason] of wrong) {
      const answer = await make({ destinationUrl })
      expect(answer.status, destinationUrl).toBe(400)
      expect(answer.body.error).toMatchObject({
        code: 'ferryhook.invalid_destination',
        details: [{ path: 'body.destinationUrl' }],
        data: { reason },
      })
    }
    const { body } = await make()
    const moved = await ask('PATCH', `/${body.id}`, { destinationUrl: 'https://10.0.0.1/' })
    expect(moved.body.error.code).toBe('ferryhook.invalid_destination')
  })

  test('accept private networks that the operator allows', async () => {
    const ask2 = await api.another({
      FERRYHOOK_ALLOWED_NETWORKS: '10.0.0.0/8',
      FERRYHOOK_ALLOW_HTTP: 'true',
    })
    const create = (destinationUrl: string) =>
      ask2('POST', `/sources/${sourceId}/connections`, {
        token: ada.token,
        body: { name: 'Next door', destinationUrl },
      })
    expect((await create('http://10.1.2.3:3000/hook')).status).toBe(201)
    expect((await create('http://app.internal/hook')).status).toBe(201)
    expect((await create('http://192.168.1.1/')).status).toBe(400)
  })

  test('are rejected with invalid options, field by field', async () => {
    const wrong = [
      [{ filters: [{ path: '$.a', operator: 'is like' }] }, 'body.filters[0].operator'],
      [{ filters: [{ path: '$.a', operator: 'regex', value: '(' }] }, 'body.filters[0].value'],
      [{ transform: { type: 'magic' } }, 'body.transform.type'],
      [{ retryConfig: [] }, 'body.retryConfig'],
      [{ retryConfig: Array.from({ length: 9 }, () => 1) }, 'body.retryConfig'],
      [{ limits: { concurrency: 0 } }, 'body.limits.concurrency'],
      [{ headers: { 'webhook-id': 'mine' } }, 'body.headers.webhook-id'],
      [{ headers: { Host: 'evil.example' } }, 'body.headers.host'],
      [{ headers: { 'x-a': 'a\r\nx-b: b' } }, 'body.headers.x-a'],
      [{ status: 'deleted' }, 'body.status'],
    ] as const
    for (const [given, path] of wrong) {
      const { status, body } = await make(given)
      expect(status, path).toBe(400)
      expect(body.error).toMatchObject({ code: 'request.invalid' })
      expect(body.error.details.map((detail: { path: string }) => detail.path)).toContain(path)
    }
  })

  test('a script that cannot run is rejected when it is saved', async () => {
    const transform = (code: string) => ({ transform: { type: 'javascript', code } })
    const broken = await make(transform('function transform( {'))
    expect(broken.status).toBe(400)
    expect(broken.body.error).toMatchObject({
      code: 'ferryhook.invalid_transform',
      details: [{ path: 'body.transform.code' }],
    })
    const right = await make(transform('function transform(event) { return event.body }'))
    expect(right.status).toBe(201)
  })

  test('are paused and resumed, which clears the reason set by a worker', async () => {
    const { body } = await make()
    expect((await ask('POST', `/${body.id}/pause`)).body.status).toBe('paused')
    await api.stores.connections.update(
      body.id,
      { status: 'paused', statusReason: 'gone' },
      { sourceId },
    )
    expect((await ask('GET', `/${body.id}`)).body.statusReason).toBe('gone')
    const resumed = await ask('POST', `/${body.id}/resume`)
    expect(resumed.body).toMatchObject({ status: 'active', statusReason: null })
  })

  test('after a rotation both secrets sign during the overlap, and both can be shown', async () => {
    const { body } = await make()
    const rotated = await ask('POST', `/${body.id}/rotate-secret`, { overlapSeconds: 600 })
    expect(rotated.body.signingSecret).toMatch(WHSEC)
    const show = async () => {
      const answer = await ask('GET', `/${body.id}/secret`)
      return answer.body.items
    }
    const until = new Date(api.clock.now() + 600_000).toISOString()
    expect(await show()).toEqual([
      {
        signingSecret: rotated.body.signingSecret,
        createdAt: expect.any(String),
        expiresAt: null,
      },
      { signingSecret: body.signingSecret, createdAt: expect.any(String), expiresAt: until },
    ])
    api.clock.advance({ seconds: 600 })
    expect(await show()).toHaveLength(1)
    const { body: log } = await api.ask('GET', '/audit', { token: ada.token })
    const shown = log.items.filter(
      (entry: { action: string; target: string }) =>
        entry.target === body.id && entry.action === 'connection.secret_shown',
    )
    expect(shown).toHaveLength(2)
  })

  test('concurrent rotations leave all secrets active, up to the limit', async () => {
    const { body } = await make()
    const rotate = () => ask('POST', `/${body.id}/rotate-secret`, { overlapSeconds: 600 })
    const answers = await Promise.all([rotate(), rotate(), rotate(), rotate()])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const { body: shown } = await ask('GET', `/${body.id}/secret`)
    const secretOf = (each: { signingSecret: string }) => each.signingSecret
    const all = [body, ...answers.map((answer) => answer.body)]
    expect(new Set(shown.items.map(secretOf))).toEqual(new Set(all.map(secretOf)))
    expect((await rotate()).body.error.code).toBe('ferryhook.too_many_secrets')
  })

  test('concurrent changes are all applied', async () => {
    const { body } = await make()
    await Promise.all([
      ask('PATCH', `/${body.id}`, { name: 'Both' }),
      ask('PATCH', `/${body.id}`, { limits: { concurrency: 3 } }),
      ask('POST', `/${body.id}/pause`),
    ])
    expect((await ask('GET', `/${body.id}`)).body).toMatchObject({
      name: 'Both',
      limits: { concurrency: 3 },
      status: 'paused',
    })
  })

  test('are deleted, and their history is retained', async () => {
    const { body } = await make()
    expect((await ask('DELETE', `/${body.id}`)).status).toBe(204)
    const answers = [
      await ask('GET', `/${body.id}`),
      await ask('PATCH', `/${body.id}`, { name: 'Back' }),
      await ask('POST', `/${body.id}/resume`),
      await ask('DELETE', `/${body.id}`),
      await ask('GET', `/${body.id}/secret`),
    ]
    for (const answer of answers) {
      expect(answer.status).toBe(404)
      expect(answer.body.error.code).toBe('ferryhook.connection_not_found')
    }
    expect((await stored(body.id)).status).toBe('deleted')
  })
})
