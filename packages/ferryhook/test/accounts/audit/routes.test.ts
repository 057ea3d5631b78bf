import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { ownerOf } from '../../support/people.ts'
import { openApi, PASSWORD } from '../../support/test-api.ts'

interface Entry {
  action: string
  target: string | null
  changes: { name: string; before: string | null; after: string | null }[]
}

describe.each(serviceStores())('the audit log over HTTP, on $name', (store) => {
  const api = openApi(store)

  async function ownerWithLog() {
    const owner = await ownerOf(api)
    const token = await api.key(owner.person, 'admin')
    const ask = (method: string, path: string, body?: object) =>
      owner.ask(method, path, { token, ...(body && { body }) })
    const audit = async (query = '') => (await ask('GET', `/audit?${query}`)).body
    const changesOf = async (action: string) =>
      ((await audit(`action=${action}`)).items as Entry[])[0]?.changes
    return { owner, token, ask, audit, changesOf }
  }

  test('shows what a change replaced', async () => {
    const { owner, ask, changesOf } = await ownerWithLog()
    await ask('PATCH', `/sources/${owner.sourceId}`, { name: 'Orders' })
    await ask('PATCH', `/sources/${owner.sourceId}`, { name: 'Payments', methods: ['POST'] })
    expect(await changesOf('source.changed')).toEqual([
      { name: 'name', before: 'Orders', after: 'Payments' },
      { name: 'methods', before: null, after: 'POST' },
    ])
    const { id } = (await api.connection(owner.person, owner.sourceId, { name: 'CRM' })).body
    expect(await changesOf('connection.created')).toEqual([
      { name: 'name', before: null, after: 'CRM' },
    ])
    await ask('PATCH', `/connections/${id}`, { retryConfig: [1, 2] })
    await ask('PATCH', `/connections/${id}`, { retryConfig: [1, 2, 3], name: 'CRM' })
    expect(await changesOf('connection.changed')).toEqual([
      { name: 'retryConfig', before: '[1,2]', after: '[1,2,3]' },
    ])
    await ask('PUT', '/alerts', { kinds: ['delivery.failed'] })
    await ask('PUT', '/alerts', { kinds: ['delivery.failed', 'limit.reached'] })
    expect(await changesOf('alerts.changed')).toEqual([
      { name: 'kinds', before: 'delivery.failed', after: 'delivery.failed, limit.reached' },
    ])
    await ask('POST', '/api-keys', { name: 'CI', permissions: 'read' })
    expect(await changesOf('api_key.created')).toEqual([
      { name: 'name', before: null, after: 'CI' },
      { name: 'permissions', before: null, after: 'read' },
    ])
    const email = `new-${owner.person.email}`
    await owner.ask('PATCH', '/account', { body: { email, currentPassword: PASSWORD } })
    expect(await changesOf('account.changed')).toEqual([
      { name: 'email', before: owner.person.email, after: email },
    ])
  })

  test('never shows secrets, headers or the path of a destination', async () => {
    const { owner, ask, audit, changesOf } = await ownerWithLog()
    await ask('PATCH', `/sources/${owner.sourceId}`, { signingSecret: 'whsec_first' })
    await ask('PATCH', `/sources/${owner.sourceId}`, { signingSecret: 'whsec_second' })
    expect(await changesOf('source.signing_changed')).toContainEqual({
      name: 'signingSecret',
      before: null,
      after: null,
    })
    const { id } = (await api.connection(owner.person, owner.sourceId)).body
    const destinationUrl = 'https://hooks.example.com/services/T0KEN?key=T0KEN'
    await ask('PATCH', `/connections/${id}`, { destinationUrl })
    await ask('PATCH', `/connections/${id}`, {
      destinationUrl: `${destinationUrl}2`,
      headers: { 'x-api-key': 'T0KEN' },
    })
    expect(await changesOf('connection.changed')).toEqual([
      { name: 'destinationUrl', before: null, after: null },
      { name: 'customHeaders', before: null, after: null },
    ])
    await ask('PUT', '/alerts', { webhookUrl: destinationUrl })
    expect(await changesOf('alerts.changed')).toContainEqual({
      name: 'webhookUrl',
      before: null,
      after: 'https://hooks.example.com/…',
    })
    expect(JSON.stringify(await audit())).not.toMatch(/T0KEN|whsec_/)
  })

  test('cuts long values', async () => {
    const { owner, ask, changesOf } = await ownerWithLog()
    const { id } = (await api.connection(owner.person, owner.sourceId)).body
    const code = `const transform = (event) => event // ${'x'.repeat(1_000)}`
    await ask('PATCH', `/connections/${id}`, { transform: { type: 'javascript', code } })
    const [change] = (await changesOf('connection.changed')) ?? []
    expect(change?.after).toHaveLength(200)
    expect(change?.after?.endsWith('…')).toBe(true)
  })

  test('is filtered by actor, action, target and time, with pages for one filter only', async () => {
    const { owner, token, ask, audit } = await ownerWithLog()
    const { id } = (await api.connection(owner.person, owner.sourceId)).body
    const start = new Date(api.clock.now()).toISOString()
    for (const verb of ['pause', 'resume', 'pause']) {
      api.clock.advance({ minutes: 1 })
      await ask('POST', `/connections/${id}/${verb}`)
    }
    const end = new Date(api.clock.now()).toISOString()
    const actions = async (query: string) =>
      ((await audit(query)).items as Entry[]).map(({ action }) => action)
    const [paused, resumed] = ['connection.paused', 'connection.resumed']
    expect(await actions(`target=${id}`)).toEqual([paused, resumed, paused, 'connection.created'])
    expect(await actions(`target=${id}&action=connection.paused`)).toEqual([paused, paused])
    expect(await actions('action=connection.*')).toHaveLength(4)
    expect(await actions(`from=${start}&action=connection.*`)).toHaveLength(3 + 1)
    expect(await actions(`target=${id}&to=${end}`)).toEqual([resumed, paused, 'connection.created'])
    const { items } = (await audit(`target=${id}`)) as { items: { actor: string }[] }
    const byKey = await actions(`actor=${items[0]?.actor}`)
    expect(byKey).toEqual([paused, resumed, paused])
    expect(await actions('actor=operator:nobody')).toEqual([])
    const first = await audit(`target=${id}&limit=3`)
    const rest = await audit(`target=${id}&limit=3&cursor=${encodeURIComponent(first.cursor)}`)
    expect([first.items.length, rest.items.length, rest.cursor]).toEqual([3, 1, null])
    const other = await owner.ask('GET', `/audit?cursor=${encodeURIComponent(first.cursor)}`, {
      token,
    })
    expect([other.status, other.body.error.code]).toEqual([400, 'request.invalid_cursor'])
    const reversed = await owner.ask('GET', `/audit?from=${end}&to=${start}`, { token })
    expect([reversed.status, reversed.body.error.details[0].path]).toEqual([400, 'query.to'])
  })

  test('says what one of several concurrent changes really replaced', async () => {
    const { owner, ask, audit } = await ownerWithLog()
    await ask('PATCH', `/sources/${owner.sourceId}`, { name: 'Start' })
    const names = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H']
    await Promise.all(names.map((name) => ask('PATCH', `/sources/${owner.sourceId}`, { name })))
    const { items } = (await audit('action=source.changed')) as { items: Entry[] }
    const pairs = items
      .toReversed()
      .slice(1)
      .map(({ changes: [change] }) => [change?.before, change?.after])
    expect(pairs).toHaveLength(names.length)
    const befores = new Set(pairs.map(([before]) => before))
    const current = (await ask('GET', `/sources/${owner.sourceId}`)).body.name
    // Each name but the last was replaced exactly once.
    expect(befores).toEqual(new Set(['Start', ...names].filter((name) => name !== current)))
  })
})
