import { everyStore } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { openSecretStore } from '../support/open-store.ts'
import { claimOf, newId, newSecret, rawItem, tokenHash } from '../support/secrets.ts'

describe.each(everyStore())('the receipt of a secret on $name', (store) => {
  const { clock, opened, now } = openSecretStore(store)

  async function created(given: Parameters<typeof newSecret>[0] = {}) {
    const secret = newSecret({ ttlSeconds: 900, receiptUntil: now() + 9000, ...given })
    await opened.secrets.create(secret)
    return secret.id
  }
  const claim = (id: string, reader: string) => opened.secrets.claim(id, claimOf(reader))
  const status = (id: string, token = 'burn') => opened.secrets.status(id, tokenHash(token))

  test('is pending, then viewed with the time of the last view, even after the acknowledgement', async () => {
    const id = await created()
    expect(await status(id)).toEqual({ state: 'pending' })
    clock.advance({ seconds: 5 })
    await claim(id, 'reader')
    const viewed = { state: 'viewed', at: now() }
    expect(await status(id)).toEqual(viewed)
    await opened.secrets.ack(id, tokenHash('reader'))
    clock.advance({ hours: 1 })
    expect(await status(id)).toEqual(viewed)
  })

  test('leaves a tombstone with the hash of the burn token and the time of the view', async () => {
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
    })
  })

  test('is gone if the secret was burned or expired unread', async () => {
    const burned = await created()
    const expired = await created()
    await opened.secrets.burn(burned, tokenHash('burn'))
    expect(await status(burned)).toEqual({ state: 'gone' })
    clock.advance({ seconds: 900 })
    expect(await status(expired)).toEqual({ state: 'gone' })
    await opened.secrets.endIfOver(expired)
    expect(await status(expired)).toEqual({ state: 'gone' })
  })

  test('shows a view that was taken while the secret was being burned', async () => {
    for (let round = 0; round < 5; round++) {
      const id = await created({ maxViews: 2 })
      const [read] = await Promise.all([
        claim(id, 'reader'),
        opened.secrets.burn(id, tokenHash('burn')),
      ])
      expect(await status(id)).toEqual(
        read.outcome === 'revealed' ? { state: 'viewed', at: now() } : { state: 'gone' },
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
    expect(await status(id)).toEqual({ state: 'gone' })
    clock.advance({ seconds: 1 })
    expect(await status(id)).toBeUndefined()
    expect(await rawItem(opened.db, id)).toBeDefined()
  })
})
