import { type TestStore, testStores } from '@strongroom/kit/testing/stores'
import { beforeAll, describe, expect, test } from 'vitest'
import { openDb } from '../existence/scene.ts'
import { type Machine, newApp, upstreamApp, world } from './machine.ts'

const [embedded] = testStores() as [TestStore]

describe('people who wait', () => {
  const { clock, timers, start, slack } = world(openDb(embedded))
  const upstream = upstreamApp()
  let machine: Machine
  let app: string
  beforeAll(async () => {
    machine = await start()
    app = await newApp(machine, await upstream.url())
  })
  const codeOf = ({ text }: { text: string }) =>
    (JSON.parse(text) as { error: { code: string } }).error.code

  test('get what the app says: status, type and body', async () => {
    upstream.answers((_req, res) => {
      res.writeHead(201, { 'content-type': 'application/json; charset=utf-8', 'set-cookie': 'a=b' })
      res.end('{"text":"Grüße"}')
    })
    const answer = await machine.send(app, 'command')
    expect(answer).toMatchObject({ status: 201, text: '{"text":"Grüße"}' })
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(answer.headers.get('set-cookie')).toBeNull()
  })

  test.each([
    [204, 200],
    [404, 404],
    [500, 500],
    [302, 502],
  ])('get a status that Slack can use: of %i it is %i', async (given, seen) => {
    upstream.answers((_req, res) => void res.writeHead(given).end())
    expect(await machine.send(app, 'view')).toMatchObject({ status: seen })
  })

  test('are not asked twice: a command that comes again is another one', async () => {
    await machine.send(app, 'command')
    await machine.send(app, 'command')
    expect(upstream.received).toHaveLength(2)
  })

  test.each(['command', 'action'] as const)(
    'for an app that does not answer a %s are told after 2.8 seconds',
    async (kind) => {
      upstream.answers(() => {})
      const arrival = upstream.nextArrival()
      const started = clock.now()
      let answered = false
      const answer = machine.send(app, kind).finally(() => (answered = true))
      await arrival
      await timers.pass({ ms: 2_799 - (clock.now() - started) })
      expect(answered).toBe(false)
      await timers.pass({ ms: 1 })
      const { status, text } = await answer
      const told = kind === 'command' ? 200 : 502
      expect(status).toBe(told)
      expect(text).toContain(kind === 'command' ? '"ephemeral"' : 'two-key.app_unavailable')
    },
  )

  test('leave the app what the check has not used of the 2.8 seconds', async () => {
    const fresh = await start()
    slack.break({ kind: 'slow', ms: 0, times: 1 })
    upstream.answers(() => {})
    const arrival = upstream.nextArrival()
    const answer = fresh.send(app, 'command', { user: 'U00000002' })
    await arrival
    await timers.pass({ ms: 2_800 })
    expect(await answer).toMatchObject({ status: 200 })
  })

  test('for a Ferryhook source that fails are told so', async () => {
    const handed = await newApp(machine, await upstream.url(), { kind: 'ferryhook' })
    upstream.answers((_req, res) => void res.writeHead(500).end())
    expect((await machine.send(handed, 'command')).text).toContain('"ephemeral"')
    expect(codeOf(await machine.send(handed, 'action'))).toBe('two-key.app_unavailable')
  })

  test('and do not exist reach nobody', async () => {
    for (const kind of ['command', 'action', 'shortcut', 'view'] as const) {
      expect(await machine.send(app, kind, { user: 'U0INVENTED' })).toMatchObject({ status: 403 })
    }
    expect(upstream.received).toEqual([])
  })

  test('in conversations that the bot does not see are heard, unless the policy is strict', async () => {
    const hidden = { channel: 'G0000HIDE' }
    expect(await machine.send(app, 'command', hidden)).toMatchObject({ status: 200 })
    const policy = { channels: { command: 'strict' } }
    const strict = await newApp(machine, await upstream.url(), { policy })
    expect(await machine.send(strict, 'command', hidden)).toMatchObject({ status: 403 })
  })
})
