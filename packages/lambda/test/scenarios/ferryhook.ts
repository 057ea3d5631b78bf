/** Ferryhook on its functions: ingest, stream, worker, API and live events. */
import { userKey } from '@strongroom/ferryhook/accounts/users/item'
import { planLimits } from '@strongroom/ferryhook/plans'
import { monthStart } from '@strongroom/ferryhook/storage/time'
import { eventsTable, mainTable } from '@strongroom/ferryhook/tables'
import { quotaKey } from '@strongroom/ferryhook/usage/item'
import { expect, test } from 'vitest'
import { allDue, storesOn } from '../../../ferryhook/test/support/test-stores.ts'
import { toEvent } from '../support/deployment.ts'
import { addressOf, ferryhookOf, type TestDeployment } from '../support/scenario.ts'
import { streamEvent } from '../support/stream-records.ts'

export function testFerryhook(opened: () => TestDeployment): void {
  test('deliver a webhook: ingest, stream, worker', async () => {
    const { deployment, server, destination } = opened()
    const account = await server.account()
    const ferryhook = ferryhookOf(server, account.token)
    const source = await ferryhook('POST', '/sources', { name: 'Shop', provider: 'custom' })
    const connection = await ferryhook('POST', `/sources/${source.id}/connections`, {
      name: 'Books',
      destinationUrl: destination.url,
    })
    const received = await server.ask('POST', `/in/${source.id}?x=%2F`, { body: { n: 1 } })
    expect(received).toMatchObject({ status: 200, body: { status: 'received' } })
    expect(destination.requests).toEqual([])
    const result = await deployment.invoke('ferryhook-worker', await streamEvent(server.db))
    expect(result).toEqual({ batchItemFailures: [] })
    expect(destination.requests).toEqual(['{"n":1}'])
    const event = await ferryhook('GET', `/events/${received.body.id}`)
    expect(event).toMatchObject({ status: 'delivered' })

    const login = { email: account.email, password: 'correct horse battery' }
    expect((await server.ask('POST', '/ferryhook/v1/auth/login', { body: login })).status).toBe(200)
    const { key } = await ferryhook('POST', '/api-keys', { name: 'CI', permissions: 'read' })
    await ferryhookOf(server, key)('GET', '/sources')
    const signed = {
      name: 'Signed',
      provider: 'custom',
      signingSecret: 'whsec',
      signingAlgorithm: 'hmac-sha256',
    }
    const verified = await server.ask('POST', '/ferryhook/v1/sources', {
      token: account.token,
      body: signed,
    })
    expect(verified.status).toBe(201)
    await server.ask('POST', `/in/${verified.body.id}`, { body: { n: 1 } })
    await ferryhook('POST', `/events/${received.body.id}/replay`, {})
    await deployment.invoke('ferryhook-worker', { source: 'aws.events' })
    expect(destination.requests).toHaveLength(2)
    const from = new Date(Date.now() - 60_000).toISOString()
    const replay = await server.ask('POST', '/ferryhook/v1/replays', {
      token: account.token,
      body: { sourceId: source.id, from },
    })
    expect(replay.status).toBeLessThan(300)
    await deployment.invoke('ferryhook-worker', { source: 'aws.events' })
    await deployment.invoke('ferryhook-worker', { source: 'aws.events' })
    const ids = {
      id: source.id,
      'sources.id': source.id,
      'connections.id': connection.id,
      'events.id': received.body.id,
      connectionId: connection.id,
      number: '1',
    }
    const failed: string[] = []
    for (const operation of server.operations) {
      const { method, permission } = operation
      if (method !== 'GET' || !['read', 'admin', 'session'].includes(permission)) continue
      const address = addressOf(operation, ids)
      if (address === undefined || address.endsWith('/stream')) continue
      const { status, code } = await server.ask('GET', address, { token: account.token })
      if (status >= 500) failed.push(`${address}: ${status} ${code}`)
    }
    expect(failed).toEqual([])
  }, 300_000)

  test('replay an event that no worker has claimed, and leave one that another worker has', async () => {
    const { deployment, server } = opened()
    const { token } = await server.account()
    const ferryhook = ferryhookOf(server, token)
    const source = await ferryhook('POST', '/sources', { name: 'Shop', provider: 'custom' })
    await ferryhook('POST', `/sources/${source.id}/connections`, {
      name: 'Books',
      destinationUrl: 'test:200',
    })
    const send = async (): Promise<string> =>
      (await server.ask('POST', `/in/${source.id}`, { body: { n: 1 } })).body.id
    const waiting = await send()
    const listed = await ferryhook('GET', `/sources/${source.id}/events`)
    expect(listed.items).toMatchObject([{ id: waiting, status: 'received' }])
    await ferryhook('POST', `/events/${waiting}/replay`, {})

    const claimed = await send()
    const stores = storesOn(server.db, server.clock)
    for (const task of await allDue(stores)) {
      if (task.kind !== 'route' || task.eventId !== claimed) continue
      await stores.queue.claimRoute(task, server.clock.now() + 600_000)
    }
    const body = { sourceId: source.id, from: new Date(Date.now() - 60_000).toISOString() }
    const replay = await server.ask('POST', '/ferryhook/v1/replays', { token, body })
    expect(replay.status).toBeLessThan(300)
    await deployment.invoke('ferryhook-worker', { source: 'aws.events' })
    await deployment.invoke('ferryhook-worker', { source: 'aws.events' })
    expect(await ferryhook('GET', `/events/${waiting}`)).toMatchObject({ status: 'delivered' })
    expect(await ferryhook('GET', `/events/${claimed}`)).toMatchObject({ status: 'processing' })
  }, 60_000)

  test('hold the events of a paused connection', async () => {
    const { deployment, server } = opened()
    const ferryhook = ferryhookOf(server, (await server.account()).token)
    const source = await ferryhook('POST', '/sources', { name: 'Shop', provider: 'custom' })
    const connection = await ferryhook('POST', `/sources/${source.id}/connections`, {
      name: 'Books',
      destinationUrl: 'test:200',
    })
    await ferryhook('POST', `/connections/${connection.id}/pause`, {})
    const { body } = await server.ask('POST', `/in/${source.id}`, { body: { n: 1 } })
    await deployment.invoke('ferryhook-worker', { source: 'aws.events' })
    expect(await ferryhook('GET', `/events/${body.id}`)).toMatchObject({ status: 'held' })
  })

  test('route an event to more connections than one transaction takes', async () => {
    const { deployment, server, admin } = opened()
    const account = await server.account()
    const ferryhook = ferryhookOf(server, account.token)
    const plan = `/ferryhook/v1/users/${account.id}/plan`
    await server.ask('PUT', plan, { token: admin, body: { plan: 'team' } })
    const source = await ferryhook('POST', '/sources', { name: 'Shop', provider: 'custom' })
    for (let number = 0; number < 41; number++) {
      await ferryhook('POST', `/sources/${source.id}/connections`, {
        name: `Books ${number}`,
        destinationUrl: 'test:200',
        filters: [{ path: '$.isWanted', operator: 'exists' }],
      })
    }
    const { body } = await server.ask('POST', `/in/${source.id}`, { body: { n: 1 } })
    await deployment.invoke('ferryhook-worker', { source: 'aws.events' })
    const event = await ferryhook('GET', `/events/${body.id}`)
    expect(event).toMatchObject({ status: 'filtered' })
  }, 60_000)

  test('finish the purge of an account whose process stopped', async () => {
    const { deployment, server } = opened()
    const leaving = await server.account()
    const ferryhook = ferryhookOf(server, leaving.token)
    await ferryhook('POST', '/api-keys', { name: 'CI', permissions: 'read' })
    const source = await ferryhook('POST', '/sources', { name: 'Shop', provider: 'custom' })
    await ferryhook('POST', `/sources/${source.id}/connections`, {
      name: 'Books',
      destinationUrl: 'test:200',
    })
    // Workers leave a purge to its process for a minute.
    const earlier = { ...server.clock, now: () => Date.now() - 120_000 }
    const { accountPurge, users } = storesOn(server.db, earlier)
    await accountPurge.begin((await users.getById(leaving.id))!)
    await deployment.invoke('ferryhook-worker', { source: 'aws.events' })
    const { Items } = await server.db.query({
      TableName: mainTable.name,
      KeyConditionExpression: 'PK = :user',
      ExpressionAttributeValues: { ':user': userKey.of({ userId: leaving.id }).PK },
    })
    expect(Items?.filter(({ SK }) => /^SOURCE|^APIKEY/.test(String(SK)))).toEqual([])
  })

  test('alert an account that has reached its monthly limit, and store that the webhook failed', async () => {
    const { server, destination, admin } = opened()
    const account = await server.account()
    const ferryhook = ferryhookOf(server, account.token)
    const plan = `/ferryhook/v1/users/${account.id}/plan`
    await server.ask('PUT', plan, { token: admin, body: { plan: 'free' } })
    const source = await ferryhook('POST', '/sources', { name: 'Shop', provider: 'custom' })
    // A loop is not retried.
    await ferryhook('PUT', '/alerts', { webhookUrl: `${destination.url}/status/508` })
    const send = () => server.ask('POST', `/in/${source.id}`, { body: { n: 1 } })
    expect(await send()).toMatchObject({ status: 200 })
    await server.db.updateItem({
      TableName: eventsTable.name,
      Key: quotaKey.of({ userId: account.id, month: monthStart(Date.now()) }),
      UpdateExpression: 'SET events = :events',
      ExpressionAttributeValues: { ':events': planLimits.free.eventsPerMonth },
    })
    const refused = await send()
    expect(refused.code).toBe('ferryhook.month_limit')
    expect(await ferryhook('GET', '/alerts')).toMatchObject({ failure: 'http_508' })
  })

  test('stream new events while they come', async () => {
    const { deployment, server } = opened()
    const account = await server.account()
    const ferryhook = ferryhookOf(server, account.token)
    const source = await ferryhook('POST', '/sources', { name: 'Shop', provider: 'custom' })
    const { key } = await ferryhook('POST', '/api-keys', { name: 'CI', permissions: 'read' })
    const live = await deployment.functionOf('ferryhook-live')
    const url = `https://live.example/ferryhook/v1/sources/${source.id}/stream`
    const request = new Request(url, { headers: { authorization: `Bearer ${key}` } })
    const withSession = new Request(url, { headers: { authorization: `Bearer ${account.token}` } })
    const watched = live.stream(await toEvent(withSession))
    expect(await watched.head).toMatchObject({ statusCode: 200 })
    watched.disconnect()
    await watched.ended
    const stream = live.stream(await toEvent(request))
    expect(await stream.head).toMatchObject({ statusCode: 200 })
    await expect.poll(stream.text).toContain('event: ready')
    const received = await server.ask('POST', `/in/${source.id}`, { body: { n: 2 } })
    await expect.poll(stream.text).toContain(received.body.id)
    stream.disconnect()
    await stream.ended
    const other = new Request('https://live.example/ferryhook/v1/sources')
    const refused = live.stream(await toEvent(other))
    expect(await refused.head).toMatchObject({ statusCode: 404 })
    await refused.ended
  })
}
