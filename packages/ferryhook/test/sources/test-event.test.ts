import { serviceStores } from '@strongroom/kit/testing/stores'
import { beforeAll, describe, expect, test } from 'vitest'
import { providers } from '../../src/sources/values.ts'
import { signers } from '../support/signers.ts'
import { openApi, type Person } from '../support/test-api.ts'
import { required } from '../support/test-stores.ts'

describe.each(serviceStores())('test events on $name', (store) => {
  const api = openApi(store)
  let ada: Person
  beforeAll(async () => {
    ada = await api.person()
    await api.stores.users.update(ada.id, { plan: 'team' })
  })

  const send = (sourceId: string) =>
    api.ask('POST', `/sources/${sourceId}/test-event`, { token: ada.token })

  const shared = signers.filter(({ asymmetric }) => !asymmetric)

  test.each(shared)('are signed as $name does, and pass verification', async (signer) => {
    const { algorithm, ...signingOptions } = signer.scheme
    const known = providers.find((each) => each === algorithm)
    const source = await api.source(ada, {
      provider: known ?? 'custom',
      signingAlgorithm: algorithm,
      signingOptions,
      signingSecret: signer.secrets[0],
    })
    const sent = await send(source)
    expect(sent.status, sent.text).toBe(202)
    const event = required(await api.stores.events.getById(sent.body.eventId))
    expect(event).toMatchObject({ sourceId: source, status: 'received' })
    expect(JSON.parse(event.headers)).toMatchObject({ 'x-ferryhook-test': 'true' })
    expect(event.eventType).toBe('ferryhook.test')
    expect(event.headers).not.toContain('s3cret')
  })

  test('of a source without verification are received, and recorded in the audit log', async () => {
    const source = await api.source(ada)
    const sent = await send(source)
    const { body: event } = await api.ask('GET', `/events/${sent.body.eventId}`, {
      token: ada.token,
    })
    expect(JSON.parse(event.body)).toMatchObject({ type: 'ferryhook.test' })
    const { body: log } = await api.ask('GET', `/audit?target=${source}`, { token: ada.token })
    expect(log.items[0]).toMatchObject({ action: 'source.tested', target: source })
  })

  test('are refused where only the provider has the key that signs', async () => {
    for (const { scheme, secrets } of signers.filter(({ asymmetric }) => asymmetric)) {
      const { algorithm, ...signingOptions } = scheme
      const provider = providers.find((each) => each === algorithm) ?? 'custom'
      const source = await api.source(ada, { provider, signingOptions, signingSecret: secrets[0] })
      const { status, body } = await send(source)
      expect([status, body.error.code]).toEqual([409, 'ferryhook.only_provider_signs'])
    }
  })

  test('are refused by a paused source', async () => {
    const source = await api.source(ada)
    await api.ask('POST', `/sources/${source}/pause`, { token: ada.token })
    const { status, body } = await send(source)
    expect([status, body.error.code]).toEqual([409, 'ferryhook.source_paused'])
  })

  test('the list of sources has the events of the last full hours on request', async () => {
    const person = await api.person()
    const source = await api.source(person)
    const token = await api.key(person, 'write')
    const hour = 3_600_000
    const start = Math.ceil(api.clock.now() / hour) * hour
    api.clock.advance({ ms: start - api.clock.now() })
    for (const _ of [1, 2, 3]) await api.ask('POST', `/sources/${source}/test-event`, { token })
    api.clock.advance({ hours: 2 })
    await api.stores.statistics.refresh(source)
    const { body } = await api.ask('GET', '/sources?activity=true', { token })
    const { from, events } = body.items[0].activity
    expect(events).toHaveLength(24)
    expect(Date.parse(from)).toBe(start - 22 * hour)
    expect(events[22]).toBe(3)
    expect(events.reduce((sum: number, n: number) => sum + n, 0)).toBe(3)
    const plain = await api.ask('GET', '/sources', { token })
    expect(plain.body.items[0]).not.toHaveProperty('activity')
  })
})
