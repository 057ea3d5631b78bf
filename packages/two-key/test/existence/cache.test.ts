import type { Db } from '@strongroom/kit/db'
import { testStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import type { RunningChecker } from '../../src/existence/checker.ts'
import type { SlackIds } from '../../src/existence/verdict.ts'
import { createTwoKeyStore } from '../../src/store.ts'
import { rawItem } from '../open-store.ts'
import { newTeam, openDb, refused, scene, storesOf } from './scene.ts'

const TABLE = 'slack-existence-check-cache'

describe.each(testStores())('what key two keeps on $name', (store) => {
  const opened = openDb(store)

  function oneTeam() {
    const { ids, team } = newTeam()
    const made = scene([team])
    const { cache } = storesOf(opened.db, made.clock)
    const check = async (checker: RunningChecker, of: SlackIds = ids) => {
      const verdict = await checker.check(of, {
        deadline: made.clock.now() + 2000,
        channelPolicy: 'strict',
      })
      await checker.idle()
      return verdict
    }
    const key = { cache_key: `${ids.team}#${ids.user}#${ids.channel}` }
    return { ...made, ids, cache, check, key, raw: () => rawItem(opened.db, TABLE, key) }
  }

  test('is the specification’s item, attribute for attribute, once all three are verified', async () => {
    const { clock, machine, cache, check, key, raw } = oneTeam()
    expect(await check(machine({ cache }))).toEqual({ ok: true, source: 'slack' })
    const now = Math.floor(clock.now() / 1000)
    expect(await raw()).toEqual({ ...key, ttl: now + 300, verified_at: now })
  })

  test('is created, read by every machine, and expired after 300 seconds to the second', async () => {
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

  test('begins its five minutes with the oldest answer of Slack that it rests on', async () => {
    const { ids, team } = newTeam()
    const other = newTeam().ids.channel
    const { clock, machine } = scene([{ ...team, channels: [...team.channels, { id: other }] }])
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

  test('is nothing for what does not exist, does not fit, is not seen or was not asked', async () => {
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

  test('is nothing of a bot: an entry of the table vouches for a user', async () => {
    const { ids, team } = newTeam({ bots: [{ id: 'B1' }] })
    const { clock, machine } = scene([team])
    const { cache } = storesOf(opened.db, clock)
    const asked = { deadline: clock.now() + 2000, channelPolicy: 'strict' } as const
    const one = machine({ cache })
    const of = { team: ids.team, channel: ids.channel }
    expect(await one.check({ ...of, bot: 'B1' }, asked)).toMatchObject({ ok: true })
    await one.idle()
    expect(await machine({ cache }).check({ ...of, user: 'B1' }, asked)).toEqual(refused('user'))
  })

  test('is not believed for longer than five minutes, whatever its time to live says', async () => {
    const { clock, machine, cache, check, key, slack } = oneTeam()
    const now = Math.floor(clock.now() / 1000)
    for (const ahead of [301, 86_400]) {
      await opened.db.putItem({ TableName: TABLE, Item: { ...key, ttl: now + ahead } })
      const asked = slack.calls().length
      expect(await check(machine({ cache }))).toEqual({ ok: true, source: 'slack' })
      expect(slack.calls().length).toBeGreaterThan(asked)
    }
  })

  test('is one entry when machines verify the same triple at once, and all of them pass', async () => {
    const { machine, cache, check, raw } = oneTeam()
    const machines = Array.from({ length: 10 }, () => machine({ cache }))
    const verdicts = await Promise.all(machines.map(async (checker) => check(checker)))
    expect(verdicts.every(({ ok }) => ok)).toBe(true)
    expect(await raw()).toBeDefined()
  })

  test('of one app does not vouch for another', async () => {
    const { clock, slack, machine, cache, check } = oneTeam()
    await check(machine({ cache }))
    const asked = slack.calls().length
    const other = createTwoKeyStore({ db: opened.db, clock, app: 'other' }).cache
    expect(await check(machine({ cache: other }))).toEqual({ ok: true, source: 'slack' })
    expect(slack.calls().length).toBeGreaterThan(asked)
  })

  test('is not written when what it rests on ends within the second', async () => {
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

  test('carries a MAC where that is asked for, and an entry without the right one is none', async () => {
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

  test('is a miss: who exists passes by what Slack says', async () => {
    const { clock, machine } = scene([team])
    const checker = machine({ cache: failing })
    const asked = { deadline: clock.now() + 2000, channelPolicy: 'strict' } as const
    expect(await checker.check(ids, asked)).toEqual({ ok: true, source: 'slack' })
    await checker.idle()
  })

  test('is never an allow: who does not exist is refused, and with Slack down nobody passes', async () => {
    const { clock, machine, slack, timers } = scene([team])
    const checker = machine({ cache: failing })
    const asked = { deadline: clock.now() + 2000, channelPolicy: 'strict' } as const
    expect(await checker.check({ ...ids, user: 'U404' }, asked)).toEqual(refused('user'))
    slack.break({ kind: 'hang' })
    const verdict = machine({ cache: failing }).check(ids, asked)
    await timers.pass({ seconds: 2 })
    expect(await verdict).toMatchObject({ ok: false, reason: 'timeout' })
  })

  test('and does not answer is waited for no longer than Slack would take', async () => {
    const { clock, machine, timers } = scene([team])
    const verdict = machine({ cache: hanging }).check(ids, {
      deadline: clock.now() + 2000,
      channelPolicy: 'strict',
    })
    await timers.pass({ ms: 300 })
    expect(await verdict).toEqual({ ok: true, source: 'slack' })
  })

  test('and does not say who is known leaves time to ask Slack', async () => {
    const { clock, machine, timers } = scene([team])
    const knownStore = { load: hanging.get, save: failing.put }
    const verdict = machine({ knownStore }).check(ids, {
      deadline: clock.now() + 2000,
      channelPolicy: 'strict',
    })
    await timers.pass({ seconds: 1 })
    expect(await verdict).toEqual({ ok: true, source: 'slack' })
  })
})
