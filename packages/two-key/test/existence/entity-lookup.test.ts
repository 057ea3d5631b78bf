import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createExistenceChecker } from '../../src/existence/checker.ts'
import { createFakeSlack } from '../../src/fake-slack/fake-slack.ts'
import type { ActiveFault } from '../../src/fake-slack/faults.ts'
import { serveFakeSlack } from '../../src/fake-slack/server.ts'
import type { FakeTeam } from '../../src/fake-slack/fixtures.ts'
import { refused, createTestCheckers, undecidable } from '../support/test-checkers.ts'

const users = Array.from({ length: 20 }, (_, at) => ({ id: `U${100 + at}` }))
const channels = Array.from({ length: 5 }, (_, at) => ({ id: `C${100 + at}` }))
const team: FakeTeam = { id: 'T1', token: 'xoxb-1', users, channels }
const ids = { team: 'T1', user: 'U100', channel: 'C100' }

function oneMachine() {
  const made = createTestCheckers([team])
  const checker = made.machine()
  const check = async (of: typeof ids = ids, budgetMs = 2000) =>
    checker.check(of, { deadline: made.clock.now() + budgetMs, channelPolicy: 'strict' })
  return { ...made, checker, check }
}

test('200 concurrent requests of 20 users in 5 channels call Slack once for each of them', async () => {
  const { slack, check } = oneMachine()
  const requests = Array.from({ length: 200 }, async (_, at) =>
    check({ team: 'T1', user: `U${100 + (at % 20)}`, channel: `C${100 + (at % 5)}` }),
  )
  const results = await Promise.all(requests)
  expect(results.every(({ ok }) => ok)).toBe(true)
  expect(slack.calls()).toHaveLength(1 + 20 + 5)
})

test('an absent entity is looked up again after a minute, and not before', async () => {
  const { clock, slack, check } = oneMachine()
  const invented = { ...ids, user: 'U404' }
  await check(invented)
  clock.advance({ seconds: 59 })
  expect(await check(invented)).toEqual(refused('user'))
  expect(slack.calls('users.info')).toHaveLength(1)
  clock.advance({ seconds: 1 })
  slack.setTeam({ ...team, users: [...users, { id: 'U404' }] })
  expect(await check(invented)).toMatchObject({ ok: true })
})

test('calls run in parallel: after the token, three slow responses take as long as one', async () => {
  const { slack, timers, check } = oneMachine()
  slack.break({ kind: 'slow', ms: 400 })
  const result = check({ ...ids, user: 'U101', channel: 'C101' })
  await timers.pass({ ms: 800 })
  expect(await result).toEqual({ ok: true, source: 'slack' })
  expect(slack.calls()).toHaveLength(3)
})

