import type { Db } from '@strongroom/kit/db'
import { newId } from '@strongroom/kit/ids'
import { hostileDb } from '@strongroom/kit/testing/hostile-db'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SecretBox } from '@strongroom/kit/secret-box'
import { secretBox } from '@strongroom/kit/testing/test-secrets'
import { times } from '../support/test-stores.ts'
import { type IngestBench, openIngestBench, sealSecret } from '../support/test-ingest.ts'

describe.each(serviceStores())('the source cache of ingest on $name', (store) => {
  let bench: IngestBench

  beforeAll(async () => {
    bench = await openIngestBench(store)
  })
  afterAll(() => bench.close())

  /** The store, counting how often sources are read. */
  function counting() {
    const reads = { queries: 0 }
    const on: Db = {
      ...bench.db,
      query(input) {
        reads.queries += 1
        return bench.db.query(input)
      },
    }
    return { on, reads }
  }

  test('reads a source once for many events, even concurrent ones', async () => {
    const { on, reads } = counting()
    const unsealed = { times: 0 }
    const box: SecretBox = {
      ...secretBox,
      open(sealed, place) {
        unsealed.times += 1
        return secretBox.open(sealed, place)
      },
    }
    const receiver = await bench.another({ on, secretBox: box })
    const source = await bench.source({ provider: 'github', secret: 'x' })
    await Promise.all(times(5, () => receiver.send(source.sourceId)))
    bench.clock.advance({ seconds: 59 })
    await receiver.send(source.sourceId)
    expect([reads.queries, unsealed.times]).toEqual([1, 1])
    bench.clock.advance({ seconds: 1 })
    await receiver.send(source.sourceId)
    expect([reads.queries, unsealed.times]).toEqual([2, 2])
  })

  test('is invalidated immediately by changes of this process, and after a minute for others', async () => {
    const other = await bench.another()
    const source = await bench.source()
    const { sourceId, userId } = source
    const both = async () => [
      (await bench.send(sourceId)).status,
      (await other.send(sourceId)).status,
    ]
    expect(await both()).toEqual([200, 200])
    await bench.stores.sources.update(sourceId, userId, { status: 'paused' })
    bench.ingest.invalidateSource(sourceId)
    expect(await both()).toEqual([404, 200])
    bench.clock.advance({ seconds: 60 })
    expect(await both()).toEqual([404, 404])
    await bench.stores.sources.update(sourceId, userId, { status: 'active' })
    bench.ingest.invalidateSource(sourceId)
    expect((await bench.send(sourceId)).status).toBe(200)
    bench.clock.advance({ seconds: 2 })
    expect((await other.send(sourceId)).status).toBe(200)
  })

  test('uses a new secret immediately', async () => {
    const source = await bench.source()
    const { sourceId, userId } = source
    expect((await bench.send(sourceId)).status).toBe(200)
    const signingSecret = await sealSecret(source, 'secret', bench.clock.now())
    await bench.stores.sources.update(sourceId, userId, { signingSecret })
    bench.ingest.invalidateSource(sourceId)
    expect((await bench.send(sourceId)).status).toBe(401)
  })

  test('uses a new plan immediately', async () => {
    const source = await bench.source({ plan: 'free' })
    await bench.stores.users.incrementUsage(source.userId, 5_000)
    expect((await bench.send(source.sourceId)).status).toBe(429)
    await bench.stores.users.update(source.userId, { plan: 'pro' })
    bench.ingest.invalidateUser(source.userId)
    expect((await bench.send(source.sourceId)).status).toBe(200)
    const [event] = await bench.eventsOf(source)
    expect(event?.expiresAt).toBe(Math.floor(bench.clock.now() / 1000) + 30 * 86_400)
  })

  test('does not save a read that a concurrent change made stale', async () => {
    const source = await bench.source()
    const { sourceId, userId } = source
    const waiting: (() => void)[] = []
    const on: Db = {
      ...bench.db,
      async getItem(input) {
        const answer = await bench.db.getItem(input)
        const isOwner = input.Key.SK === 'PROFILE'
        if (isOwner && waiting.length === 0) {
          await new Promise<void>((resolve) => void waiting.push(resolve))
        }
        return answer
      },
    }
    const receiver = await bench.another({ on })
    const before = receiver.send(sourceId)
    await expect.poll(() => waiting).toHaveLength(1)
    await bench.stores.sources.update(sourceId, userId, { status: 'paused' })
    receiver.ingest.invalidateSource(sourceId)
    waiting[0]?.()
    // Sent before the change, so it may be accepted or not; the next one must not be.
    await before
    expect((await receiver.send(sourceId)).status).toBe(404)
  })

  test('reads the table, not an index that may be stale', async () => {
    const source = await bench.source()
    const { sourceId, userId } = source
    const hostility = { seed: 1, staleIndex: 0 }
    const receiver = await bench.another({ on: hostileDb(bench.db, hostility) })
    expect((await receiver.send(sourceId)).status).toBe(200)
    await bench.stores.sources.delete(sourceId, userId)
    receiver.ingest.invalidateSource(sourceId)
    hostility.staleIndex = 1
    expect((await receiver.send(sourceId)).status).toBe(404)
  })

  test('caches a missing source for two seconds, and does not read malformed ids', async () => {
    const { on, reads } = counting()
    const receiver = await bench.another({ on })
    const unknown = newId('src')
    for (let sent = 0; sent < 3; sent++) await receiver.send(unknown)
    expect(reads.queries).toBe(1)
    const { userId } = await bench.source()
    const made = { sourceId: unknown, userId, name: 'Late', provider: 'custom' } as const
    await bench.stores.sources.create(made)
    expect((await receiver.send(unknown)).status).toBe(404)
    bench.clock.advance({ seconds: 2 })
    expect((await receiver.send(unknown)).status).toBe(200)
    const asked = reads.queries
    for (const id of ['src_short', newId('evt'), `${unknown}x`, 'SRC_0123456789abcdef']) {
      expect((await receiver.send(id)).status).toBe(404)
    }
    expect(reads.queries).toBe(asked)
  })

  test('does not cache a failed read', async () => {
    const source = await bench.source({ provider: 'github', secret: 'x' })
    let isDown = true
    const box: SecretBox = {
      ...secretBox,
      open: (sealed, place) =>
        isDown ? Promise.reject(new Error('No KMS')) : secretBox.open(sealed, place),
    }
    const receiver = await bench.another({ secretBox: box })
    const { status, headers } = await receiver.send(source.sourceId)
    expect([status, headers.get('retry-after')]).toEqual([503, '5'])
    isDown = false
    expect((await receiver.send(source.sourceId)).status).toBe(401)
  })
})
