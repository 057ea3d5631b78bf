import type { Item } from '@strongroom/kit/db'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test, vi } from 'vitest'
import { openApi, type Person } from '../../support/test-api.ts'

interface Entry {
  action: string
  actor: string
  target: string | null
}

describe.each(serviceStores())('API keys and the audit log on $name', (store) => {
  const api = openApi(store)
  const keysOf = async ({ token }: Person) =>
    (await api.ask('GET', '/api-keys', { token })).body.items
  const auditOf = async ({ token }: Pick<Person, 'token'>, query = ''): Promise<Entry[]> =>
    (await api.ask('GET', `/audit${query}`, { token })).body.items

  test('a key is shown once, and afterwards only its prefix', async () => {
    const person = await api.person()
    const body = { name: 'CI', permissions: 'write' }
    const made = await api.ask('POST', '/api-keys', { token: person.token, body })
    const { key, ...view } = made.body
    expect(made.status).toBe(201)
    expect(key).toMatch(/^fh_live_[\w-]{43}$/)
    expect(view).toEqual({
      id: expect.stringMatching(/^key_[\w-]{16}$/),
      name: 'CI',
      prefix: key.slice(8, 16),
      permissions: 'write',
      lastUsedAt: null,
      createdAt: expect.any(String),
    })
    expect(await keysOf(person)).toEqual([view])
  })

  test('the last use of a key is shown to the minute', async () => {
    const person = await api.person()
    const token = await api.key(person, 'read')
    const used = async () => {
      await api.ask('GET', '/account', { token })
      const [key] = await api.stores.apiKeys.listByUser(person.id)
      return key?.lastUsedAt
    }
    const first = await used()
    expect(first).toBe(new Date(api.clock.now()).toISOString())
    api.clock.advance({ seconds: 59 })
    expect(await used()).toBe(first)
    api.clock.advance({ seconds: 1 })
    expect(await used()).toBe(new Date(api.clock.now()).toISOString())
  })

  test('a deleted key is rejected immediately', async () => {
    const person = await api.person()
    const key = await api.key(person, 'read')
    const [{ id }] = await keysOf(person)
    const end = () => api.ask('DELETE', `/api-keys/${id}`, { token: person.token })
    expect((await end()).status).toBe(204)
    expect((await api.ask('GET', '/account', { token: key })).status).toBe(401)
    expect((await end()).body.error.code).toBe('ferryhook.api_key_not_found')
    expect(await keysOf(person)).toEqual([])
  })

  test('an admin key creates keys, and the audit log names it', async () => {
    const person = await api.person()
    const admin = await api.key(person, 'admin')
    const [{ id }] = await keysOf(person)
    const body = { name: 'Next', permissions: 'read' }
    expect((await api.ask('POST', '/api-keys', { token: admin, body })).status).toBe(201)
    const [latest] = await auditOf(person)
    expect(latest).toMatchObject({ actor: `key:${id}`, action: 'api_key.created' })
  })

  test('every change is in the audit log with actor, action and target, without secrets', async () => {
    const person = await api.person()
    const { token } = person
    const ask = (method: string, path: string, body?: unknown) =>
      api.ask(method, path, { token, ...(body !== undefined && { body }) })
    const sourceId = await api.source(person, { signingSecret: 'do not tell' })
    const source = `/sources/${sourceId}`
    await ask('PATCH', source, { name: 'Renamed' })
    await ask('POST', `${source}/rotate-secret`, { signingSecret: 'nor this' })
    await ask('POST', `${source}/pause`)
    await ask('POST', `${source}/resume`)
    const { body: made } = await api.connection(person, sourceId)
    const connection = `/connections/${made.id}`
    await ask('PATCH', connection, { headers: { authorization: 'not this either' } })
    await ask('POST', `${connection}/pause`)
    await ask('POST', `${connection}/resume`)
    await ask('POST', `${connection}/rotate-secret`, {})
    await ask('GET', `${connection}/secret`)
    await ask('DELETE', connection)
    await ask('DELETE', source)
    const entries = await auditOf(person, '?limit=100')
    expect(entries.map(({ action, target }) => [action, target]).toReversed()).toEqual([
      ['account.created', null],
      ['source.created', sourceId],
      ['source.changed', sourceId],
      ['source.secret_rotated', sourceId],
      ['source.paused', sourceId],
      ['source.resumed', sourceId],
      ['connection.created', made.id],
      ['connection.changed', made.id],
      ['connection.paused', made.id],
      ['connection.resumed', made.id],
      ['connection.secret_rotated', made.id],
      ['connection.secret_shown', made.id],
      ['connection.deleted', made.id],
      ['source.deleted', sourceId],
    ])
    expect(new Set(entries.map(({ actor }) => actor))).toEqual(new Set([`user:${person.id}`]))
    expect(JSON.stringify(entries)).not.toMatch(/do not tell|nor this|not this either|whsec_/)
  })

  test('a forbidden request is not in the audit log', async () => {
    const person = await api.person()
    const sourceId = await api.source(person)
    await api.connection(person, sourceId, { destinationUrl: 'https://127.0.0.1/' })
    await api.ask('PATCH', `/sources/${sourceId}`, {
      token: person.token,
      body: { signingAlgorithm: 'stripe' },
    })
    expect((await auditOf(person)).map(({ action }) => action)).toEqual([
      'source.created',
      'account.created',
    ])
  })

  test('a source or connection is not changed if the audit entry cannot be written', async () => {
    const { token, ...person } = await api.person()
    const sourceId = await api.source({ ...person, token })
    const connection = await api.connection({ ...person, token }, sourceId)
    const { putItem, transactWriteItems } = api.db
    const isEntry = (item: Item | undefined) => String(item?.['SK']).startsWith('AUDIT#')
    const refused = new Error('No room for the log')
    const writes = [
      vi.spyOn(api.db, 'putItem').mockImplementation(async (input) => {
        if (isEntry(input.Item)) throw refused
        return putItem.call(api.db, input)
      }),
      vi.spyOn(api.db, 'transactWriteItems').mockImplementation(async (input) => {
        if (input.TransactItems?.some(({ Put }) => isEntry(Put?.Item))) throw refused
        return transactWriteItems.call(api.db, input)
      }),
    ]
    const places = [`/sources/${sourceId}`, `/connections/${connection.body.id}`]
    for (const place of places) {
      const body = { name: 'Renamed' }
      expect((await api.ask('PATCH', place, { token, body })).status).toBe(500)
      expect((await api.ask('POST', `${place}/pause`, { token })).status).toBe(500)
    }
    for (const write of writes) write.mockRestore()
    for (const place of places) {
      const { body } = await api.ask('GET', place, { token })
      expect(body).not.toMatchObject({ name: 'Renamed' })
      expect(body).toMatchObject({ status: 'active' })
    }
  })

  test('a rejected change is not in the audit log', async () => {
    const person = await api.person()
    const sourceId = await api.source(person)
    const before = await auditOf(person)
    await api.stores.sources.delete(sourceId, person.id)
    const by = { actor: person.id, action: 'source.changed' } as const
    const change = api.stores.sources.update(sourceId, person.id, { name: 'Renamed' }, { by })
    await expect(change).rejects.toMatchObject({ reason: 'not_found' })
    expect(await auditOf(person)).toEqual(before)
  })

  test('the audit log is paged and visible to its owner only', async () => {
    const person = await api.person()
    for (const name of ['a', 'b', 'c']) await api.source(person, { name })
    const { body } = await api.ask('GET', '/audit?limit=2', { token: person.token })
    expect(body.items).toHaveLength(2)
    const cursor = `?limit=2&cursor=${encodeURIComponent(body.cursor)}`
    expect((await auditOf(person, cursor)).map(({ action }) => action)).toEqual([
      'source.created',
      'account.created',
    ])
    const stranger = await api.person()
    const stolen = await api.ask('GET', `/audit${cursor}`, { token: stranger.token })
    expect(stolen.body.error.code).toBe('request.invalid_cursor')
  })
})
