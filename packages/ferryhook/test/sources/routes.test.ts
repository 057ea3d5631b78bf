import { serviceStores } from '@strongroom/kit/testing/stores'
import { secretBox } from '@strongroom/kit/testing/test-secrets'
import { beforeAll, describe, expect, test } from 'vitest'
import { providers } from '../../src/sources/values.ts'
import { createSealedSecrets } from '../../src/signing/sealed-secrets.ts'
import { activeSecrets } from '../../src/signing/secret-list.ts'
import { required } from '../support/test-stores.ts'
import { openApi, ORIGIN, type Person } from '../support/test-api.ts'

describe.each(serviceStores())('sources on $name', (store) => {
  const api = openApi(store)
  let ada: Person
  beforeAll(async () => {
    ada = await api.person()
  })

  const ask = (method: string, path: string, body?: unknown) =>
    api.ask(method, `/sources${path}`, { token: ada.token, ...(body !== undefined && { body }) })
  const stored = async (sourceId: string) =>
    required(await api.stores.sources.getOwned(sourceId, ada.id))
  /** The active secrets, newest first. */
  const secretsOf = async (sourceId: string) =>
    activeSecrets(
      await createSealedSecrets(secretBox).sourceSecrets(await stored(sourceId)),
      api.clock.now(),
    )

  test.each(['a\0b', 'a\nb', '\u001b[31mred', '\u009b31m', 'half \ud83d'])(
    'the name %j is rejected, because it would be displayed differently',
    async (name) => {
      const refused = await ask('POST', '', { name, provider: 'custom' })
      expect([refused.status, refused.body.error.details]).toEqual([
        400,
        [{ path: 'body.name', message: 'Must not contain control characters' }],
      ])
    },
  )

  test('a deletion that stopped half-way is finished by the next request and audited once', async () => {
    const person = await api.person()
    const { id, token } = person
    const sourceId = await api.source(person)
    const made = [await api.connection(person, sourceId), await api.connection(person, sourceId)]
    const by = { actor: `user:${id}`, action: 'source.deleted' } as const
    const end = () => api.ask('DELETE', `/sources/${sourceId}`, { token })
    // Everything that the first of its writes does.
    const mark = api.stores.sources.update(sourceId, id, { status: 'deleted' }, { by })
    await expect(mark).rejects.toMatchObject({ reason: 'not_found' })
    expect((await end()).status).toBe(204)
    for (const { body } of made) {
      const connection = await api.stores.connections.get(body.id, sourceId)
      expect(connection?.status).toBe('deleted')
    }
    expect((await end()).body.error.code).toBe('ferryhook.source_not_found')
    const { body } = await api.ask('GET', '/audit', { token })
    const actions = body.items.map(({ action }: { action: string }) => action)
    expect(actions.filter((action: string) => action === 'source.deleted')).toHaveLength(1)
  })

  test('are created, shown and listed', async () => {
    const made = await ask('POST', '', { name: 'Our own', provider: 'custom' })
    expect(made.status).toBe(201)
    const { id } = made.body
    expect(made.body).toEqual({
      id: expect.stringMatching(/^src_[\w-]{16}$/),
      name: 'Our own',
      provider: 'custom',
      url: `${ORIGIN}/in/${id}`,
      status: 'active',
      verifies: false,
      hasSigningSecret: false,
      signingAlgorithm: null,
      signingOptions: null,
      dedup: null,
      eventType: null,
      credentialHeaders: [],
      methods: ['POST', 'PUT'],
      eventCount: 0,
      eventCountIsLowerBound: false,
      lastEventAt: null,
      createdAt: new Date(api.clock.now()).toISOString(),
    })
    expect((await ask('GET', `/${id}`)).body).toEqual(made.body)
    const listed = await ask('GET', '')
    expect(listed.body.cursor).toBeNull()
    expect(listed.body.items).toContainEqual(made.body)
  })

  test('verify with the algorithm of their provider as soon as they have a secret', async () => {
    const signingSecret = 'whsec_of_stripe'
    const made = await ask('POST', '', { name: 'S', provider: 'stripe', signingSecret })
    const view = { verifies: true, hasSigningSecret: true, signingAlgorithm: 'stripe' }
    expect(made.body).toMatchObject(view)
    expect(made.body.signingOptions).toMatchObject({ toleranceSeconds: 300 })
    expect(made.text).not.toContain(signingSecret)
    expect(await secretsOf(made.body.id)).toEqual([signingSecret])
    const item = JSON.stringify(await stored(made.body.id))
    expect(item).not.toContain(signingSecret)
    expect(item).not.toContain(Buffer.from(signingSecret).toString('base64').slice(0, 12))
  })

  test.each(providers.filter((provider) => provider !== 'custom'))(
    'of %s are rejected without a secret, unless verification is turned off explicitly',
    async (provider) => {
      const given = { name: 'Bare', provider }
      const before = (await ask('GET', '')).body.items.length
      const refused = await ask('POST', '', given)
      expect(refused.status).toBe(400)
      expect(refused.body.error).toMatchObject({
        code: 'ferryhook.invalid_signing',
        details: [
          {
            path: 'body.signingSecret',
            message:
              'Enter the secret that the provider signs with, or set signingAlgorithm to none to accept unverified events',
          },
        ],
      })
      expect((await ask('GET', '')).body.items).toHaveLength(before)
      const off = await ask('POST', '', { ...given, signingAlgorithm: 'none' })
      expect(off.status).toBe(201)
      expect(off.body).toMatchObject({ verifies: false, signingAlgorithm: 'none' })
      await ask('DELETE', `/${off.body.id}`)
    },
  )

  test('of a provider keep a secret when they change, unless verification is turned off explicitly', async () => {
    const bare = await api.source(ada)
    const signed = await api.source(ada, { provider: 'github', signingSecret: 'one' })
    for (const [id, change] of [
      [bare, { provider: 'github' }],
      [bare, { provider: 'stripe', name: 'Renamed' }],
      [signed, { signingSecret: null }],
      [signed, { signingSecret: null, provider: 'stripe' }],
    ] as const) {
      const before = await stored(id)
      const refused = await ask('PATCH', `/${id}`, change)
      expect(refused.status).toBe(400)
      expect(refused.body.error).toMatchObject({
        code: 'ferryhook.invalid_signing',
        details: [{ path: 'body.signingSecret' }],
      })
      expect(await stored(id)).toEqual(before)
    }
    const off = { signingSecret: null, signingAlgorithm: 'none' }
    const unverified = await ask('PATCH', `/${signed}`, off)
    expect(unverified.body).toMatchObject({ verifies: false, hasSigningSecret: false })
    expect((await ask('PATCH', `/${signed}`, { signingSecret: null })).status).toBe(200)
    expect((await ask('PATCH', `/${signed}`, { provider: 'stripe' })).status).toBe(400)
    const custom = await ask('PATCH', `/${signed}`, { provider: 'custom' })
    expect(custom.body).toMatchObject({ verifies: false, signingAlgorithm: null })
  })

  test('whose verification was turned off verify again with a new secret', async () => {
    const id = await api.source(ada, { provider: 'github', signingAlgorithm: 'none' })
    const { body } = await ask('PATCH', `/${id}`, { signingSecret: 'one' })
    expect(body).toMatchObject({ verifies: true, signingAlgorithm: 'github' })
    const still = { signingSecret: 'two', signingAlgorithm: 'none' }
    expect((await ask('PATCH', `/${id}`, still)).body).toMatchObject({ verifies: false })
  })

  test('of a provider that were stored without a secret keep working and are shown as not verifying', async () => {
    const { sourceId } = await api.stores.sources.create({
      userId: ada.id,
      name: 'Old',
      provider: 'github',
    })
    const renamed = await ask('PATCH', `/${sourceId}`, { name: 'Older' })
    expect(renamed.body).toMatchObject({ name: 'Older', verifies: false, hasSigningSecret: false })
    const sent = await api.app.request(`/in/${sourceId}`, { method: 'POST', body: '{}' })
    expect(sent.status).toBe(200)
    expect((await ask('GET', '')).body.items).toContainEqual(
      expect.objectContaining({ id: sourceId, verifies: false }),
    )
  })

  test('can have their own algorithm, options, deduplication rule and place of the event type', async () => {
    const signing = {
      signingSecret: 'secret',
      signingAlgorithm: 'hmac-sha512',
      signingOptions: { header: 'X-Signed', prefix: 'sha512=' },
      dedup: { by: 'header', name: 'x-delivery' },
      eventType: { by: 'path', path: '$.kind' },
    }
    const { body } = await ask('POST', '', { name: 'Own', provider: 'custom', ...signing })
    expect(body).toMatchObject({
      signingAlgorithm: 'hmac-sha512',
      signingOptions: { header: 'x-signed', prefix: 'sha512=', encoding: 'hex' },
      dedup: { by: 'header', name: 'x-delivery' },
      eventType: { by: 'path', path: '$.kind' },
    })
    const reset = await ask('PATCH', `/${body.id}`, { dedup: null, eventType: null })
    expect([reset.body.dedup, reset.body.eventType]).toEqual([null, null])
    const all = { eventType: { by: 'path', path: '$.*' } }
    expect((await ask('PATCH', `/${body.id}`, all)).body.error.code).toBe('request.invalid')
    expect(reset.body.signingAlgorithm).toBe('hmac-sha512')
  })

  test('are rejected with an invalid signing configuration, field by field', async () => {
    const wrong = [
      [{ signingAlgorithm: 'stripe' }, 'body.signingSecret'],
      [{ signingAlgorithm: 'rot13', signingSecret: 'x' }, 'body.signingAlgorithm'],
      [
        { signingSecret: 'x', signingOptions: { header: 'no spaces' } },
        'body.signingOptions.header',
      ],
      [{ signingSecret: ' x ' }, 'body.signingSecret'],
    ] as const
    for (const [given, path] of wrong) {
      const answer = await ask('POST', '', { name: 'Wrong', provider: 'custom', ...given })
      expect(answer.status).toBe(400)
      expect(answer.body.error).toMatchObject({
        code: 'ferryhook.invalid_signing',
        details: [{ path }],
      })
    }
    const unknown = await ask('POST', '', { name: 'Wrong', provider: 'pigeon', secret: 'x' })
    expect(unknown.body.error).toMatchObject({
      code: 'request.invalid',
      details: [{ path: 'body.provider' }, { path: 'body.secret' }],
    })
  })

  test('a change of name leaves the signing as it is', async () => {
    const id = await api.source(ada, { signingSecret: 'one' })
    const before = await stored(id)
    const { body } = await ask('PATCH', `/${id}`, { name: 'Renamed' })
    expect(body).toMatchObject({ name: 'Renamed', hasSigningSecret: true })
    expect(await stored(id)).toEqual({ ...before, name: 'Renamed' })
  })

  test('a new secret replaces the old one immediately; null ends the verification', async () => {
    const id = await api.source(ada, { signingSecret: 'one' })
    await ask('PATCH', `/${id}`, { signingSecret: 'two' })
    expect(await secretsOf(id)).toEqual(['two'])
    const { body } = await ask('PATCH', `/${id}`, { signingSecret: null })
    expect(body).toMatchObject({ hasSigningSecret: false, signingAlgorithm: null })
    expect(await stored(id)).not.toHaveProperty('signingSecret')
  })

  test('options can be changed without the secret, and are reset with another algorithm or provider', async () => {
    const id = await api.source(ada, {
      signingSecret: 'one',
      signingOptions: { header: 'x-mine', encoding: 'base64' },
    })
    const options = { header: 'x-yours' }
    const changed = await ask('PATCH', `/${id}`, { signingOptions: options })
    expect(changed.body.signingOptions).toMatchObject({ header: 'x-yours', encoding: 'hex' })
    expect(await secretsOf(id)).toEqual(['one'])
    const other = await ask('PATCH', `/${id}`, { provider: 'github' })
    expect(other.body).toMatchObject({ provider: 'github', signingAlgorithm: 'github' })
    expect(other.body.signingOptions).not.toHaveProperty('header')
    const none = await ask('PATCH', `/${id}`, { signingAlgorithm: 'none' })
    expect(none.body).toMatchObject({ signingAlgorithm: 'none', signingOptions: null })
    const refused = await ask('PATCH', `/${id}`, { provider: 'paypal', signingAlgorithm: 'paypal' })
    expect(refused.body.error.code).toBe('ferryhook.invalid_signing')
    expect((await ask('GET', `/${id}`)).body).toEqual(none.body)
  })

  test('that are updated without changes stay the same, and nothing is audited', async () => {
    const id = await api.source(ada)
    const { status, body } = await ask('PATCH', `/${id}`, {})
    expect(status).toBe(200)
    expect(body).toEqual((await ask('GET', `/${id}`)).body)
    const { body: log } = await api.ask('GET', '/audit?limit=1', { token: ada.token })
    expect(log.items).toMatchObject([{ action: 'source.created', target: id }])
  })

  test('have further credential headers, which only an admin changes', async () => {
    const made = await ask('POST', '', {
      name: 'Acme',
      provider: 'custom',
      credentialHeaders: ['X-Acme-Auth', 'x-acme-auth', 'X-Pin'],
    })
    expect(made.body.credentialHeaders).toEqual(['x-acme-auth', 'x-pin'])
    const { id } = made.body
    expect((await stored(id)).credentialHeaders).toEqual(['x-acme-auth', 'x-pin'])
    const change = (credentialHeaders: unknown, token = ada.token) =>
      api.ask('PATCH', `/sources/${id}`, { token, body: { credentialHeaders } })
    const denied = await change([], await api.key(ada, 'write'))
    expect([denied.status, denied.body.error.data]).toEqual([403, { permission: 'admin' }])
    for (const names of [
      ['a b'],
      ['x:'],
      [''],
      ['é'],
      Array.from({ length: 21 }, (_, n) => `x-${n}`),
    ]) {
      expect((await change(names)).status).toBe(400)
    }
    expect((await change(['x-other'])).body.credentialHeaders).toEqual(['x-other'])
    expect((await change([])).body.credentialHeaders).toEqual([])
    expect(await stored(id)).not.toHaveProperty('credentialHeaders')
  })

  test('accept the methods that they are set to, POST and PUT unless given', async () => {
    const id = await api.source(ada, { methods: ['DELETE', 'POST', 'DELETE'] })
    expect((await ask('GET', `/${id}`)).body.methods).toEqual(['DELETE', 'POST'])
    expect((await stored(id)).methods).toEqual(['DELETE', 'POST'])
    const send = (method: string) => api.app.request(`/in/${id}`, { method, body: '{}' })
    expect((await send('DELETE')).status).toBe(200)
    expect((await send('PUT')).status).toBe(405)
    for (const methods of [[], ['GET'], ['post'], 'POST', ['OPTIONS']]) {
      const refused = await ask('PATCH', `/${id}`, { methods })
      expect([refused.status, refused.body.error.code]).toEqual([400, 'request.invalid'])
    }
    const reset = await ask('PATCH', `/${id}`, { methods: null })
    expect(reset.body.methods).toEqual(['POST', 'PUT'])
    expect(await stored(id)).not.toHaveProperty('methods')
    expect((await send('DELETE')).status).toBe(405)
    expect((await send('PUT')).status).toBe(200)
  })

  test('changing the verification requires the admin permission and is audited', async () => {
    const id = await api.source(ada, { signingSecret: 'one' })
    const before = await stored(id)
    const [writes, admin] = [await api.key(ada, 'write'), await api.key(ada, 'admin')]
    const change = (token: string, body: object) =>
      api.ask('PATCH', `/sources/${id}`, { token, body })
    const rotate = (token: string) =>
      api.ask('POST', `/sources/${id}/rotate-secret`, { token, body: { signingSecret: 'mine' } })
    const weaker = [
      { signingSecret: null },
      { signingSecret: 'mine' },
      { signingAlgorithm: 'none' },
      { signingOptions: { toleranceSeconds: 600 } },
      { provider: 'github' },
      { name: 'Renamed', signingAlgorithm: 'none' },
    ]
    for (const answer of [
      ...(await Promise.all(weaker.map((body) => change(writes, body)))),
      await rotate(writes),
    ]) {
      expect(answer.status).toBe(403)
      expect(answer.body.error.data).toEqual({ permission: 'admin' })
    }
    expect(await stored(id)).toEqual(before)
    expect((await change(writes, { name: 'Renamed' })).status).toBe(200)
    expect((await rotate(admin)).status).toBe(200)
    expect((await change(admin, { signingAlgorithm: 'none' })).status).toBe(200)
    const { body } = await api.ask('GET', '/audit', { token: admin })
    const ofSource = body.items.filter(({ target }: { target: string }) => target === id)
    expect(ofSource.map(({ action }: { action: string }) => action)).toEqual([
      'source.signing_changed',
      'source.secret_rotated',
      'source.changed',
      'source.created',
    ])
  })

  test('after a rotation both secrets are valid during the overlap', async () => {
    const id = await api.source(ada, { signingSecret: 'one' })
    const rotate = (signingSecret: string, overlapSeconds?: number) =>
      ask('POST', `/${id}/rotate-secret`, {
        signingSecret,
        ...(overlapSeconds !== undefined && { overlapSeconds }),
      })
    const answer = await rotate('two')
    expect(answer.status).toBe(200)
    expect(answer.text).not.toContain('"two"')
    expect(await secretsOf(id)).toEqual(['two', 'one'])
    api.clock.advance({ hours: 24 })
    expect(await secretsOf(id)).toEqual(['two'])
    ada = await api.person()
  })

  test('two concurrent rotations leave both secrets valid', async () => {
    const id = await api.source(ada, { signingSecret: 'zero' })
    const rotations = ['one', 'two', 'three'].map((signingSecret) =>
      ask('POST', `/${id}/rotate-secret`, { signingSecret }),
    )
    expect((await Promise.all(rotations)).map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await secretsOf(id)).toSorted()).toEqual(['one', 'three', 'two', 'zero'])
  })

  test('a rotation is rejected with too many secrets, or without a first one', async () => {
    const id = await api.source(ada, { signingSecret: 'zero' })
    const rotate = (signingSecret: string, overlapSeconds = 3600) =>
      ask('POST', `/${id}/rotate-secret`, { signingSecret, overlapSeconds })
    for (const secret of ['one', 'two', 'three', 'four']) await rotate(secret)
    const refused = await rotate('five')
    expect(refused.status).toBe(409)
    expect(refused.body.error.code).toBe('ferryhook.too_many_secrets')
    expect((await rotate('five', 0)).status).toBe(200)
    expect(await secretsOf(id)).toEqual(['five'])
    const bare = await api.source(ada)
    const none = await ask('POST', `/${bare}/rotate-secret`, { signingSecret: 'one' })
    expect(none.body.error.code).toBe('ferryhook.no_secret')
  })

  test('are paused and resumed', async () => {
    const id = await api.source(ada)
    expect((await ask('POST', `/${id}/pause`)).body.status).toBe('paused')
    expect((await ask('GET', `/${id}`)).body.status).toBe('paused')
    expect((await ask('POST', `/${id}/resume`)).body.status).toBe('active')
  })

  test('are deleted with their connections', async () => {
    const id = await api.source(ada)
    const { body: connection } = await api.connection(ada, id)
    expect((await ask('DELETE', `/${id}`)).status).toBe(204)
    const answers = [
      await ask('GET', `/${id}`),
      await ask('PATCH', `/${id}`, { name: 'Back' }),
      await ask('DELETE', `/${id}`),
      await ask('GET', `/${id}/connections`),
      await ask('POST', `/${id}/connections`, { name: 'C', destinationUrl: 'https://a.example' }),
    ]
    for (const { body } of answers) expect(body.error.code).toBe('ferryhook.source_not_found')
    const gone = await api.ask('GET', `/connections/${connection.id}`, { token: ada.token })
    expect(gone.body.error.code).toBe('ferryhook.connection_not_found')
  })
})
