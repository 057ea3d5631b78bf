/**
 * Floods and outages in simulated time. SLOW=1 runs the whole flood of 1.2 million decisions; the
 * short one has fewer invented ids per second and is otherwise the same.
 */
import { type TestStore, testStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import type { ExistenceResult } from '../../src/existence/result.ts'
import type { FakeTeam } from '../../src/fake-slack/fixtures.ts'
import {
  newTeam,
  openDb,
  createTestCheckers,
  storesOf,
  undecidable,
} from '../support/test-checkers.ts'

const MINUTES = 20
const PER_SECOND = process.env['SLOW'] ? 1000 : 8
/** Each user sends a request at this interval, in seconds. */
const PACE = 7

/** The budgets, as shares of Slack's 100 and 50 calls per minute. */
const BUDGET = { 'users.info': 80, 'conversations.info': 40, 'auth.test': 80 }

function workspace() {
  const people = Array.from({ length: 50 }, (_, at) => ({ id: `UREAL${at}` }))
  const rooms = Array.from({ length: 12 }, (_, at) => ({ id: `CREAL${at}` }))
  const { team } = newTeam({ users: people, channels: rooms })
  const triples = people.map(({ id }, at) => ({
    team: team.id,
    user: id,
    channel: `CREAL${at % rooms.length}`,
  }))
  return { team: team satisfies FakeTeam, triples }
}

const [embedded] = testStores() as [TestStore]

describe('a flood of invented ids', () => {
  const opened = openDb(embedded)

  test(`of ${PER_SECOND} a second for ${MINUTES} minutes locks out none of 50 real users and stays within the budget`, async () => {
    const { team, triples } = workspace()
    const { clock, slack, machine, timers } = createTestCheckers([team], { limits: true })
    const stores = storesOf(opened.db, clock)
    let checker = machine(stores)
    const check = async (ids: (typeof triples)[number]): Promise<ExistenceResult> =>
      checker.check(ids, { deadline: clock.now() + 2000, channelPolicy: 'strict' })
    for (const ids of triples) {
      expect(await check(ids)).toMatchObject({ ok: true })
      clock.advance({ seconds: 2 })
    }
    const refusals: unknown[] = []
    const allowed: unknown[] = []
    let invented = 0
    let waiting = 0
    const checkReal = async (ids: (typeof triples)[number], second: number) => {
      waiting += 1
      const result = await check(ids)
      waiting -= 1
      if (!result.ok) refusals.push({ second, ...result })
    }
    const calls = new Map(Object.keys(BUDGET).map((method) => [method, 0]))
    let counted = slack.calls().length
    for (let second = 0; second < 60 * MINUTES; second++) {
      const flood = Array.from({ length: PER_SECOND }, async () => {
        const number = (invented++).toString(36).toUpperCase().padStart(6, '0')
        const result = await check({
          team: team.id,
          user: `UFAKE${number}`,
          channel: `CFAKE${number}`,
        })
        if (result.ok) allowed.push(result)
      })
      for (const [at, ids] of triples.entries()) {
        if ((second + at) % PACE === 0) void checkReal(ids, second)
      }
      await Promise.all(flood)
      await timers.pass({ seconds: 1 })
      if (second % 60 !== 59) continue
      await checker.maintain()
      // A restart during the flood: known ids are then loaded from the store.
      if (second === 30 * MINUTES - 1) checker = machine(stores)
      const all = slack.calls()
      for (const { method } of all.slice(counted)) {
        calls.set(method, (calls.get(method) ?? 0) + 1)
      }
      counted = all.length
    }
    for (const [method, perMinute] of Object.entries(BUDGET)) {
      expect(calls.get(method)).toBeLessThanOrEqual(perMinute * MINUTES)
    }
    await timers.pass({ seconds: 2 })
    expect(waiting).toBe(0)
    expect(refusals).toEqual([])
    expect(allowed).toEqual([])
    expect(invented).toBe(PER_SECOND * 60 * MINUTES)
  }, 1_200_000)

  test('delays a real new user for a moment only, even after an hour', async () => {
    const { team, triples } = workspace()
    const { clock, machine, slack } = createTestCheckers([team])
    const checker = machine()
    const options = () => ({ deadline: clock.now() + 2000, channelPolicy: 'strict' }) as const
    const [first, second] = triples
    if (!first || !second) throw new Error('There are people')
    await checker.check(first, options())
    for (let at = 0; at < 100; at++) {
      await checker.check({ ...first, user: `UFAKE${at}` }, options())
    }
    const calls = slack.calls('users.info').length
    const result = await checker.check(second, options())
    expect(result).toEqual(undecidable('budget'))
    expect(result).toMatchObject({ retryAfterSeconds: 60 })
    expect(slack.calls('users.info')).toHaveLength(calls)
    clock.advance({ seconds: 60 })
    expect(await checker.check(second, options())).toMatchObject({ ok: true })
  })

  test('during a restart does not lock out users who were verified half a day ago', async () => {
    const { team, triples } = workspace()
    const { clock, machine } = createTestCheckers([team])
    const stores = storesOf(opened.db, clock)
    const asked = () => ({ deadline: clock.now() + 2000, channelPolicy: 'strict' }) as const
    const people = triples.slice(0, 30)
    const before = machine(stores)
    for (const ids of people) await before.check(ids, asked())
    await before.idle()
    await before.maintain()
    clock.advance({ hours: 12 })
    const checker = machine(stores)
    for (let at = 0; at < 100; at++) {
      const ids = { team: team.id, user: `UFAKE${at}`, channel: `CFAKE${at}` }
      expect(await checker.check(ids, asked())).toMatchObject({ ok: false })
    }
    const results = await Promise.all(people.map(async (ids) => checker.check(ids, asked())))
    expect(results.every(({ ok }) => ok)).toBe(true)
    await checker.idle()
  })

  test('does not stop commands in conversations that the bot cannot see', async () => {
    const { team, triples } = workspace()
    const { clock, machine } = createTestCheckers([team])
    const checker = machine()
    const asked = () => ({ deadline: clock.now() + 2000, channelPolicy: 'if-visible' }) as const
    const [person] = triples
    if (!person) throw new Error('There are people')
    await checker.check(person, asked())
    for (let at = 0; at < 100; at++) {
      await checker.check({ ...person, user: `UFAKE${at}`, channel: `GFAKE${at}` }, asked())
    }
    const result = await checker.check({ ...person, channel: 'GPRIVATE' }, asked())
    expect(result).toMatchObject({ ok: true, channelUnseen: true })
  })

  test('of ids that are known as another kind does not use the reserved budget', async () => {
    const { team, triples } = workspace()
    const { clock, machine, slack } = createTestCheckers([team])
    const checker = machine()
    const asked = () => ({ deadline: clock.now() + 2000, channelPolicy: 'strict' }) as const
    for (const ids of triples.slice(0, 30)) await checker.check(ids, asked())
    clock.advance({ minutes: 6 })
    const before = slack.calls('conversations.info').length
    const [person] = triples
    if (!person) throw new Error('There are people')
    for (const { user } of triples.slice(0, 30)) {
      await checker.check({ ...person, channel: user }, asked())
    }
    expect(slack.calls('conversations.info').length - before).toBeLessThanOrEqual(20)
    expect(await checker.check(person, asked())).toMatchObject({ ok: true })
  })

  test('that names a real user in invented workspaces of an organisation does not use it either', async () => {
    const { team } = newTeam({
      orgWide: true,
      enterprise: 'E1',
      users: [{ id: 'U1' }, { id: 'U2' }],
    })
    const { clock, machine, slack } = createTestCheckers([team])
    const checker = machine()
    const check = async (of: string, user: string) =>
      checker.check(
        { team: of, enterprise: 'E1', user },
        { deadline: clock.now() + 2000, channelPolicy: 'strict' },
      )
    for (const user of ['U1', 'U2']) expect(await check(team.id, user)).toMatchObject({ ok: true })
    clock.advance({ minutes: 6 })
    const before = slack.calls('users.info').length
    for (let at = 0; at < 100; at++)
      expect(await check(`TFAKE${at}`, 'U1')).toMatchObject({ ok: false })
    expect(slack.calls('users.info').length - before).toBeLessThanOrEqual(40)
    expect(await check(team.id, 'U2')).toMatchObject({ ok: true })
  })

  test('does not prolong an outage for known users', async () => {
    const { team, triples } = workspace()
    const { clock, machine, slack, timers } = createTestCheckers([team])
    const checker = machine()
    const check = async ({ user }: { user: string }) =>
      checker.check(
        { team: team.id, user },
        { deadline: clock.now() + 2000, channelPolicy: 'strict' },
      )
    const invented = (at: number) => check({ user: `UFAKE${at}` })
    const [person, other] = triples
    if (!person || !other) throw new Error('There are people')
    await check(person)
    await check(other)
    clock.advance({ minutes: 6 })
    expect(await check(other)).toMatchObject({ ok: true })

    slack.break({ kind: 'reset' })
    const failing = Promise.all(Array.from({ length: 100 }, (_, at) => invented(at)))
    await timers.pass({ seconds: 2 })
    await failing
    expect(await check(person)).toEqual(undecidable('circuit'))
    slack.repair()
    clock.advance({ seconds: 5 })
    expect(await invented(100)).toEqual(undecidable('budget'))
    expect(await check(person)).toMatchObject({ ok: true })
  })
})

describe('an outage of Slack', () => {
  test.each(['hang', 'status', 'rate_limit', 'html', 'reset'] as const)(
    '(%s) lets only cached users pass, and decides within two seconds',
    async (kind) => {
      const { team, triples } = workspace()
      const { clock, machine, slack, timers } = createTestCheckers([team])
      const checker = machine()
      const check = async (ids: (typeof triples)[number]) => {
        const started = clock.now()
        const result = await checker.check(ids, {
          deadline: started + 2000,
          channelPolicy: 'strict',
        })
        return { result, took: clock.now() - started }
      }
      for (const ids of triples) {
        await check(ids)
        clock.advance({ seconds: 2 })
      }
      slack.break(kind === 'status' ? { kind, status: 503 } : { kind })
      const fresh = await Promise.all(triples.map(check))
      expect(fresh.every(({ result }) => result.ok)).toBe(true)
      await timers.pass({ seconds: 300 })

      for (let second = 0; second < 10; second++) {
        const requests = triples.map(check)
        await timers.pass({ seconds: 2 })
        for (const { result, took } of await Promise.all(requests)) {
          expect(result).toMatchObject({ ok: false, kind: 'undecidable' })
          expect(took).toBeLessThanOrEqual(2000)
        }
      }
      slack.repair()
      await timers.pass({ seconds: 60 })
      const after = await Promise.all(triples.map(check))
      expect(after.every(({ result }) => result.ok)).toBe(true)
    },
  )
})

test('a cached triple in use is refreshed before it expires, so that no request waits for Slack', async () => {
  const { team, triples } = workspace()
  const { clock, machine, slack } = createTestCheckers([team])
  const checker = machine()
  const [ids] = triples
  if (!ids) throw new Error('There are people')
  const check = async () =>
    checker.check(ids, { deadline: clock.now() + 2000, channelPolicy: 'strict' })
  await check()
  const asked: number[] = []
  for (let second = 0; second < 1200; second++) {
    expect(await check()).toEqual({ ok: true, source: 'cache' })
    await checker.idle()
    asked.push(slack.calls('users.info').length)
    clock.advance({ seconds: 1 })
  }
  expect([asked[0], asked[179], asked[240]]).toEqual([1, 1, 2])
})

test('a user whom a refresh finds deleted is refused afterwards', async () => {
  const { team, triples } = workspace()
  const { clock, machine, slack } = createTestCheckers([team])
  const checker = machine()
  const [ids] = triples
  if (!ids) throw new Error('There are people')
  const check = async () =>
    checker.check(ids, { deadline: clock.now() + 2000, channelPolicy: 'strict' })
  await check()
  slack.setTeam({ ...team, users: [] })
  clock.advance({ seconds: 240 })
  expect(await check()).toMatchObject({ ok: true })
  await checker.idle()
  expect(await check()).toMatchObject({ ok: false, reason: 'user' })
})
