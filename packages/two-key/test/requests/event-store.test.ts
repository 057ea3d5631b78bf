import { randomToken } from '@strongroom/kit/ids'
import { retryingDb } from '@strongroom/kit/retrying-db'
import { everyStore } from '@strongroom/kit/testing/stores'
import { hostileDb } from '@strongroom/kit/testing/hostile-db'
import { describe, expect, test } from 'vitest'
import { createStores } from '../../src/stores.ts'
import { newEvent, openTwoKeyStore, rawItem } from '../support/open-store.ts'

const claimant = () => randomToken(16)

describe.each(everyStore())('deduplication of events on $name', (store) => {
  const { clock, opened, now } = openTwoKeyStore(store)
  const raw = (event_id: string) => rawItem(opened.db, 'slack-event-dedupe', { event_id })

  test('stores a claim for 30 seconds and a confirmed event for 24 hours', async () => {
    const event = newEvent()
    const worker = claimant()
    expect(await opened.events.claim(event, worker)).toBe('claimed')
    expect(await raw(event)).toEqual({ event_id: event, ttl: now() + 30, claimed_by: worker })
    clock.advance({ seconds: 2 })
    await opened.events.confirm(event)
    expect(await raw(event)).toEqual({
      event_id: event,
      ttl: now() + 86_400,
      processed_at: now(),
    })
  })

  test('of twenty concurrent claims of an event exactly one is granted, in every round', async () => {
    for (let round = 0; round < 5; round++) {
      const event = newEvent()
      const claims = Array.from({ length: 20 }, () => opened.events.claim(event, claimant()))
      const outcomes = await Promise.all(claims)
      expect(outcomes.filter((outcome) => outcome === 'claimed')).toHaveLength(1)
      expect(outcomes.filter((outcome) => outcome === 'in_progress')).toHaveLength(19)
    }
  })

  test('distinguishes an event in delivery from a delivered one', async () => {
    const event = newEvent()
    await opened.events.claim(event, claimant())
    expect(await opened.events.claim(event, claimant())).toBe('in_progress')
    await opened.events.confirm(event)
    expect(await opened.events.claim(event, claimant())).toBe('processed')
  })

  test('a claim expires after 30 seconds, although its item still exists', async () => {
    const event = newEvent()
    await opened.events.claim(event, claimant())
    clock.advance({ seconds: 29 })
    expect(await opened.events.claim(event, claimant())).toBe('in_progress')
    clock.advance({ seconds: 1 })
    expect(await opened.events.claim(event, claimant())).toBe('claimed')
  })

  test('of twenty concurrent claims of an event with an expired claim exactly one is granted', async () => {
    const event = newEvent()
    await opened.events.claim(event, claimant())
    clock.advance({ seconds: 30 })
    const claims = Array.from({ length: 20 }, () => opened.events.claim(event, claimant()))
    const granted = (await Promise.all(claims)).filter((outcome) => outcome === 'claimed')
    expect(granted).toHaveLength(1)
  })

  test('a processed event is stored for 24 hours', async () => {
    const event = newEvent()
    await opened.events.claim(event, claimant())
    await opened.events.confirm(event)
    clock.advance({ seconds: 86_399 })
    expect(await opened.events.claim(event, claimant())).toBe('processed')
    clock.advance({ seconds: 1 })
    expect(await opened.events.claim(event, claimant())).toBe('claimed')
  })

  test('a released event can be claimed immediately', async () => {
    const event = newEvent()
    const worker = claimant()
    await opened.events.claim(event, worker)
    await opened.events.release(event, worker)
    expect(await raw(event)).toBeUndefined()
    expect(await opened.events.claim(event, claimant())).toBe('claimed')
  })

  test('only the claimant can release a claim, and a processed event is never released', async () => {
    const event = newEvent()
    const worker = claimant()
    await opened.events.claim(event, worker)
    await opened.events.release(event, claimant())
    expect(await opened.events.claim(event, claimant())).toBe('in_progress')
    await opened.events.confirm(event)
    await opened.events.release(event, worker)
    expect(await opened.events.claim(event, claimant())).toBe('processed')
    await opened.events.release(newEvent(), worker)
  })

  test('a slow worker that delivered an event confirms it, and the next claimant cannot undo that', async () => {
    const event = newEvent()
    const [late, next] = [claimant(), claimant()]
    await opened.events.claim(event, late)
    clock.advance({ seconds: 30 })
    expect(await opened.events.claim(event, next)).toBe('claimed')
    await opened.events.confirm(event)
    await opened.events.release(event, next)
    expect(await opened.events.claim(event, claimant())).toBe('processed')
  })

  test('events of other apps are separated by a prefix', async () => {
    const event = newEvent()
    await opened.events.claim(event, claimant())
    expect(await opened.otherApp.events.claim(event, claimant())).toBe('claimed')
    expect(await raw(`deploy-bot:${event}`)).toBeDefined()
  })

  test('a claim whose response was lost is still held when it is repeated', async () => {
    const event = newEvent()
    const worker = claimant()
    const hostile = hostileDb(opened.db, { seed: 1, lostResponse: 1, throttle: 0.2 })
    const db = retryingDb(hostile, { attempts: 40, pause: async () => {} })
    const losing = createStores({ db, clock })
    const lost = 'The response was lost after the write'
    await expect(losing.events.claim(event, worker)).rejects.toThrow(lost)
    expect(await opened.events.claim(event, worker)).toBe('claimed')
    expect(await opened.events.claim(event, claimant())).toBe('in_progress')
    await expect(losing.events.confirm(event)).rejects.toThrow(lost)
    await opened.events.confirm(event)
    expect(await opened.events.claim(event, worker)).toBe('processed')
  })
})
