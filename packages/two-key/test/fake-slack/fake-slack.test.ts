import { testClock } from '@strongroom/kit/testing/test-clock'
import { afterEach, describe, expect, test } from 'vitest'
import { createFakeSlack, type FakeSlack } from '../../src/fake-slack/fake-slack.ts'
import { type FakeSlackServer, serveFakeSlack } from '../../src/fake-slack/server.ts'
import { sampleTeam } from '../../src/fake-slack/fixtures.ts'

const headers = { authorization: `Bearer ${sampleTeam.token}` }
const api = 'https://slack.com/api/'

async function ask(slack: FakeSlack, call: string, init: RequestInit = {}) {
  return (await slack.fetch(api + call, { headers, ...init })).json()
}

describe('the fake Slack', () => {
  test('returns existing entities, and for others status 200 with an error', async () => {
    const slack = createFakeSlack()
    expect(await ask(slack, 'auth.test')).toMatchObject({ ok: true, team_id: 'T00000001' })
    expect(await ask(slack, 'team.info')).toMatchObject({ ok: true, team: { id: 'T00000001' } })
    expect(await ask(slack, 'team.info?team=T0')).toEqual({ ok: false, error: 'team_not_found' })
    expect(await ask(slack, 'users.info?user=U00000001')).toMatchObject({
      ok: true,
      user: { team_id: 'T00000001', deleted: false },
    })
    expect(await ask(slack, 'users.info?user=U0')).toEqual({ ok: false, error: 'user_not_found' })
    expect(await ask(slack, 'users.info?user=U0000GONE')).toMatchObject({ user: { deleted: true } })
    expect(await ask(slack, 'bots.info?bot=B00000001')).toMatchObject({
      bot: { app_id: 'A00000001' },
    })
    expect(await ask(slack, 'conversations.info?channel=D00000001')).toMatchObject({
      channel: { is_im: true, user: 'U00000001' },
    })
    expect(await ask(slack, 'conversations.info?channel=G0000HIDE')).toEqual({
      ok: false,
      error: 'channel_not_found',
    })
  })

  test('accepts arguments in the query, as a form and as JSON', async () => {
    const slack = createFakeSlack()
    const form = { method: 'POST', body: new URLSearchParams({ user: 'U00000001' }) }
    const json = {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify({ user: 'U00000001' }),
    }
    for (const init of [form, json]) {
      expect(await ask(slack, 'users.info', init)).toMatchObject({ ok: true })
    }
    expect(slack.calls('users.info')).toEqual([
      { method: 'users.info', args: { user: 'U00000001' } },
      { method: 'users.info', args: { user: 'U00000001' } },
    ])
  })

  test('distinguishes a missing token, a wrong token and a missing scope', async () => {
    const slack = createFakeSlack({ teams: [{ ...sampleTeam, scopes: ['users:read'] }] })
    expect(await ask(slack, 'auth.test', { headers: {} })).toMatchObject({ error: 'not_authed' })
    const wrong = { headers: { authorization: 'Bearer xoxb-another' } }
    expect(await ask(slack, 'auth.test', wrong)).toMatchObject({ error: 'invalid_auth' })
    expect(await ask(slack, 'conversations.info?channel=D00000001')).toEqual({
      ok: false,
      error: 'missing_scope',
      needed: 'im:read',
      provided: 'users:read',
    })
    expect(await ask(slack, 'no.method')).toMatchObject({ error: 'unknown_method' })
  })

  test('fails in the configured way, as often as configured, for the configured method', async () => {
    const slack = createFakeSlack()
    slack.break({ kind: 'rate_limit', retryAfter: 30, method: 'users.info', times: 1 })
    const limited = await slack.fetch(`${api}users.info?user=U00000001`, { headers })
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '30'])
    expect(await ask(slack, 'users.info?user=U00000001')).toMatchObject({ ok: true })

    slack.break({ kind: 'html', status: 503 })
    const page = await slack.fetch(`${api}auth.test`, { headers })
    expect([page.status, page.headers.get('content-type')]).toEqual([
      503,
      'text/html; charset=utf-8',
    ])
    slack.repair()
    slack.break({ kind: 'error', error: 'token_revoked' })
    expect(await ask(slack, 'auth.test')).toEqual({ ok: false, error: 'token_revoked' })
    slack.repair()
    slack.break({ kind: 'reset' })
    await expect(ask(slack, 'auth.test')).rejects.toThrow('fetch failed')
    slack.repair()
    expect(await ask(slack, 'auth.test')).toMatchObject({ ok: true })
  })

  test('hangs until the call is aborted', async () => {
    const slack = createFakeSlack()
    slack.break({ kind: 'hang' })
    const giveUp = new AbortController()
    const call = slack.fetch(`${api}auth.test`, { headers, signal: giveUp.signal })
    giveUp.abort(new Error('given up'))
    await expect(call).rejects.toThrow('given up')
  })

  test('applies Slack’s rate limits if configured', async () => {
    const clock = testClock()
    const slack = createFakeSlack({ limits: true, clock })
    const statuses = async (calls: number) => {
      const responses = Array.from({ length: calls }, () =>
        slack.fetch(`${api}team.info`, { headers }),
      )
      return (await Promise.all(responses)).map(({ status }) => status)
    }
    expect((await statuses(52)).filter((status) => status === 429)).toHaveLength(2)
    clock.advance({ minutes: 1 })
    expect(await statuses(1)).toEqual([200])
  })
})

describe('the fake Slack on a port', () => {
  const servers: FakeSlackServer[] = []
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close()
  })

  test('responds over HTTP, fails on request and lists the calls it received', async () => {
    const server = await serveFakeSlack(createFakeSlack(), 0)
    servers.push(server)
    const form = new URLSearchParams({ user: 'U00000001' })
    const users = async () =>
      fetch(`${server.url}users.info`, { method: 'POST', headers, body: form })
    expect(await (await users()).json()).toMatchObject({ ok: true })

    const faults = new URL('/fake/faults', server.url)
    const fault = JSON.stringify({ kind: 'status', status: 500 })
    expect((await fetch(faults, { method: 'POST', body: fault })).status).toBe(200)
    expect((await users()).status).toBe(500)
    await fetch(faults, { method: 'DELETE' })
    expect((await users()).status).toBe(200)
    expect((await fetch(faults, { method: 'POST', body: '{"kind":"odd"}' })).status).toBe(400)
    expect((await fetch(faults, { method: 'POST', body: 'odd' })).status).toBe(400)
    expect((await fetch(new URL('/fake/other', server.url))).status).toBe(404)
    const calls = await (await fetch(new URL('/fake/calls', server.url))).json()
    expect(calls).toHaveLength(3)

    await fetch(faults, { method: 'POST', body: '{"kind":"reset"}' })
    await expect(users()).rejects.toThrow('fetch failed')
  })
})
