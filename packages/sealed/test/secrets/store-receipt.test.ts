import { everyStore } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { secretsTable } from '../../src/tables.ts'
import { openSecretStore } from '../support/open-store.ts'
import { claimOf, newId, newSecret, rawItem, sha256, tokenHash } from '../support/secrets.ts'

describe.each(everyStore())('the receipt of a secret on $name', (store) => {
  const { clock, opened, now } = openSecretStore(store)

  async function created(given: Parameters<typeof newSecret>[0] = {}) {
    const secret = newSecret({ ttlSeconds: 900, receiptUntil: now() + 9000, ...given })
    await opened.secrets.create(secret)
    return secret.id
  }
  const gone = { state: 'gone', views: { used: 0, max: 1 } }
  const claim = (id: string, reader: string) => opened.secrets.claim(id, claimOf(reader))
  const status = (id: string, token = 'burn') => opened.secrets.status(id, tokenHash(token))

  test('is pending, then viewed with the time of the last view, even after the acknowledgement', async () => {
    const id = await created()
    expect(await status(id)).toEqual({ state: 'pending', views: { used: 0, max: 1 } })
    clock.advance({ seconds: 5 })
    await claim(id, 'reader')
    const viewed = { state: 'viewed', at: now(), views: { used: 1, max: 1 } }
    expect(await status(id)).toEqual(viewed)
    await opened.secrets.ack(id, tokenHash('reader'))
    clock.advance({ hours: 1 })
    expect(await status(id)).toEqual(viewed)
  })

  test('counts every view but no repeated reading, and keeps the count after the end', async () => {
    for (const ending of ['burned', 'expired', 'guessed'] as const) {
      const id = await created({ maxViews: 5, receiptUntil: now() + 90_000 })
      await claim(id, 'first')
      await claim(id, 'first')
      clock.advance({ seconds: 31 })
      await claim(id, 'second')
      await opened.secrets.ack(id, tokenHash('second'))
      const counted = { state: 'viewed', at: now(), views: { used: 2, max: 5 } }
      expect(await status(id)).toEqual(counted)
      clock.advance({ seconds: 60 })
      if (ending === 'burned') await opened.secrets.burn(id, tokenHash('burn'))
      if (ending === 'expired') clock.advance({ seconds: 900 })
      const wrong = { ...claimOf('guesser'), proofHash: sha256('wrong') }
      if (ending === 'guessed') {
        for (let tries = 0; tries < 10; tries++) await opened.secrets.claim(id, wrong)
      }
      await opened.secrets.endIfOver(id)
      expect(await rawItem(opened.db, id), ending).not.toHaveProperty('ciphertext')
      expect(await status(id), ending).toEqual(counted)
    }
  })

  test('counts exactly the views that simultaneous readers got, each claim once', async () => {
    for (const readers of [2, 3, 8]) {
      const id = await created({ maxViews: 5 })
      const claims = Array.from({ length: readers }, (_, at) => `reader ${at}`)
      const read = await Promise.all([...claims, ...claims].map((reader) => claim(id, reader)))
      const used = Math.min(readers, 5)
      expect(read.filter(({ outcome }) => outcome === 'revealed')).toHaveLength(used * 2)
      expect(await status(id)).toEqual({ state: 'viewed', at: now(), views: { used, max: 5 } })
    }
  })

  test('of a secret that was stored without a count has no count', async () => {
    const id = await created()
    const stored = await rawItem(opened.db, id)
    const { maxViews: _, ...before } = stored ?? {}
    await opened.db.putItem({ TableName: secretsTable.name, Item: before })
    expect(await status(id)).toEqual({ state: 'pending' })
    await claim(id, 'reader')
    await opened.secrets.ack(id, tokenHash('reader'))
    expect(await status(id)).toEqual({ state: 'viewed', at: now() })
  })

  test('leaves a tombstone with the hash of the burn token, the time of the view and the count', async () => {
    const id = await created()
    const until = now() + 9000
    await claim(id, 'reader')
    const lastAccessAt = now()
    await opened.secrets.ack(id, tokenHash('reader'))
    expect(await rawItem(opened.db, id)).toEqual({
      id,
      expiresAt: until,
      burnToken: tokenHash('burn'),
      lastAccessAt,
      remainingViews: 0,
      maxViews: 1,
    })
  })

  test('is gone if the secret was burned or expired unread', async () => {
    const burned = await created()
    const expired = await created()
    await opened.secrets.burn(burned, tokenHash('burn'))
    expect(await status(burned)).toEqual(gone)
    clock.advance({ seconds: 900 })
    expect(await status(expired)).toEqual(gone)
    await opened.secrets.endIfOver(expired)
    expect(await status(expired)).toEqual(gone)
  })

  test('shows a view that was taken while the secret was being burned', async () => {
    for (let round = 0; round < 5; round++) {
      const id = await created({ maxViews: 2 })
      const [read] = await Promise.all([
        claim(id, 'reader'),
        opened.secrets.burn(id, tokenHash('burn')),
      ])
      expect(await status(id)).toEqual(
        read.outcome === 'revealed'
          ? { state: 'viewed', at: now(), views: { used: 1, max: 2 } }
          : { state: 'gone', views: { used: 0, max: 2 } },
      )
    }
  })

  test('is not available without the token, without a receipt, for a missing id or after its time', async () => {
    const id = await created()
    const without = newSecret()
    await opened.secrets.create(without)
    expect(await status(id, 'wrong')).toBeUndefined()
    expect(await status(without.id)).toBeUndefined()
    expect(await status(newId())).toBeUndefined()
    expect(await status('')).toBeUndefined()
    await opened.secrets.burn(without.id, tokenHash('burn'))
    expect(await status(without.id)).toBeUndefined()
    clock.advance({ seconds: 9000 })
    expect(await status(id)).toBeUndefined()
  })

  test('ends on time even if the tombstone still exists', async () => {
    const id = await created()
    await opened.secrets.burn(id, tokenHash('burn'))
    clock.advance({ seconds: 8999 })
    expect(await status(id)).toEqual(gone)
    clock.advance({ seconds: 1 })
    expect(await status(id)).toBeUndefined()
    expect(await rawItem(opened.db, id)).toBeDefined()
  })
})
