import type { Db } from '@strongroom/kit/db'
import { everyStore } from '@strongroom/kit/testing/every-store'
import { describe, expect, test } from 'vitest'
import { sweep } from '../src/sweep.ts'
import { openSecretStore } from './open-store.ts'
import { claimOf, newId, newSecret, rawItem, tokenHash } from './secrets.ts'

const notAvailable = { outcome: 'not_available' }

describe.each(everyStore())('the end of a secret on $name', (store) => {
  const { clock, opened, now } = openSecretStore(store)

  async function created(given: Parameters<typeof newSecret>[0] = {}) {
    const secret = newSecret(given)
    await opened.secrets.create(secret)
    return secret.id
  }
  const claim = (id: string, reader: string) => opened.secrets.claim(id, claimOf(reader))
  const raw = (id: string) => rawItem(opened.db, id)

  test('an acknowledged last view leaves a tombstone of id and expiry until the token is invalid', async () => {
    const id = await created()
    const createdAt = now()
    await claim(id, 'reader')
    await opened.secrets.ack(id, tokenHash('reader'))
    expect(await raw(id)).toEqual({ id, expiresAt: createdAt + 300 })
    expect(await claim(id, 'reader')).toEqual(notAvailable)
  })

  test('an acknowledged last view leaves nothing once the token is invalid', async () => {
    const id = await created()
    clock.advance({ seconds: 300 })
    await claim(id, 'reader')
    await opened.secrets.ack(id, tokenHash('reader'))
    expect(await raw(id)).toBeUndefined()
  })

  test('an acknowledgement ends its own claim only, and the secret with the last one', async () => {
    const id = await created({ maxViews: 2 })
    await claim(id, 'first')
    await claim(id, 'second')
    await opened.secrets.ack(id, tokenHash('first'))
    expect(await raw(id)).toMatchObject({ claims: { [tokenHash('second')]: now() + 30 } })
    expect(await claim(id, 'first')).toEqual(notAvailable)
    expect(await claim(id, 'second')).toMatchObject({ outcome: 'revealed' })
    await opened.secrets.ack(id, tokenHash('second'))
    expect(await raw(id)).toEqual({ id, expiresAt: now() + 300 })
  })

  test('an acknowledgement with views left keeps the secret', async () => {
    const id = await created({ maxViews: 2 })
    await claim(id, 'reader')
    await opened.secrets.ack(id, tokenHash('reader'))
    expect(await raw(id)).toMatchObject({ remainingViews: 1, claims: {} })
    expect(await claim(id, 'another')).toMatchObject({ outcome: 'revealed' })
  })

  test('an acknowledgement of nothing changes nothing and makes no item', async () => {
    const id = await created()
    const before = await raw(id)
    await opened.secrets.ack(id, tokenHash('stranger'))
    expect(await raw(id)).toEqual(before)
    const missing = newId()
    await opened.secrets.ack(missing, tokenHash('stranger'))
    await opened.secrets.ack('malformed', tokenHash('stranger'))
    expect(await raw(missing)).toBeUndefined()
    expect(await raw('malformed')).toBeUndefined()
  })

  test('burning with the right token destroys the secret, live claims included', async () => {
    const id = await created({ maxViews: 2 })
    await claim(id, 'reader')
    await opened.secrets.burn(id, tokenHash('burn'))
    expect(await raw(id)).toEqual({ id, expiresAt: now() + 300 })
    expect(await claim(id, 'reader')).toEqual(notAvailable)
    expect(await claim(id, 'another')).toEqual(notAvailable)
  })

  test('burning later than the validity of the token leaves nothing', async () => {
    const id = await created()
    clock.advance({ seconds: 300 })
    await opened.secrets.burn(id, tokenHash('burn'))
    expect(await raw(id)).toBeUndefined()
  })

  test('burning with a wrong token, a missing or a malformed id does nothing and says nothing', async () => {
    const id = await created()
    const before = await raw(id)
    await opened.secrets.burn(id, tokenHash('wrong'))
    await opened.secrets.burn(id, '')
    await opened.secrets.burn(newId(), tokenHash('burn'))
    await opened.secrets.burn('', tokenHash('burn'))
    expect(await raw(id)).toEqual(before)
  })

  test('create, burn, create with one id makes one secret only', async () => {
    const id = await created()
    await opened.secrets.burn(id, tokenHash('burn'))
    clock.advance({ seconds: 299 })
    expect(await opened.secrets.create(newSecret({ id }))).toBe(false)
    expect(await raw(id)).not.toHaveProperty('ciphertext')
  })

  test('of readers and a burn at the same time nobody reads after the burn', async () => {
    for (let round = 0; round < 3; round++) {
      const id = await created({ maxViews: 5 })
      const readers = Array.from({ length: 10 }, (_, reader) => claim(id, `reader ${reader}`))
      await Promise.all([...readers, opened.secrets.burn(id, tokenHash('burn'))])
      expect(await raw(id)).toEqual({ id, expiresAt: now() + 300 })
      expect(await claim(id, 'reader 1')).toEqual(notAvailable)
    }
  })

  test('a consumed secret is destroyed at the deadline of its claim and not before', async () => {
    const id = await created()
    clock.advance({ hours: 1 })
    await claim(id, 'reader')
    expect(await opened.secrets.reduce(id)).toBe(now() + 30)
    expect(await raw(id)).toHaveProperty('ciphertext')
    clock.advance({ seconds: 30 })
    expect(await opened.secrets.reduce(id)).toBeUndefined()
    expect(await raw(id)).toBeUndefined()
  })

  test('a consumed secret is destroyed at the deadline although its item lives on', async () => {
    const createdAt = now()
    const young = await created()
    const receipted = await created({ receiptUntil: now() + 172_800 })
    for (const id of [young, receipted]) await claim(id, 'reader')
    const lastAccessAt = now()
    clock.advance({ seconds: 30 })
    for (const id of [young, receipted]) await opened.secrets.reduce(id)
    expect(await raw(young)).toEqual({ id: young, expiresAt: createdAt + 300 })
    expect(await raw(receipted)).toEqual({
      id: receipted,
      expiresAt: createdAt + 172_800,
      burnToken: tokenHash('burn'),
      lastAccessAt,
    })
  })

  test('an expired secret is destroyed at the next look', async () => {
    const id = await created({ ttlSeconds: 900 })
    expect(await opened.secrets.reduce(id)).toBe(now() + 900)
    clock.advance({ seconds: 900 })
    expect(await opened.secrets.reduce(id)).toBeUndefined()
    expect(await raw(id)).toBeUndefined()
    expect(await opened.secrets.reduce(id)).toBeUndefined()
  })

  test('a sweep destroys what is over, leaves what is not, and says when to come again', async () => {
    const expired = await created({ ttlSeconds: 900 })
    const consumed = await created()
    await claim(consumed, 'reader')
    clock.advance({ seconds: 900 })
    const live = await created()
    const claimed = await created()
    await claim(claimed, 'reader')
    const swept = await sweep({ db: opened.db, clock, store: opened.secrets })
    expect(swept).toMatchObject({ again: now() + 30, damaged: [] })
    expect(await raw(expired)).toBeUndefined()
    expect(await raw(consumed)).toBeUndefined()
    expect(await raw(live)).toHaveProperty('ciphertext')
    expect(await raw(claimed)).toHaveProperty('ciphertext')
  })

  test('a sweep destroys what has no try left, if the process that took the last one stopped', async () => {
    const id = await created()
    await opened.db.updateItem({
      TableName: 'sealed-secrets',
      Key: { id },
      UpdateExpression: 'SET triesLeft = :none',
      ExpressionAttributeValues: { ':none': 0 },
    })
    await sweep({ db: opened.db, clock, store: opened.secrets })
    expect(await raw(id)).toEqual({ id, expiresAt: now() + 300 })
  })

  test('a sweep goes through a table of many pages', async () => {
    const expired = await Promise.all(Array.from({ length: 5 }, () => created({ ttlSeconds: 900 })))
    clock.advance({ seconds: 900 })
    const db: Db = { ...opened.db, scan: (input) => opened.db.scan({ ...input, Limit: 1 }) }
    await sweep({ db, clock, store: opened.secrets })
    for (const id of expired) expect(await raw(id)).toBeUndefined()
  })

  test('one damaged item does not keep a sweep from the others', async () => {
    const damaged = newId()
    await opened.db.putItem({
      TableName: 'sealed-secrets',
      Item: { id: damaged, ciphertext: 'AAAA', expiresAt: now() - 1 },
    })
    const expired = await created({ ttlSeconds: 900 })
    clock.advance({ seconds: 900 })
    const swept = await sweep({ db: opened.db, clock, store: opened.secrets })
    expect(swept.damaged).toMatchObject([{ table: 'sealed-secrets', key: { id: damaged } }])
    expect(await raw(expired)).toBeUndefined()
    await opened.db.deleteItem({ TableName: 'sealed-secrets', Key: { id: damaged } })
  })
})