describe('a Slack that fails', () => {
  test.each<[string, ActiveFault, string]>([
    ['hangs', { kind: 'hang' }, 'timeout'],
    ['is too slow', { kind: 'slow', ms: 2500 }, 'timeout'],
    ['limits the rate for longer', { kind: 'rate_limit', retryAfter: 30 }, 'rate_limited'],
    ['limits the rate and does not say how long', { kind: 'rate_limit' }, 'rate_limited'],
    ['fails', { kind: 'status', status: 500 }, 'slack_error'],
    ['is in an incident', { kind: 'html', status: 503 }, 'slack_error'],
    ['answers with a page', { kind: 'html' }, 'slack_error'],
    ['breaks connections', { kind: 'reset' }, 'slack_error'],
    ['has an internal error', { kind: 'error', error: 'internal_error' }, 'slack_error'],
    ['says what nobody knows', { kind: 'error', error: 'never_heard_of' }, 'slack_error'],
    ['has revoked the token', { kind: 'error', error: 'token_revoked' }, 'credential'],
    ['wants another scope', { kind: 'error', error: 'missing_scope' }, 'scope'],
  ])('because it %s lets no request pass, within two seconds', async (_, fault, reason) => {
    const { clock, slack, timers, check } = oneMachine()
    slack.break(fault)
    const started = clock.now()
    let decidedAt: number | undefined
    const result = check().finally(() => (decidedAt = clock.now()))
    await timers.pass({ seconds: 10 })
    expect(await result).toEqual(undecidable(reason))
    expect((decidedAt ?? Infinity) - started).toBeLessThanOrEqual(2000)
    expect(slack.calls().length).toBeLessThanOrEqual(3)
  })

  test('is called up to three times, and a user who exists passes if the last succeeds', async () => {
    const { slack, timers, check } = oneMachine()
    slack.break({ kind: 'status', status: 502, method: 'users.info', times: 2 })
    const result = check()
    await timers.pass({ seconds: 1 })
    expect(await result).toEqual({ ok: true, source: 'slack' })
    expect(slack.calls('users.info')).toHaveLength(3)
  })

  test('is called again after Retry-After if there is time, else the result says when to retry', async () => {
    const { slack, timers, check } = oneMachine()
    slack.break({ kind: 'rate_limit', retryAfter: 1, method: 'users.info', times: 1 })
    const fits = check()
    await timers.pass({ ms: 1100 })
    expect(await fits).toEqual({ ok: true, source: 'slack' })

    slack.break({ kind: 'rate_limit', retryAfter: 5, method: 'users.info', times: 1 })
    const late = await check({ ...ids, user: 'U101' })
    expect(late).toEqual({
      ok: false,
      kind: 'undecidable',
      reason: 'rate_limited',
      retryAfterSeconds: 5,
    })
    const acknowledged = check({ ...ids, user: 'U102' }, 10_000)
    await timers.pass({ seconds: 6 })
    expect(await acknowledged).toEqual({ ok: true, source: 'slack' })
  })

  test('is not called again with a rate-limited method before the Retry-After has passed', async () => {
    const { slack, timers, check } = oneMachine()
    await check()
    slack.break({ kind: 'rate_limit', retryAfter: 30, method: 'users.info', times: 1 })
    await check({ ...ids, user: 'U101' })
    const asked = slack.calls('users.info').length
    expect(await check({ ...ids, user: 'U102' })).toEqual(undecidable('rate_limited'))
    expect(await check()).toEqual({ ok: true, source: 'cache' })
    expect(slack.calls('users.info')).toHaveLength(asked)
    await timers.pass({ seconds: 30 })
    expect(await check({ ...ids, user: 'U102' })).toMatchObject({ ok: true })
  })

  test('is not called after ten failures, until a single probe succeeds', async () => {
    const { slack, timers, check } = oneMachine()
    await check()
    slack.break({ kind: 'status', status: 503 })
    const first = users.slice(1, 6).map(async ({ id }) => check({ ...ids, user: id }))
    await timers.pass({ seconds: 2 })
    await Promise.all(first)
    const asked = slack.calls().length
    expect(await check({ ...ids, user: 'U110' })).toEqual(undecidable('circuit'))
    expect(slack.calls()).toHaveLength(asked)
    slack.repair()
    await timers.pass({ seconds: 5 })
    const after = ['U111', 'U112'].map(async (user) => check({ ...ids, user }))
    expect(await Promise.all(after)).toContainEqual({ ok: true, source: 'slack' })
    expect(await check({ ...ids, user: 'U113' })).toMatchObject({ ok: true })
  })

  test('and responds too late still serves the next delivery of the same event', async () => {
    const { slack, timers, check } = oneMachine()
    slack.break({ kind: 'slow', ms: 2500, method: 'users.info' })
    const first = check()
    await timers.pass({ seconds: 2 })
    expect(await first).toEqual(undecidable('timeout'))
    const asked = slack.calls('users.info').length
    await timers.pass({ seconds: 1 })
    expect(await check()).toMatchObject({ ok: true })
    expect(slack.calls('users.info')).toHaveLength(asked)
  })

  test.each(['auth.test', 'users.info', 'conversations.info'])(
    'and hangs once for %s is called again in parallel, and the request passes in time',
    async (method) => {
      const { clock, slack, timers, check } = oneMachine()
      slack.break({ kind: 'hang', method, times: 1 })
      const started = clock.now()
      let decidedAt = Infinity
      const result = check().finally(() => (decidedAt = clock.now()))
      await timers.pass({ seconds: 2 })
      expect(await result).toEqual({ ok: true, source: 'slack' })
      expect(decidedAt - started).toBeLessThan(1000)
      expect(slack.calls(method)).toHaveLength(2)
    },
  )

  test('and hangs for a moment refuses a workspace for three seconds at most, not for ten', async () => {
    const { slack, timers, check } = oneMachine()
    slack.break({ kind: 'hang', method: 'auth.test' })
    const first = check()
    await timers.pass({ seconds: 2 })
    expect(await first).toEqual(undecidable('timeout'))
    slack.repair()
    const next = check({ ...ids, user: 'U101' })
    await timers.pass({ ms: 1_200 })
    expect(await next).toEqual({ ok: true, source: 'slack' })
  })

  test('and is slow uses no calls for second attempts that are reserved for known ids', async () => {
    const { slack, timers, check } = oneMachine()
    await check()
    slack.break({ kind: 'slow', ms: 800, method: 'users.info' })
    const slow = users.slice(1).map(async ({ id }) => check({ ...ids, user: id }))
    await timers.pass({ seconds: 2 })
    expect((await Promise.all(slow)).filter(({ ok }) => ok)).toHaveLength(19)
    // Half of 80 % of 100 calls a minute.
    expect(slack.calls('users.info').length).toBeLessThanOrEqual(40)
    slack.repair()
    await timers.pass({ seconds: 1 })
    expect(await check({ ...ids, user: 'U101' })).toMatchObject({ ok: true })
  })

  test('says which scopes the token lacks, and only names that are scopes', async () => {
    const { clock, machine, slack } = createTestCheckers([
      { ...team, scopes: ['team:read', 'channels:read'] },
    ])
    const asked = { deadline: clock.now() + 2000, channelPolicy: 'strict' } as const
    expect(await machine().check(ids, asked)).toEqual({
      ok: false,
      kind: 'undecidable',
      reason: 'scope',
      missingScopes: ['users:read'],
    })
    const needed = 'groups:read, im:read,<script>,xoxb-1'
    const odd = machine({
      fetch: async (url, init) =>
        url.endsWith('users.info')
          ? Response.json({ ok: false, error: 'missing_scope', needed })
          : slack.fetch(url, init),
    })
    expect(await odd.check(ids, asked)).toMatchObject({ missingScopes: ['groups:read', 'im:read'] })
  })
})

