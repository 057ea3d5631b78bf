import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { deliver, ownerOf } from '../support/people.ts'
import { openApi, type Person } from '../support/test-api.ts'
import { required, times } from '../support/test-stores.ts'

describe.each(serviceStores())('connections of all sources on $name', (store) => {
  const api = openApi(store)

  const list = async (person: Person, query = '') =>
    (await api.ask('GET', `/connections${query}`, { token: person.token })).body
  const idsOf = ({ items }: { items: { id: string }[] }) => items.map(({ id }) => id)

  async function connectionsOf(person: Person, sources: number, each: number): Promise<string[]> {
    await api.stores.users.update(person.id, { plan: 'team' })
    const made: string[] = []
    for (const index of times(sources, (n) => n)) {
      const sourceId = await api.source(person, { name: `Shop ${index}` })
      for (const _ of times(each, (n) => n)) {
        made.push((await api.connection(person, sourceId)).body.id)
      }
    }
    return made
  }

  async function fail(connectionId: string): Promise<void> {
    const connection = required(await api.stores.connections.getById(connectionId))
    await api.stores.connectionHealth.add(connection, {
      succeeded: false,
      failedAttempts: 3,
      firstFailureAt: api.clock.now(),
    })
  }

  test('are listed with the name of their source, without filters and transforms', async () => {
    const ada = await api.person()
    const sourceId = await api.source(ada, { name: 'Shop' })
    const given = { filters: [{ path: '$.a', operator: 'exists' }], headers: { 'x-key': 'hidden' } }
    const { id } = (await api.connection(ada, sourceId, given)).body
    const page = await list(ada)
    expect(page).toEqual({
      items: [
        {
          id,
          sourceId,
          sourceName: 'Shop',
          name: 'To the shop',
          destinationUrl: 'https://shop.example/hooks',
          conditions: 1,
          transformType: 'passthrough',
          retryConfig: null,
          limits: {},
          rev: 0,
          status: 'active',
          statusReason: null,
          failingSince: null,
          failedAttempts: 0,
          lastDeliveredAt: null,
          circuit: { state: 'closed', since: null, nextAttemptAt: null },
          deliveryCount: 0,
          failureCount: 0,
          createdAt: expect.any(String),
          updatedAt: expect.any(String),
        },
      ],
      cursor: null,
    })
  })

  test('are listed in pages, each exactly once', async () => {
    const ada = await api.person()
    const made = await connectionsOf(ada, 10, 2)
    const seen: string[] = []
    let cursor: string | null = ''
    do {
      const page: { items: { id: string }[]; cursor: string | null } = await list(
        ada,
        `?limit=3${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`,
      )
      expect(page.items.length).toBeLessThanOrEqual(3)
      seen.push(...idsOf(page))
      cursor = page.cursor
    } while (cursor)
    expect(seen.toSorted()).toEqual(made.toSorted())
  })

  test('are found by their health, and each has exactly one', async () => {
    const ada = await api.person()
    const [failing = '', paused = '', active = ''] = await connectionsOf(ada, 3, 1)
    await fail(failing)
    await api.ask('POST', `/connections/${paused}/pause`, { token: ada.token })
    expect(idsOf(await list(ada, '?status=failing'))).toEqual([failing])
    expect(idsOf(await list(ada, '?status=paused'))).toEqual([paused])
    expect(idsOf(await list(ada, '?status=active'))).toEqual([active])
    expect((await list(ada, '?status=failing')).items[0]).toMatchObject({
      failedAttempts: 3,
      failingSince: new Date(api.clock.now()).toISOString(),
    })
    const refused = await api.ask('GET', '/connections?status=broken', { token: ada.token })
    expect(refused.body.error.code).toBe('request.invalid')
  })

  test('a cursor of one listing is refused by another', async () => {
    const ada = await api.person()
    await connectionsOf(ada, 2, 1)
    const { cursor } = await list(ada, '?limit=1')
    const path = `/connections?status=active&cursor=${encodeURIComponent(cursor)}`
    const { status, body } = await api.ask('GET', path, { token: ada.token })
    expect([status, body.error.code]).toEqual([400, 'request.invalid_cursor'])
  })

  test('the last success is shown, also after a failure and when written out of order', async () => {
    const ada = await api.person()
    const [id = ''] = await connectionsOf(ada, 1, 1)
    const connection = required(await api.stores.connections.getById(id))
    const at = api.clock.now()
    const succeeded = { succeeded: true, failedAttempts: 0 }
    const { connectionHealth } = api.stores
    await connectionHealth.add(connection, { ...succeeded, lastDeliveredAt: at })
    await connectionHealth.add(connection, { ...succeeded, lastDeliveredAt: at - 5_000 })
    await fail(id)
    const { body } = await api.ask('GET', `/connections/${id}`, { token: ada.token })
    expect(body).toMatchObject({
      lastDeliveredAt: new Date(at).toISOString(),
      failedAttempts: 3,
    })
  })

  test('the deliveries of a connection are listed with their last attempt', async () => {
    const owner = await ownerOf(api)
    const made = await api.connection(owner.person, owner.sourceId)
    const other = await api.connection(owner.person, owner.sourceId, { name: 'Other' })
    const [first, second] = [await owner.receive(), await owner.receive()]
    await deliver(api, first, [made.body.id], 'retrying')
    await deliver(api, second, [other.body.id], 'retrying')
    const path = `/connections/${made.body.id}/deliveries`
    const { body } = await owner.ask('GET', path)
    expect(body.items).toEqual([
      expect.objectContaining({
        eventId: first.eventId,
        connectionId: made.body.id,
        state: 'retrying',
        attemptsMade: 1,
        receivedAt: new Date(first.receivedAt).toISOString(),
        lastAttempt: expect.objectContaining({ number: 1, statusCode: 500 }),
      }),
    ])
    await owner.ask('DELETE', `/connections/${made.body.id}`)
    expect((await owner.ask('GET', path)).body.items).toHaveLength(1)
    const stranger = await api.person()
    const foreign = await api.ask('GET', path, { token: stranger.token })
    expect(foreign.body.error.code).toBe('ferryhook.connection_not_found')
  })

  test('audit entries are found by their target, in pages', async () => {
    const ada = await api.person()
    const [id = ''] = await connectionsOf(ada, 1, 1)
    for (const verb of ['pause', 'resume', 'pause']) {
      await api.ask('POST', `/connections/${id}/${verb}`, { token: ada.token })
    }
    const first = await api.ask('GET', `/audit?target=${id}&limit=3`, { token: ada.token })
    const rest = await api.ask(
      'GET',
      `/audit?target=${id}&cursor=${encodeURIComponent(first.body.cursor)}`,
      { token: ada.token },
    )
    const actions = [...first.body.items, ...rest.body.items].map(({ action }) => action)
    expect(actions).toEqual([
      'connection.paused',
      'connection.resumed',
      'connection.paused',
      'connection.created',
    ])
  })

  test('operators see failing connections of all accounts, without paths and secrets', async () => {
    const people = [await api.person(), await api.person()]
    const made = await Promise.all(people.map((person) => connectionsOf(person, 1, 2)))
    const [[failing = ''] = [], [paused = '', healthy = ''] = []] = made
    await fail(failing)
    const stored = required(await api.stores.connections.getById(paused))
    await api.stores.connectionHealth.pause(stored, 'gone')
    const { body, text } = await api.ask('GET', '/failing-connections?limit=100', {
      token: api.operator,
    })
    const found = (id: string) => body.items.find((each: { id: string }) => each.id === id)
    expect(found(failing)).toEqual({
      id: failing,
      sourceId: expect.stringMatching(/^src_/),
      userId: people[0]?.id,
      email: people[0]?.email,
      name: 'To the shop',
      destinationHost: 'shop.example',
      status: 'failing',
      statusReason: null,
      failingSince: new Date(api.clock.now()).toISOString(),
      failedAttempts: 3,
      lastDeliveredAt: null,
      failureCount: 0,
    })
    expect(found(paused)).toMatchObject({ status: 'paused', statusReason: 'gone' })
    expect(found(healthy)).toBeUndefined()
    expect(text).not.toContain('/hooks')
  })
})
