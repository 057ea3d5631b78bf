import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { createTables } from '@strongroom/kit/tables'
import type { Db } from '@strongroom/kit/db'
import type { KmsKey } from '@strongroom/kit/kms'
import { createOperators } from '@strongroom/kit/operators'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { testKmsKey } from '@strongroom/kit/testing/test-secrets'
import { createFakeSlack } from '@strongroom/two-key/fake-slack/fake-slack'
import { serveFakeSlack } from '@strongroom/two-key/fake-slack/server'
import { sampleTeam } from '@strongroom/two-key/fake-slack/fixtures'
import { twoKeyService } from '@strongroom/two-key/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServerApp } from '../src/app.ts'
import { services } from '../src/services.ts'
import { settingsWith } from '../src/own-settings.ts'
import { tablesOf } from '../src/tables.ts'
import { testApp } from './test-app.ts'

const clock = testClock()
const SECRET = 'a-signing-secret-of-slack'

describe.each(serviceStores())('Two-key in the server, on $name', (store) => {
  let db: Db
  let key: KmsKey
  let operator: string
  let slackUrl: string
  const closers: (() => Promise<unknown>)[] = []
  const received: string[] = []
  const upstream = createServer((req, res) => {
    void buffer(req).then((body) => {
      received.push(body.toString())
      return res.end()
    })
  })

  beforeAll(async () => {
    const opened = await store.open()
    db = opened.db
    closers.push(opened.close)
    await createTables(db, tablesOf([twoKeyService]))
    key = await testKmsKey()
    operator = await createOperators({ db, clock }).add('ops')
    const slack = await serveFakeSlack(createFakeSlack(), 0)
    slackUrl = slack.url
    await new Promise<void>((resolve) => void upstream.listen(0, '127.0.0.1', resolve))
    closers.push(slack.close, async () => upstream.close())
  })
  afterAll(async () => {
    for (const close of closers.toReversed()) await close()
  })

  async function start(): Promise<ServerApp> {
    const app = await testApp({
      db,
      key,
      clock,
      services: [twoKeyService],
      settings: settingsWith(services).parse({
        TWO_KEY_SLACK_API_URL: slackUrl,
        TWO_KEY_ALLOWED_NETWORKS: '127.0.0.0/8',
        TWO_KEY_ALLOW_HTTP: 'true',
        TWO_KEY_CACHE_MAC: 'true',
      }),
    })
    closers.push(async () => app.close())
    return app
  }

  async function operate(app: ServerApp, method: string, path: string, body: object) {
    const answer = await app.request(`/two-key/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${operator}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return answer.status
  }

  async function send(app: ServerApp, user: string, eventId: string) {
    const body = JSON.stringify({
      type: 'event_callback',
      team_id: sampleTeam.id,
      event_id: eventId,
      event: { type: 'message', user, channel: 'C00000001', text: 'Hello', ts: '1.2' },
    })
    const timestamp = String(Math.floor(clock.now() / 1000))
    const signature = createHmac('sha256', SECRET).update(`v0:${timestamp}:${body}`).digest('hex')
    const answer = await app.request('/two-key/slack/demo/events', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-slack-request-timestamp': timestamp,
        'x-slack-signature': `v0=${signature}`,
      },
      body,
    })
    return { status: answer.status, body }
  }

  test('an app with secrets that the key store encrypts gets its verified events, also after a restart', async () => {
    const before = await start()
    const { port } = upstream.address() as AddressInfo
    const added = await operate(before, 'POST', '/apps', {
      name: 'demo',
      signingSecret: SECRET,
      upstream: { url: `http://127.0.0.1:${port}/slack` },
    })
    expect(added).toBe(201)
    const token = { token: sampleTeam.token }
    expect(await operate(before, 'PUT', `/apps/demo/tokens/${sampleTeam.id}`, token)).toBe(200)
    const { Items = [] } = await db.scan({ TableName: 'slack-workspace-tokens' })
    expect(Items).toHaveLength(1)
    const sealed = Buffer.from(Items[0]?.['bot_token'] as Uint8Array)
    expect(sealed.toString('base64')).toMatch(/^AgR4/)

    const first = await send(before, 'U00000001', 'Ev1')
    expect(first.status).toBe(200)
    expect((await send(before, 'U0INVENTED', 'Ev2')).status).toBe(403)
    const after = await start()
    expect((await send(after, 'U00000001', 'Ev1')).status).toBe(200)
    const second = await send(after, 'U00000002', 'Ev3')
    expect(second.status).toBe(200)
    expect(received).toEqual([first.body, second.body])
  })
})
