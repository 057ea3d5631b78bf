import { serviceStores } from '@strongroom/kit/testing/stores'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { fakeRequest } from '../../src/fake-slack/requests.ts'
import { sampleTeam } from '../../src/fake-slack/fixtures.ts'
import { createStores } from '../../src/stores.ts'
import { openDb } from '../support/test-checkers.ts'
import { signedServiceRequest } from '../support/signed-request.ts'
import {
  hangingDb,
  type Machine,
  newApp,
  otherTeam,
  SECRET,
  upstreamApp,
  createCluster,
} from '../support/machine.ts'

describe.each(serviceStores())('events of Slack, on $name', (store) => {
  const opened = openDb(store)
  const { clock, timers, slack, start } = createCluster(opened)
  const upstream = upstreamApp()
  let machine: Machine
  let app: string
  beforeAll(async () => {
    machine = await start()
    app = await newApp(machine, await upstream.url())
  })

  /** An event with a unique id. */
  const newEvent = () => {
    clock.advance({ seconds: 1 })
    return fakeRequest('message', { signingSecret: SECRET, nowMs: clock.now() })
  }
  const codeOf = ({ text }: { text: string }) =>
    (JSON.parse(text) as { error: { code: string } }).error.code

  test('reach the app byte for byte, with the headers that Slack sent', async () => {
    const event = newEvent()
    const response = await machine.send(app, event)
    expect(response).toMatchObject({ status: 200, text: '' })
    expect(upstream.received).toHaveLength(1)
    expect(upstream.received[0]?.body.toString()).toBe(event.body)
    expect(upstream.received[0]?.headers).toMatchObject(event.headers)
  })

  test('reach the app without headers that Slack does not send, which the app may believe', async () => {
    const event = newEvent()
    const forged = {
      authorization: 'Bearer forged',
      cookie: 'session=forged',
      forwarded: 'for=127.0.0.1',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-user': 'admin',
      x_forwarded_user: 'admin',
      'x-original-url': '/admin',
      'x-rewrite-url': '/admin',
      'x-real-ip': '127.0.0.1',
      'x-http-method-override': 'DELETE',
      'content-encoding': 'identity',
      'x-anything': 'else',
      'x-two-key-channel': 'forged',
    }
    const genuine = {
      ...event.headers,
      accept: '*/*',
      'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
      'x-slack-retry-num': '1',
      'x-slack-retry-reason': 'http_timeout',
    }
    const sent = { ...event, headers: { ...forged, ...genuine } }
    expect(await machine.send(app, sent)).toMatchObject({ status: 200 })
    const names = Object.keys(upstream.received[0]?.headers ?? {})
    const own = ['accept-encoding', 'connection', 'content-length', 'host']
    expect(names.filter((name) => !own.includes(name)).toSorted()).toEqual(
      [...Object.keys(genuine), 'x-two-key-channel', 'x-two-key-user'].toSorted(),
    )
    expect(upstream.received[0]?.headers).toMatchObject({
      ...genuine,
      'x-two-key-channel': 'verified',
      'x-two-key-user': 'verified',
    })
  })

  test('to an app that does not exist are rejected before their body is read', async () => {
    let isRead = false
    const body = new ReadableStream(
      {
        pull(controller) {
          isRead = true
          controller.close()
        },
      },
      { highWaterMark: 0 },
    )
    const request = { method: 'POST', body, duplex: 'half' } as RequestInit
    const response = await machine.request('/two-key/slack/no-such-app/events', request)
    expect([response.status, codeOf({ text: await response.text() })]).toEqual([
      404,
      'two-key.app_not_found',
    ])
    expect(isRead).toBe(false)
  })

  test('are delivered once, although Slack sends them again', async () => {
    const event = newEvent()
    for (let delivery = 0; delivery < 3; delivery++) {
      expect(await machine.send(app, event)).toMatchObject({ status: 200 })
    }
    expect(upstream.received).toHaveLength(1)
  })

  test.each([
    ['what the app is', 'strongroom-server'],
    ['whether an event was taken', 'slack-event-dedupe'],
  ])('are sent again by Slack if the store does not return %s', async (_, table) => {
    const { db, called, hang } = hangingDb(opened.db, table)
    const other = await start(db)
    hang()
    const sending = other.send(app, newEvent())
    await called
    await timers.pass({ seconds: 3 })
    const response = await sending
    expect([response.status, codeOf(response)]).toEqual([503, 'two-key.store_unavailable'])
    expect(upstream.received).toEqual([])
  })

  test('that reach two machines at the same time are delivered by one of them', async () => {
    const other = await start()
    for (let round = 0; round < 5; round++) {
      const event = newEvent()
      const responses = await Promise.all(
        Array.from({ length: 10 }, async (_, at) => (at % 2 ? machine : other).send(app, event)),
      )
      const statuses = responses.map(({ status }) => status)
      expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(1)
      expect(statuses.every((status) => status === 200 || status === 503)).toBe(true)
      const late = responses.filter(({ status }) => status === 503).map(codeOf)
      expect(new Set([...late, 'two-key.event_in_progress']).size).toBe(1)
      expect(upstream.received).toHaveLength(round + 1)
    }
  })

  test.each([
    ['answers with an error', 500],
    ['refuses it', 404],
    ['redirects', 302],
  ])(
    'are sent again by Slack when the app %s, and then delivered without delay',
    async (_, status) => {
      const event = newEvent()
      upstream.responses((_req, res) => void res.writeHead(status).end())
      const failed = await machine.send(app, event)
      expect(failed.status).toBe(503)
      expect(codeOf(failed)).toBe('two-key.not_handed_over')
      expect(failed.headers.get('x-slack-no-retry')).toBeNull()
      upstream.responses((_req, res) => void res.writeHead(204).end())
      expect(await machine.send(app, event)).toMatchObject({ status: 200 })
    },
  )

  test('are sent again by Slack when the app is not running', async () => {
    const nowhere = await newApp(machine, 'http://127.0.0.1:59999/')
    expect(codeOf(await machine.send(nowhere, newEvent()))).toBe('two-key.not_handed_over')
  })

  test('whose machine died can be claimed 30 seconds later', async () => {
    const event = newEvent()
    const { event_id } = JSON.parse(event.body) as { event_id: string }
    const { events } = createStores({ db: opened.db, clock })
    await events.claim(event_id, 'a-machine-that-died')
    expect(codeOf(await machine.send(app, event))).toBe('two-key.event_in_progress')
    clock.advance({ seconds: 30 })
    expect(await machine.send(app, event)).toMatchObject({ status: 200 })
    expect(upstream.received).toHaveLength(1)
  })

  test('without a valid id are rejected, and Slack does not retry', async () => {
    const { body } = newEvent()
    for (const event_id of [undefined, 'a b', 'x'.repeat(100)]) {
      const altered = { ...(JSON.parse(body) as object), event_id }
      const response = await machine.send(app, signedServiceRequest(altered, clock.now()))
      expect(response.status).toBe(400)
      expect(codeOf(response)).toBe('two-key.invalid_event')
      expect(response.headers.get('x-slack-no-retry')).toBe('1')
    }
    expect(upstream.received).toEqual([])
  })

  test('of invented users never reach the app: 403, and Slack does not retry', async () => {
    const response = await machine.send(app, 'message', { user: 'U0INVENTED' })
    expect(response.status).toBe(403)
    expect(response.headers.get('x-slack-no-retry')).toBe('1')
    expect(upstream.received).toEqual([])
  })

  test('without a valid signature never reach the app: 401', async () => {
    const unsigned = newEvent()
    const signatures: Record<string, string>[] = [
      { 'content-type': 'application/json' },
      { ...unsigned.headers, 'x-slack-signature': `v0=${'0'.repeat(64)}` },
    ]
    for (const headers of signatures) {
      expect(await machine.send(app, { ...unsigned, headers })).toMatchObject({ status: 401 })
      expect(await machine.send(app, { body: '{', headers })).toMatchObject({ status: 401 })
    }
    const foreign = await machine.send(app, 'message', { signingSecret: 'of another app' })
    expect(foreign.status).toBe(401)
    expect(upstream.received).toEqual([])
  })

  test('during an outage of Slack are rejected within two seconds, and the app is not called', async () => {
    const fresh = await start()
    slack.break({ kind: 'hang' })
    const event = fakeRequest('message', {
      signingSecret: SECRET,
      nowMs: clock.now(),
      team: otherTeam.id,
      user: 'U00000009',
      channel: 'C00000009',
    })
    const asked = slack.calls().length
    const response = fresh.send(app, event)
    await vi.waitFor(() => expect(slack.calls().length).toBeGreaterThan(asked))
    await timers.pass({ seconds: 2 })
    expect((await response).status).toBe(503)
    slack.repair()
    expect(upstream.received).toEqual([])
  })

  test('of each workspace are verified with its own token', async () => {
    clock.advance({ seconds: 30 })
    const own = { team: otherTeam.id, user: 'U00000009', channel: 'C00000009' }
    expect(await machine.send(app, 'message', own)).toMatchObject({ status: 200 })
    clock.advance({ seconds: 1 })
    const mixed = { ...own, team: sampleTeam.id }
    expect(await machine.send(app, 'message', mixed)).toMatchObject({ status: 403 })
  })

  test('that report an uninstall are rejected while the token works, and remove it once it is revoked', async () => {
    const leaving = await newApp(machine, await upstream.url())
    const event = (id: string) =>
      signedServiceRequest(
        {
          type: 'event_callback',
          team_id: sampleTeam.id,
          api_app_id: sampleTeam.app,
          event_id: id,
          event: { type: 'app_uninstalled' },
        },
        clock.now(),
      )
    expect(await machine.send(leaving, event('EvForged1'))).toMatchObject({ status: 403 })
    const tokens = async () =>
      (await machine.operate('GET', `/apps/${leaving}/tokens`)).body.items as { team: string }[]
    expect((await tokens()).map(({ team }) => team)).toEqual([sampleTeam.id, otherTeam.id])
    slack.break({ kind: 'error', error: 'account_inactive', method: 'auth.test', times: 1 })
    expect(await machine.send(leaving, event('EvTrue1'))).toMatchObject({ status: 200 })
    expect((await tokens()).map(({ team }) => team)).toEqual([otherTeam.id])
    expect(upstream.received).toHaveLength(1)
  })

  test('that report an uninstall never remove a token that was not checked', async () => {
    const joining = await newApp(machine, await upstream.url())
    const other = await start()
    const path = `/apps/${joining}/tokens/${sampleTeam.id}`
    const event = (id: string) =>
      signedServiceRequest(
        {
          type: 'event_callback',
          team_id: sampleTeam.id,
          api_app_id: sampleTeam.app,
          event_id: id,
          event: { type: 'app_uninstalled' },
        },
        clock.now(),
      )
    // One machine has cached that there is none while the other stores one.
    await machine.operate('DELETE', path)
    expect(await machine.send(joining, event('EvNone1'))).toMatchObject({ status: 200 })
    await other.operate('PUT', path, { token: sampleTeam.token })
    expect(await machine.send(joining, event('EvNone2'))).toMatchObject({ status: 200 })
    expect(await other.send(joining, 'message')).toMatchObject({ status: 200 })
  })

  test('of teams that never installed the app are rejected and store no token', async () => {
    const before = await opened.db.scan({ TableName: 'slack-workspace-tokens' })
    for (const team of ['T0STRANGE1', 'T0STRANGE2']) {
      clock.advance({ seconds: 1 })
      const response = await machine.send(app, 'message', { team })
      expect(response).toMatchObject({ status: 403 })
    }
    const after = await opened.db.scan({ TableName: 'slack-workspace-tokens' })
    expect(after.Items).toEqual(before.Items)
  })

  test.each(['nobody', 'NOBODY', 'a'.repeat(2000)])(
    'for an unknown app are a 404 that Slack does not retry: %.8s',
    async (nobody) => {
      const response = await machine.send(nobody, newEvent())
      expect(response.status).toBe(404)
      expect(response.headers.get('x-slack-no-retry')).toBe('1')
    },
  )

  test('without ids are handled: the challenge is returned, and a rate-limit notice reaches the app', async () => {
    const challenge = signedServiceRequest(
      { type: 'url_verification', challenge: 'c' },
      clock.now(),
    )
    expect(await machine.send(app, challenge)).toMatchObject({
      status: 200,
      text: '{"challenge":"c"}',
    })
    expect(upstream.received).toEqual([])
    const limited = { type: 'app_rate_limited', team_id: sampleTeam.id }
    expect(await machine.send(app, signedServiceRequest(limited, clock.now()))).toMatchObject({
      status: 200,
    })
    expect(upstream.received).toHaveLength(1)
    upstream.responses((_req, res) => void res.writeHead(500).end())
    const failed = await machine.send(app, signedServiceRequest(limited, clock.now()))
    expect(codeOf(failed)).toBe('two-key.not_handed_over')
  })

  test('for a Ferryhook source are confirmed once it has stored them', async () => {
    const handed = await newApp(machine, await upstream.url(), { kind: 'ferryhook' })
    upstream.responses((_req, res) => void res.end('{"id":"evt_1","status":"received"}'))
    expect(await machine.send(handed, newEvent())).toMatchObject({ status: 200, text: '' })
    expect(await machine.send(handed, 'command')).toMatchObject({ status: 200, text: '' })
    expect(upstream.received).toHaveLength(2)
  })
})
