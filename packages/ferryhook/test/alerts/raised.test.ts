import { serviceStores } from '@strongroom/kit/testing/stores'
import { systemClock } from '@strongroom/platform/clock'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openApi } from '../support/test-api.ts'
import { answer, openSink, type Sink } from '../support/test-destination.ts'

const env = {
  FERRYHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
  FERRYHOOK_ALLOW_HTTP: 'true',
  FERRYHOOK_DEFAULT_PLAN: 'free',
}

describe.each(serviceStores())('the service on $name', (store) => {
  const api = openApi(store, env, { delivers: true })
  let sink: Sink

  beforeAll(async () => {
    sink = await openSink(systemClock)
  })
  afterAll(() => sink.close())

  const send = (sourceId: string) =>
    api.app.request(`/in/${sourceId}`, { method: 'POST', body: '{"type":"sale"}' })
  const told = (path: string) => sink.received(path).map(({ body }) => JSON.parse(String(body)))

  test('alerts the owner of a connection when a delivery fails permanently', async () => {
    const person = await api.person()
    const sourceId = await api.source(person)
    sink.behave('/down', answer(500))
    const { body: connection } = await api.connection(person, sourceId, {
      destinationUrl: sink.url('/down'),
      retryConfig: [0],
    })
    const { token } = person
    const { body: alerts } = await api.ask('PUT', '/alerts', {
      token,
      body: { webhookUrl: sink.url('/alerts') },
    })
    expect(alerts.signingSecret).toMatch(/^whsec_/)
    const { id } = (await (await send(sourceId)).json()) as { id: string }
    await sink.until('/alerts', 1)
    expect(told('/alerts')).toMatchObject([
      {
        type: 'ferryhook.delivery.failed',
        data: {
          sourceId,
          sourceName: 'Shop',
          connectionId: connection.id,
          connectionName: 'To the shop',
          eventId: id,
          eventType: 'sale',
          reason: 'exhausted',
        },
      },
    ])
    const tested = await api.ask('POST', '/alerts/test', { token })
    expect(tested.body).toMatchObject({ ok: true, reason: 'delivered', statusCode: 200 })
    expect(told('/alerts')).toMatchObject([{}, { type: 'ferryhook.test' }])
  })

  test('alerts the owner of a source when its limit per minute is reached', async () => {
    const person = await api.person()
    const sourceId = await api.source(person)
    const { token } = person
    await api.ask('PUT', '/alerts', { token, body: { webhookUrl: sink.url('/limits') } })
    const statuses: number[] = []
    for (let n = 0; n < 103; n++) statuses.push((await send(sourceId)).status)
    expect(statuses.filter((status) => status === 429)).toHaveLength(3)
    await sink.until('/limits', 1)
    expect(told('/limits')).toMatchObject([
      {
        type: 'ferryhook.limit.reached',
        data: {
          sourceId,
          sourceName: 'Shop',
          limit: 'free minute',
          summary: "The limit of events per minute of the free plan was reached by source 'Shop'.",
        },
      },
    ])
  })
})
