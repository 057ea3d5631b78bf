import type { Db } from '@strongroom/kit/db'
import { type TestStore, testStores } from '@strongroom/kit/testing/stores'
import { beforeAll, describe, expect, test } from 'vitest'
import { openDb } from '../support/test-checkers.ts'
import { type Machine, newApp, upstreamApp, createCluster } from '../support/machine.ts'

const [embedded] = testStores() as [TestStore]

describe('a person’s request', () => {
  const opened = openDb(embedded)
  const { clock, timers, start, slack } = createCluster(opened)
  const upstream = upstreamApp()
  let machine: Machine
  let app: string
  beforeAll(async () => {
    machine = await start()
    app = await newApp(machine, await upstream.url())
  })
  const codeOf = ({ text }: { text: string }) =>
    (JSON.parse(text) as { error: { code: string } }).error.code

  test('gets the response of the app: status, type and body', async () => {
    upstream.responses((_req, res) => {
      res.writeHead(201, { 'content-type': 'application/json; charset=utf-8', 'set-cookie': 'a=b' })
      res.end('{"text":"Grüße"}')
    })
    const response = await machine.send(app, 'command')
    expect(response).toMatchObject({ status: 201, text: '{"text":"Grüße"}' })
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(response.headers.get('set-cookie')).toBeNull()
  })

  test.each([
    [204, 200],
    [404, 404],
    [500, 500],
    [302, 502],
  ])('gets a status that Slack accepts: for %i it is %i', async (given, seen) => {
    upstream.responses((_req, res) => void res.writeHead(given).end())
    expect(await machine.send(app, 'view')).toMatchObject({ status: seen })
  })

  test('is not deduplicated, because a repeated command is a new one', async () => {
    await machine.send(app, 'command')
    await machine.send(app, 'command')
    expect(upstream.received).toHaveLength(2)
  })

  test.each(['command', 'action'] as const)(
    'gets a response after 2.8 seconds if the app does not respond to a %s',
    async (kind) => {
      upstream.responses(() => {})
      const arrival = upstream.nextArrival()
      const started = clock.now()
      let answered = false
      const response = machine.send(app, kind).finally(() => (answered = true))
      await arrival
      await timers.pass({ ms: 2_799 - (clock.now() - started) })
      expect(answered).toBe(false)
      await timers.pass({ ms: 1 })
      const { status, text } = await response
      const told = kind === 'command' ? 200 : 502
      expect(status).toBe(told)
      expect(text).toContain(kind === 'command' ? '"ephemeral"' : 'two-key.app_unavailable')
    },
  )

  test('leaves the app the rest of the 2.8 seconds', async () => {
    const fresh = await start()
    slack.break({ kind: 'slow', ms: 0, times: 1 })
    upstream.responses(() => {})
    const arrival = upstream.nextArrival()
    const response = fresh.send(app, 'command', { user: 'U00000002' })
    await arrival
    await timers.pass({ ms: 2_800 })
    expect(await response).toMatchObject({ status: 200 })
  })

  test('gets a response after 2.8 seconds although the store and Slack are both slow', async () => {
    const db: Db = {
      ...opened.db,
      getItem: async (input) => {
        const isApp = input.Key['PK'] === 'SLACKAPP'
        if (isApp) await new Promise<void>((resolve) => void timers.start(2_000, resolve))
        return opened.db.getItem(input)
      },
    }
    const slow = await start(db)
    // Entries of earlier tests have expired.
    clock.advance({ minutes: 6 })
    slack.break({ kind: 'hang' })
    const startedAt = clock.now()
    const response = slow.send(app, 'command', { user: 'U00000002' }).then(({ status }) => ({
      status,
      ms: clock.now() - startedAt,
    }))
    await timers.pass({ seconds: 5 })
    slack.repair()
    expect(await response).toEqual({ status: 503, ms: 2_800 })
  })

  test('gets an error if a Ferryhook source fails', async () => {
    const handed = await newApp(machine, await upstream.url(), { kind: 'ferryhook' })
    upstream.responses((_req, res) => void res.writeHead(500).end())
    expect((await machine.send(handed, 'command')).text).toContain('"ephemeral"')
    expect(codeOf(await machine.send(handed, 'action'))).toBe('two-key.app_unavailable')
  })

  test('does not reach the app if the person does not exist', async () => {
    for (const kind of ['command', 'action', 'shortcut', 'view'] as const) {
      expect(await machine.send(app, kind, { user: 'U0INVENTED' })).toMatchObject({ status: 403 })
    }
    expect(upstream.received).toEqual([])
  })

  test('from a conversation that the bot cannot see is accepted, unless the policy is strict', async () => {
    const hidden = { channel: 'G0000HIDE' }
    expect(await machine.send(app, 'command', hidden)).toMatchObject({ status: 200 })
    const policy = { channels: { command: 'strict' } }
    const strict = await newApp(machine, await upstream.url(), { policy })
    expect(await machine.send(strict, 'command', hidden)).toMatchObject({ status: 403 })
  })
})
