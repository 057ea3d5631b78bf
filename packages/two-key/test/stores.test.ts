import type { Item } from '@strongroom/kit/db'
import { randomToken } from '@strongroom/kit/ids'
import { testStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { appKeys } from '../src/keys.ts'
import { createStores } from '../src/stores.ts'
import { TripleItem } from '../src/existence/triple-store.ts'
import { EventItem } from '../src/requests/event-store.ts'
import { TokenItem } from '../src/tokens/store.ts'
import { newEvent, newIds, openTwoKeyStore } from './support/open-store.ts'

const notIds = ['', 'T', 't01234567', 'T0123#567', 'T0123:567', 'T 1234567', 'Т01234567', 'T1\n']

describe('keys', () => {
  test.each(notIds)('are never built from "%s", which is not a Slack id', (wrong) => {
    const keys = appKeys()
    const ids = { team: 'T01234567', user: 'U01234567', channel: 'C01234567' }
    for (const part of ['team', 'user', 'channel']) {
      expect(() => keys.cacheKey({ ...ids, [part]: wrong })).toThrow(
        `Cannot build cache_key: the ${part} is not`,
      )
    }
    expect(() => keys.teamKey(wrong)).toThrow('Cannot build team_id')
  })

  test('are built from ids of 2 to 32 capitals and digits', () => {
    const [shortest, longest] = ['T1', 'T'.repeat(32)]
    expect(appKeys().teamKey(shortest)).toEqual({ team_id: shortest })
    expect(appKeys().teamKey(longest)).toEqual({ team_id: longest })
    expect(() => appKeys().teamKey(`${longest}T`)).toThrow('is not a Slack id')
  })

  test.each(['', 'deploy-bot:Ev1', 'Ev#1', 'E'.repeat(65)])(
    'are never built from "%s", which is not an event id',
    (wrong) => {
      expect(() => appKeys().eventKey(wrong)).toThrow('Cannot build event_id')
    },
  )

  test.each(['', 'Deploy', 'a:b', 'a#b', '-a', 'a'.repeat(33)])(
    'are never prefixed with "%s", which is not an app name',
    (app) => {
      expect(() => appKeys(app)).toThrow(TypeError)
    },
  )

  test('of one app never equal those of another', () => {
    const first = appKeys().cacheKey({ team: 'AA', user: 'BB', channel: 'CC' })
    const second = appKeys('aa').cacheKey({ team: 'AA', user: 'BB', channel: 'CC' })
    expect(first).toEqual({ cache_key: 'AA#BB#CC' })
    expect(second).toEqual({ cache_key: 'aa:AA#BB#CC' })
    expect(() => appKeys().teamKey('aa:AA')).toThrow('is not a Slack id')
  })

  test('do not repeat the invalid id in the error', () => {
    expect(() => appKeys().teamKey('xoxb-secret')).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('xoxb') }),
    )
  })
})

describe('items', () => {
  const at = 4_102_444_800
  const wrong = (result: { error?: { issues: { path: PropertyKey[] }[] } | undefined }) =>
    result.error?.issues.map(({ path }) => path.join('.'))

  test.each([
    ['cache_key', 'T1#U1'],
    ['cache_key', 'T1#U1#'],
    ['cache_key', 'T1#U1#C1#X1'],
    ['cache_key', 't1#U1#C1'],
    ['cache_key', 'Deploy:T1#U1#C1'],
    ['ttl', 0],
    ['ttl', -1],
    ['ttl', at + 0.5],
    ['ttl', String(at)],
    ['verified_at', '2100-01-01'],
    ['mac', new Uint8Array(31)],
  ])('of the cache with an invalid %s are rejected: %s', (attribute, value) => {
    const item = { cache_key: 'T1#U1#C1', ttl: at, [attribute]: value }
    expect(wrong(TripleItem.safeParse(item))).toEqual([attribute])
  })

  test.each([
    ['team_id', 'T1#U1'],
    ['bot_token', 'xoxb-in-clear'],
    ['bot_token', new Uint8Array(0)],
    ['installation_timestamp', 'yesterday'],
  ])('of tokens with an invalid %s are rejected: %s', (attribute, value) => {
    const item = {
      team_id: 'T1',
      bot_token: new Uint8Array(1),
      installation_timestamp: at,
      [attribute]: value,
    }
    expect(wrong(TokenItem.safeParse(item))).toEqual([attribute])
  })

  test('of events are either claimed or processed', () => {
    const item = { event_id: 'Ev1', ttl: at }
    const claimed_by = randomToken(16)
    expect(wrong(EventItem.safeParse(item))).toEqual(['processed_at'])
    expect(wrong(EventItem.safeParse({ ...item, claimed_by, processed_at: at }))).toEqual([
      'processed_at',
    ])
    expect(wrong(EventItem.safeParse({ ...item, claimed_by: 'short' }))).toEqual(['claimed_by'])
  })
})