test('a rate limit is recognised by the status of a real response', async () => {
  const slack = createFakeSlack({ teams: [team] })
  const server = await serveFakeSlack(slack, 0)
  const checker = createExistenceChecker({
    tokenOf: async () => team.token,
    slackApiUrl: server.url,
  })
  const asked = () => ({ deadline: Date.now() + 2000, channelPolicy: 'strict' }) as const
  try {
    expect(await checker.check(ids, asked())).toEqual({ ok: true, source: 'slack' })
    slack.break({ kind: 'rate_limit', retryAfter: 30 })
    expect(await checker.check({ ...ids, user: 'U101' }, asked())).toEqual({
      ok: false,
      kind: 'undecidable',
      reason: 'rate_limited',
      retryAfterSeconds: 30,
    })
    slack.repair()
    slack.break({ kind: 'html', status: 503 })
    expect(await checker.check({ ...ids, channel: 'C101' }, asked())).toEqual(
      undecidable('slack_error'),
    )
  } finally {
    await server.close()
  }
})

test('a redirect is a failure, and the token is not sent to its target', async () => {
  const paths: unknown[] = []
  const server = createServer((req, res) => {
    paths.push(req.url)
    res.writeHead(307, { location: '/elsewhere' }).end()
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const checker = createExistenceChecker({
    tokenOf: async () => team.token,
    slackApiUrl: `http://127.0.0.1:${port}/api`,
  })
  const asked = { deadline: Date.now() + 2000, channelPolicy: 'strict' } as const
  expect(await checker.check(ids, asked)).toEqual(undecidable('slack_error'))
  expect(new Set(paths)).toEqual(new Set(['/api/auth.test']))
  server.closeAllConnections()
  await new Promise((resolve) => void server.close(resolve))
})

test('a channel that cannot be looked up now does not count as invisible', async () => {
  const { clock, machine, slack, timers } = createTestCheckers([team])
  slack.break({ kind: 'status', status: 503, method: 'conversations.info' })
  const asked = { deadline: clock.now() + 2000, channelPolicy: 'if-visible' } as const
  const result = machine().check(ids, asked)
  await timers.pass({ seconds: 2 })
  expect(await result).toEqual(undecidable('slack_error'))
})

test('an endless response is a failure, and is not kept in memory', async () => {
  const { clock, machine } = createTestCheckers([team])
  let given = 0
  const endless = new ReadableStream({
    pull(controller) {
      given += 1
      if (given > 100) controller.error(new Error('Nobody stops'))
      else controller.enqueue(new Uint8Array(64 * 1024).fill(0x20))
    },
  })
  const checker = machine({ fetch: async () => new Response(endless) })
  const asked = { deadline: clock.now() + 50, channelPolicy: 'strict' } as const
  expect(await checker.check(ids, asked)).toEqual(undecidable('slack_error'))
  expect(given).toBeLessThan(20)
})

test('a store that fails or hangs while the token is read makes a request undecidable by the deadline', async () => {
  const { clock, machine, timers } = createTestCheckers([team])
  const asked = { deadline: clock.now() + 2000, channelPolicy: 'strict' } as const
  const failing = machine({ tokenOf: async () => Promise.reject(new Error('down')) })
  expect(await failing.check(ids, asked)).toEqual(undecidable('store'))
  expect(await failing.checkUninstalled({ team: 'T1' }, asked)).toEqual(undecidable('store'))
  const hanging = machine({ tokenOf: async () => new Promise<never>(() => {}) })
  const result = hanging.check(ids, asked)
  await timers.pass({ seconds: 2 })
  expect(await result).toEqual(undecidable('store'))
})
