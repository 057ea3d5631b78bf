import type { Db } from '@strongroom/kit/db'
import { everyStore } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { sweep } from '../../src/cleanup/sweep.ts'
import { openSecretStore } from '../support/open-store.ts'
import { claimOf, newId, newSecret, rawItem, tokenHash } from '../support/secrets.ts'

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

  test('an acknowledged last view leaves only id and expiry for 30 seconds once the token is invalid', async () => {
    const id = await created()
    clock.advance({ seconds: 300 })
    await claim(id, 'reader')
    await opened.secrets.ack(id, tokenHash('reader'))
    expect(await raw(id)).toEqual({ id, expiresAt: now() + 30 })
  })

  test('an acknowledged last view leaves the receipt', async () => {
    const id = await created({ receiptUntil: now() + 172_800 })
    await claim(id, 'reader')
    expect(await opened.secrets.ack(id, tokenHash('reader'))).toBe('secret_ended')
    expect(await raw(id)).toEqual({
      id,
      expiresAt: now() + 172_800,
      burnToken: tokenHash('burn'),
      lastAccessAt: now(),
      remainingViews: 0,
      maxViews: 1,
    })
  })

  test('an acknowledged last view blocks the id of a request until its end', async () => {
    const requestUntil = now() + 7200
    const id = await created({ requestUntil })
    await claim(id, 'reader')
    await opened.secrets.ack(id, tokenHash('reader'))
    expect(await raw(id)).toEqual({ id, expiresAt: requestUntil })
    expect(await opened.secrets.create(newSecret({ id }))).toBe(false)
  })

  test('an acknowledgement ends the secret beside claims that are past their deadline', async () => {
    const id = await created({ maxViews: 2 })
    await claim(id, 'first')
    clock.advance({ seconds: 30 })
    await claim(id, 'second')
    expect(await opened.secrets.ack(id, tokenHash('second'))).toBe('secret_ended')
    expect(await raw(id)).not.toHaveProperty('ciphertext')
  })

  test('simultaneous acknowledgements of all readers end the secret', async () => {
    for (let round = 0; round < 3; round++) {
      const id = await created({ maxViews: 5 })
      const readers = Array.from({ length: 5 }, (_, reader) => `reader ${reader}`)
      for (const reader of readers) await claim(id, reader)
      const outcomes = await Promise.all(
        readers.map((reader) => opened.secrets.ack(id, tokenHash(reader))),
      )
      expect(outcomes).toContain('secret_ended')
      expect(await raw(id)).not.toHaveProperty('ciphertext')
    }
  })

  test('an acknowledgement ends only its own claim, and the last one ends the secret', async () => {
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

  test('an acknowledgement of a missing claim changes nothing and creates no item', async () => {
    const id = await created()
    const before = await raw(id)
    const missing = newId()
    for (const each of [id, missing, 'malformed']) {
      expect(await opened.secrets.ack(each, tokenHash('stranger'))).toBe('not_available')
    }
    expect(await raw(id)).toEqual(before)
    expect(await raw(missing)).toBeUndefined()
    expect(await raw('malformed')).toBeUndefined()
  })

  test('an acknowledgement without the claim of a damaged secret looks like any other', async () => {
    const id = await created()
    await opened.db.updateItem({
      TableName: 'sealed-secrets',
      Key: { id },
      UpdateExpression: 'SET iv = :iv',
      ExpressionAttributeValues: { ':iv': 'damaged' },
    })
    expect(await opened.secrets.ack(id, tokenHash('stranger'))).toBe('not_available')
    await opened.db.deleteItem({ TableName: 'sealed-secrets', Key: { id } })
  })

  test('burning with the right token destroys the secret, live claims included', async () => {
    const id = await created({ maxViews: 2 })
    await claim(id, 'reader')
    await opened.secrets.burn(id, tokenHash('burn'))
    expect(await raw(id)).toEqual({ id, expiresAt: now() + 300 })
    expect(await claim(id, 'reader')).toEqual(notAvailable)
    expect(await claim(id, 'another')).toEqual(notAvailable)
  })

  test('burning after the creation token has expired leaves nothing', async () => {
    const id = await created()
    clock.advance({ seconds: 300 })
    await opened.secrets.burn(id, tokenHash('burn'))
    expect(await raw(id)).toBeUndefined()
  })

  test('burning with a wrong token, a missing or a malformed id does nothing and reveals nothing', async () => {
    const id = await created()
    const before = await raw(id)
    await opened.secrets.burn(id, tokenHash('wrong'))
    await opened.secrets.burn(id, '')
    await opened.secrets.burn(newId(), tokenHash('burn'))
    await opened.secrets.burn('', tokenHash('burn'))
    expect(await raw(id)).toEqual(before)
  })

  test('create, burn, create with one id creates only one secret', async () => {
    const id = await created()
    await opened.secrets.burn(id, tokenHash('burn'))
    clock.advance({ seconds: 299 })
    expect(await opened.secrets.create(newSecret({ id }))).toBe(false)
    expect(await raw(id)).not.toHaveProperty('ciphertext')
  })

  test('nobody reads after a concurrent burn', async () => {
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
    expect(await opened.secrets.endIfOver(id)).toBe(now() + 30)
    expect(await raw(id)).toHaveProperty('ciphertext')
    clock.advance({ seconds: 30 })
    expect(await opened.secrets.endIfOver(id)).toBeUndefined()
    expect(await raw(id)).toBeUndefined()
  })

  test('a consumed secret is destroyed at the deadline even if its item remains', async () => {
    const createdAt = now()
    const young = await created()
    const receipted = await created({ receiptUntil: now() + 172_800 })
    for (const id of [young, receipted]) await claim(id, 'reader')
    const lastAccessAt = now()
    clock.advance({ seconds: 30 })
    for (const id of [young, receipted]) await opened.secrets.endIfOver(id)
    expect(await raw(young)).toEqual({ id: young, expiresAt: createdAt + 300 })
    expect(await raw(receipted)).toEqual({
      id: receipted,
      expiresAt: createdAt + 172_800,
      burnToken: tokenHash('burn'),
      lastAccessAt,
      remainingViews: 0,
      maxViews: 1,
    })
  })

  test('an expired secret is destroyed at the next check', async () => {
    const id = await created({ ttlSeconds: 900 })
    expect(await opened.secrets.endIfOver(id)).toBe(now() + 900)
    clock.advance({ seconds: 900 })
    expect(await opened.secrets.endIfOver(id)).toBeUndefined()
    expect(await raw(id)).toBeUndefined()
    expect(await opened.secrets.endIfOver(id)).toBeUndefined()
  })

  test('a sweep destroys only secrets that have ended, and returns when to sweep again', async () => {
    const expired = await created({ ttlSeconds: 900 })
    const consumed = await created()
    await claim(consumed, 'reader')
    clock.advance({ seconds: 900 })
    const live = await created()
    const claimed = await created()
    await claim(claimed, 'reader')
    const result = await sweep({ db: opened.db, clock, store: opened.secrets })
    expect(result).toMatchObject({ nextAt: now() + 30, invalid: [] })
    expect(await raw(expired)).toBeUndefined()
    expect(await raw(consumed)).toBeUndefined()
    expect(await raw(live)).toHaveProperty('ciphertext')
    expect(await raw(claimed)).toHaveProperty('ciphertext')
  })

  test('a sweep destroys secrets without a try left whose process stopped', async () => {
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

  test('a sweep scans all pages of a table', async () => {
    const expired = await Promise.all(Array.from({ length: 5 }, () => created({ ttlSeconds: 900 })))
    clock.advance({ seconds: 900 })
    const db: Db = { ...opened.db, scan: (input) => opened.db.scan({ ...input, Limit: 1 }) }
    await sweep({ db, clock, store: opened.secrets })
    for (const id of expired) expect(await raw(id)).toBeUndefined()
  })

  test('one damaged item does not prevent a sweep of the others', async () => {
    const damaged = newId()
    await opened.db.putItem({
      TableName: 'sealed-secrets',
      Item: { id: damaged, ciphertext: 'AAAA', expiresAt: now() - 1 },
    })
    const expired = await created({ ttlSeconds: 900 })
    clock.advance({ seconds: 900 })
    const result = await sweep({ db: opened.db, clock, store: opened.secrets })
    expect(result.invalid).toMatchObject([{ table: 'sealed-secrets', key: { id: damaged } }])
    expect(await raw(expired)).toBeUndefined()
    await opened.db.deleteItem({ TableName: 'sealed-secrets', Key: { id: damaged } })
  })
})
