import { everyStore } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { newIds, openTwoKeyStore, rawItem } from '../support/open-store.ts'

const TABLE = 'slack-existence-check-cache'

describe.each(everyStore())('the existence check cache on $name', (store) => {
  const { clock, opened, now } = openTwoKeyStore(store)
  const raw = (cache_key: string) => rawItem(opened.db, TABLE, { cache_key })

  test('stores a verified triple attribute for attribute as the specification shows', async () => {
    const ids = { team: 'T01234567', user: 'U01234567', channel: 'C01234567' }
    await opened.cache.put(ids)
    expect(await raw('T01234567#U01234567#C01234567')).toEqual({
      cache_key: 'T01234567#U01234567#C01234567',
      ttl: now() + 300,
      verified_at: now(),
    })
  })

  test('returns an entry for less than 300 seconds, and not in the second in which it expires', async () => {
    const ids = newIds()
    const entry = await opened.cache.put(ids)
    expect(entry.ttl).toBe(now() + 300)
    expect(entry.ttl).toBeGreaterThan(now())
    clock.advance({ seconds: 299 })
    expect(await opened.cache.get(ids)).toEqual(entry)
    clock.advance({ seconds: 1 })
    expect(await opened.cache.get(ids)).toBeUndefined()
    expect(await raw(entry.cache_key)).toEqual(entry)
  })

  test('returns nothing for a triple that was never verified, nor for its ids in another triple', async () => {
    const [ids, others] = [newIds(), newIds()]
    await opened.cache.put(ids)
    await opened.cache.put(others)
    expect(await opened.cache.get(newIds())).toBeUndefined()
    expect(await opened.cache.get({ ...ids, user: others.user })).toBeUndefined()
    expect(await opened.cache.get({ ...ids, channel: others.channel })).toBeUndefined()
    expect(await opened.cache.get({ ...ids, team: others.team })).toBeUndefined()
  })

  test('restarts the five minutes when a triple is verified again', async () => {
    const ids = newIds()
    await opened.cache.put(ids)
    clock.advance({ seconds: 250 })
    const entry = await opened.cache.put(ids)
    clock.advance({ seconds: 250 })
    expect(await opened.cache.get(ids)).toEqual(entry)
  })

  test('twenty simultaneous writes of one triple leave one entry, and all succeed', async () => {
    const ids = newIds()
    const entries = await Promise.all(Array.from({ length: 20 }, () => opened.cache.put(ids)))
    expect(await opened.cache.get(ids)).toEqual(entries[0])
  })

  test('accepts an entry without verified_at', async () => {
    const ids = newIds()
    const cache_key = `${ids.team}#${ids.user}#${ids.channel}`
    await opened.db.putItem({ TableName: TABLE, Item: { cache_key, ttl: now() + 5 } })
    expect(await opened.cache.get(ids)).toEqual({ cache_key, ttl: now() + 5 })
  })

  test('separates the entries of other apps by a prefix', async () => {
    const ids = newIds()
    const entry = await opened.otherApp.cache.put(ids)
    expect(entry.cache_key).toBe(`deploy-bot:${ids.team}#${ids.user}#${ids.channel}`)
    expect(await raw(entry.cache_key)).toEqual(entry)
    expect(await opened.cache.get(ids)).toBeUndefined()
    expect(await opened.otherApp.cache.get(ids)).toEqual(entry)
  })

  test('stores a MAC of the entry if requested', async () => {
    const ids = newIds()
    const mac = new Uint8Array(32).fill(5)
    let signed: unknown
    const entry = await opened.cache.put(ids, {
      mac(unsigned) {
        signed = unsigned
        return mac
      },
    })
    expect(signed).toEqual({ cache_key: entry.cache_key, ttl: now() + 300, verified_at: now() })
    expect(await raw(entry.cache_key)).toEqual({ ...(signed as object), mac })
    expect(await opened.cache.get(ids)).toEqual(entry)
  })

  test('the longest ids make a key of 98 characters and an item far below 1 KB', async () => {
    const ids = {
      team: 'T'.padEnd(32, '0'),
      user: 'U'.padEnd(32, '0'),
      channel: 'C'.padEnd(32, '0'),
    }
    const entry = await opened.cache.put(ids, { mac: () => new Uint8Array(32) })
    expect(entry.cache_key).toHaveLength(98)
    expect(JSON.stringify(await raw(entry.cache_key)).length).toBeLessThan(1024)
    expect(await opened.cache.get(ids)).toEqual(entry)
  })
})
