import type { Db } from '@strongroom/kit/db'
import { testStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import type { RunningChecker } from '../../src/existence/checker.ts'
import type { SlackIds } from '../../src/slack-ids.ts'
import { createStores } from '../../src/stores.ts'
import { rawItem } from '../support/open-store.ts'
import { newTeam, openDb, refused, createTestCheckers, storesOf } from '../support/test-checkers.ts'

const TABLE = 'slack-existence-check-cache'

describe.each(testStores())('the cache of key two on $name', (store) => {
  const opened = openDb(store)

  function oneTeam() {
    const { ids, team } = newTeam()
    const made = createTestCheckers([team])
    const { cache } = storesOf(opened.db, made.clock)
    const check = async (checker: RunningChecker, of: SlackIds = ids) => {
      const result = await checker.check(of, {
        deadline: made.clock.now() + 2000,
        channelPolicy: 'strict',
      })
      await checker.idle()
      return result
    }
    const key = { cache_key: `${ids.team}#${ids.user}#${ids.channel}` }
    return { ...made, ids, cache, check, key, raw: () => rawItem(opened.db, TABLE, key) }
  }

  test('stores the specification’s item, attribute for attribute, once all three ids are verified', async () => {
    const { clock, machine, cache, check, key, raw } = oneTeam()
    expect(await check(machine({ cache }))).toEqual({ ok: true, source: 'slack' })
    const now = Math.floor(clock.now() / 1000)
    expect(await raw()).toEqual({ ...key, ttl: now + 300, verified_at: now })
  })

  test('has entries that every machine reads and that expire after exactly 300 seconds', async () => {
    const { clock, slack, machine, cache, check } = oneTeam()
    await check(machine({ cache }))
    const asked = slack.calls().length
    clock.advance({ seconds: 299 })
    expect(await check(machine({ cache }))).toEqual({ ok: true, source: 'cache' })
    expect(slack.calls()).toHaveLength(asked)
    clock.advance({ seconds: 1 })
    expect(await check(machine({ cache }))).toEqual({ ok: true, source: 'slack' })
    expect(slack.calls()).toHaveLength(2 * asked)
  })

  test('starts the five minutes with the oldest of Slack’s responses', async () => {
    const { ids, team } = newTeam()
    const other = newTeam().ids.channel
    const { clock, machine } = createTestCheckers([
      { ...team, channels: [...team.channels, { id: other }] },
    ])
    const checker = machine({ cache: storesOf(opened.db, clock).cache })
    const ask = async (channel: string) =>
      checker.check({ ...ids, channel }, { deadline: clock.now() + 2000, channelPolicy: 'strict' })
    const start = Math.floor(clock.now() / 1000)
    await ask(ids.channel)
    clock.advance({ seconds: 100 })
    await ask(other)
    await checker.idle()
    const cache_key = `${ids.team}#${ids.user}#${other}`
    const entry = { cache_key, ttl: start + 300, verified_at: start }
    expect(await rawItem(opened.db, TABLE, { cache_key })).toEqual(entry)
  })

  test('has no entry for ids that are absent, do not belong together, are invisible or were not looked up', async () => {
    const { ids, clock, machine, cache, check, raw } = oneTeam()
    const stranger = newTeam().ids
    const checker = machine({ cache })
    expect(await check(checker, { ...ids, user: stranger.user })).toEqual(refused('user'))
    expect(await check(checker, { ...ids, channel: stranger.channel })).toEqual(refused('channel'))
    const deadline = clock.now() + 2000
    const hidden = { ...ids, channel: stranger.channel }
    const unseen = await checker.check(hidden, { deadline, channelPolicy: 'if-visible' })
    expect(unseen).toMatchObject({ ok: true, channelUnseen: true })
    await checker.check(ids, { deadline, channelPolicy: 'skip' })
    await checker.check({ team: ids.team, user: ids.user }, { deadline, channelPolicy: 'strict' })
    await checker.idle()
    expect(await raw()).toBeUndefined()
    const { Items = [] } = await opened.db.scan({ TableName: TABLE })
    expect(Items.filter(({ cache_key }) => String(cache_key).startsWith(ids.team))).toEqual([])
  })

  test('has no entry for a bot, because an entry of the table verifies a user', async () => {
    const { ids, team } = newTeam({ bots: [{ id: 'B1' }] })
    const { clock, machine } = createTestCheckers([team])
    const { cache } = storesOf(opened.db, clock)
    const asked = { deadline: clock.now() + 2000, channelPolicy: 'strict' } as const
    const one = machine({ cache })
    const of = { team: ids.team, channel: ids.channel }
    expect(await one.check({ ...of, bot: 'B1' }, asked)).toMatchObject({ ok: true })
    await one.idle()
    expect(await machine({ cache }).check({ ...of, user: 'B1' }, asked)).toEqual(refused('user'))
  })

  test('is not used for longer than five minutes, whatever the ttl says', async () => {
    const { clock, machine, cache, check, key, slack } = oneTeam()
    const now = Math.floor(clock.now() / 1000)
    for (const ahead of [301, 86_400]) {
      await opened.db.putItem({ TableName: TABLE, Item: { ...key, ttl: now + ahead } })
      const asked = slack.calls().length
      expect(await check(machine({ cache }))).toEqual({ ok: true, source: 'slack' })
      expect(slack.calls().length).toBeGreaterThan(asked)
    }
  })

  test('has one entry when machines verify the same triple concurrently, and all requests pass', async () => {
    const { machine, cache, check, raw } = oneTeam()
    const machines = Array.from({ length: 10 }, () => machine({ cache }))
    const results = await Promise.all(machines.map(async (checker) => check(checker)))
    expect(results.every(({ ok }) => ok)).toBe(true)
    expect(await raw()).toBeDefined()
  })

  test('of one app is not used for another', async () => {
    const { clock, slack, machine, cache, check } = oneTeam()
    await check(machine({ cache }))
    const asked = slack.calls().length
    const other = createStores({ db: opened.db, clock, app: 'other' }).cache
    expect(await check(machine({ cache: other }))).toEqual({ ok: true, source: 'slack' })
    expect(slack.calls().length).toBeGreaterThan(asked)
  })

  test('is not written if the entry would expire within the second', async () => {
    const { clock, machine, cache, ids, raw, check } = oneTeam()
    const checker = machine({ cache })
    const asked = { deadline: clock.now() + 600_000, channelPolicy: 'strict' } as const
    clock.advance({ ms: 900 })
    expect(await checker.check({ team: ids.team, user: ids.user }, asked)).toMatchObject({
      ok: true,
    })
    clock.advance({ ms: 299_500 })
    expect(await check(checker)).toMatchObject({ ok: true })
    await checker.idle()
    expect(await raw()).toBeUndefined()
  })

  test('has entries with a MAC if configured, and ignores entries without a valid one', async () => {
    const { clock, machine, cache, check, key, raw } = oneTeam()
    const withMac = { cache, cacheMac: true }
    await check(machine(withMac))
    const entry = await raw()
    expect(entry?.['mac']).toBeInstanceOf(Uint8Array)
    expect(await check(machine(withMac))).toEqual({ ok: true, source: 'cache' })

    const put = async (Item: Parameters<Db['putItem']>[0]['Item']) =>
      opened.db.putItem({ TableName: TABLE, Item })
    const ttl = Math.floor(clock.now() / 1000) + 200
    for (const forged of [
      { ...key, ttl },
      { ...key, ttl, mac: new Uint8Array(32) },
      { ...entry, ...key, ttl: ttl + 50 },
    ]) {
      await put(forged)
      expect(await check(machine(withMac))).toEqual({ ok: true, source: 'slack' })
    }
    await put(entry ?? key)
    const rotated = { ...withMac, tokenOf: async () => 'xoxb-of-nobody' }
    expect(await check(machine(rotated))).toMatchObject({ ok: false, reason: 'credential' })
  })
})

describe('a cache that fails', () => {
  const { ids, team } = newTeam()
  const failing = {
    get: async () => Promise.reject(new Error('The store is down')),
    put: async () => Promise.reject(new Error('The store is down')),
  }
  const hanging = { get: async () => new Promise<never>(() => {}), put: failing.put }

  test('is a miss, and an existing user passes by calling Slack', async () => {
    const { clock, machine } = createTestCheckers([team])
    const checker = machine({ cache: failing })
    const asked = { deadline: clock.now() + 2000, channelPolicy: 'strict' } as const
    expect(await checker.check(ids, asked)).toEqual({ ok: true, source: 'slack' })
    await checker.idle()
  })

  test('never lets an absent user pass, and no user while Slack is down', async () => {
    const { clock, machine, slack, timers } = createTestCheckers([team])
    const checker = machine({ cache: failing })
    const asked = { deadline: clock.now() + 2000, channelPolicy: 'strict' } as const
    expect(await checker.check({ ...ids, user: 'U404' }, asked)).toEqual(refused('user'))
    slack.break({ kind: 'hang' })
    const result = machine({ cache: failing }).check(ids, asked)
    await timers.pass({ seconds: 2 })
    expect(await result).toMatchObject({ ok: false, reason: 'timeout' })
  })

  test('or hangs delays a request by at most 300 milliseconds', async () => {
    const { clock, machine, timers } = createTestCheckers([team])
    const result = machine({ cache: hanging }).check(ids, {
      deadline: clock.now() + 2000,
      channelPolicy: 'strict',
    })
    await timers.pass({ ms: 300 })
    expect(await result).toEqual({ ok: true, source: 'slack' })
  })

  test('or hangs while known ids are read leaves time to call Slack', async () => {
    const { clock, machine, timers } = createTestCheckers([team])
    const knownStore = { load: hanging.get, save: failing.put }
    const result = machine({ knownStore }).check(ids, {
      deadline: clock.now() + 2000,
      channelPolicy: 'strict',
    })
    await timers.pass({ seconds: 1 })
    expect(await result).toEqual({ ok: true, source: 'slack' })
  })
})