describe.each(testStores())('an invalid item on $name', (store) => {
  const { clock, opened, now } = openTwoKeyStore(store)

  test('is rejected before it is stored, with the name of the attribute', async () => {
    const { team } = newIds()
    const empty = opened.tokens.put(team, new Uint8Array(0))
    await expect(empty).rejects.toMatchObject({
      name: 'ItemMismatch',
      table: 'slack-workspace-tokens',
      attributes: ['bot_token'],
    })
    expect(await opened.tokens.get(team)).toBeUndefined()
    const ids = newIds()
    const badMac = opened.cache.put(ids, { mac: () => new Uint8Array(3) })
    await expect(badMac).rejects.toMatchObject({ name: 'ItemMismatch', attributes: ['mac'] })
    expect(await opened.cache.get(ids)).toBeUndefined()
    const event = newEvent()
    await expect(opened.events.claim(event, 'short')).rejects.toMatchObject({
      name: 'ItemMismatch',
      attributes: ['claimed_by'],
    })
  })

  test('is never read: an id that is not a Slack id reaches no store', async () => {
    const unused = new Proxy({} as typeof opened.db, {
      get() {
        throw new Error('The store was called')
      },
    })
    const { cache, tokens, events } = createStores({ db: unused, clock })
    const ids = newIds()
    const invalid = { name: 'TypeError', message: expect.stringMatching(/^Cannot build/) }
    await expect(cache.get({ ...ids, user: 'u#1' })).rejects.toMatchObject(invalid)
    await expect(cache.put({ ...ids, channel: '' })).rejects.toMatchObject(invalid)
    await expect(tokens.get('T1#')).rejects.toMatchObject(invalid)
    await expect(tokens.put('T1#', new Uint8Array(1))).rejects.toMatchObject(invalid)
    await expect(tokens.delete('T1#')).rejects.toMatchObject(invalid)
    await expect(events.claim('a:b', randomToken(16))).rejects.toMatchObject(invalid)
    await expect(events.confirm('a:b')).rejects.toMatchObject(invalid)
    await expect(events.release('a:b', randomToken(16))).rejects.toMatchObject(invalid)
  })

  test('is an error when it is read, which names table and key but never the content', async () => {
    const { team, user, channel } = newIds()
    const event = newEvent()
    const cache_key = `${team}#${user}#${channel}`
    const items: [table: string, item: Item][] = [
      ['slack-existence-check-cache', { cache_key, ttl: now() + 300, result: 'xoxb-secret' }],
      ['slack-workspace-tokens', { team_id: team, bot_token: 'xoxb-secret' }],
      ['slack-event-dedupe', { event_id: event, ttl: now() + 300, note: 'xoxb-secret' }],
    ]
    for (const [TableName, item] of items) await opened.db.putItem({ TableName, Item: item })
    const outcomes = await Promise.allSettled([
      opened.cache.get({ team, user, channel }),
      opened.tokens.get(team),
      opened.events.claim(event, randomToken(16)),
    ])
    const keys = [{ cache_key }, { team_id: team }, { event_id: event }]
    outcomes.forEach((outcome, each) => {
      expect(outcome).toMatchObject({
        reason: { name: 'ItemMismatch', table: items[each]?.[0], key: keys[each] },
      })
      const { reason } = outcome as { reason?: unknown }
      expect(String(reason) + JSON.stringify(reason)).not.toContain('xoxb-secret')
    })
  })
})
