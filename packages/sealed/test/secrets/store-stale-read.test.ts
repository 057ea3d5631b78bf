import { eachOperation, type Item } from '@strongroom/kit/db'
import { everyStore } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { createSecretStore } from '../../src/secrets/store.ts'
import { openSecretStore } from '../support/open-store.ts'
import { claimOf, newSecret, rawItem, sha256, tokenHash } from '../support/secrets.ts'

const notAvailable = { outcome: 'not_available' }

/** The read before a write may be as old as it likes: the condition of the write decides. */
describe.each(everyStore())('a secret that has changed since it was read, on $name', (store) => {
  const { clock, opened, now } = openSecretStore(store)

  /** A new secret, and a store that keeps reading its present state. */
  async function created(given: Parameters<typeof newSecret>[0] = {}) {
    const secret = newSecret(given)
    await opened.secrets.create(secret)
    return { id: secret.id, stale: await staleStore(secret.id) }
  }

  async function staleStore(id: string) {
    const snapshot = await rawItem(opened.db, id)
    const db = eachOperation((name) => (input) => {
      if (name === 'getItem') return Promise.resolve({ Item: snapshot })
      return opened.db[name](input)
    })
    return createSecretStore({ db, clock })
  }

  async function change(id: string, attribute: string, value: Item[string]) {
    await opened.db.updateItem({
      TableName: 'sealed-secrets',
      Key: { id },
      UpdateExpression: 'SET #a = :v',
      ExpressionAttributeNames: { '#a': attribute },
      ExpressionAttributeValues: { ':v': value },
    })
  }

  test('is not revealed to a second reader of its last view', async () => {
    const { id, stale } = await created()
    await opened.secrets.claim(id, claimOf('first'))
    expect(await stale.claim(id, claimOf('second'))).toEqual(notAvailable)
  })

  test('is revealed again to the same claim without another view', async () => {
    const { id, stale } = await created({ maxViews: 3 })
    await opened.secrets.claim(id, claimOf('reader'))
    expect(await stale.claim(id, claimOf('reader'))).toMatchObject({
      secret: { remainingViews: 2 },
    })
    expect(await rawItem(opened.db, id)).toMatchObject({ remainingViews: 2 })
  })

  test('counts its last view as the last one', async () => {
    const { id, stale } = await created({ maxViews: 3 })
    await opened.secrets.claim(id, claimOf('first'))
    await opened.secrets.claim(id, claimOf('second'))
    clock.advance({ hours: 1 })
    expect(await stale.claim(id, claimOf('third'))).toMatchObject({
      secret: { remainingViews: 0 },
    })
    expect(await rawItem(opened.db, id)).toMatchObject({ expiresAt: now() + 30 })
  })

  test('is not revealed once it is burned, and not restored once it is deleted', async () => {
    const { id, stale } = await created()
    await opened.secrets.burn(id, tokenHash('burn'))
    expect(await stale.claim(id, claimOf('reader'))).toEqual(notAvailable)
    await opened.db.deleteItem({ TableName: 'sealed-secrets', Key: { id } })
    expect(await stale.claim(id, claimOf('reader'))).toEqual(notAvailable)
    await stale.burn(id, tokenHash('burn'))
    await stale.endIfOver(id)
    expect(await rawItem(opened.db, id)).toBeUndefined()
  })

  test.each<[attribute: string, value: () => Item[string]]>([
    ['triesLeft', () => 0],
    ['remainingViews', () => 0],
    ['expiresAt', () => now()],
    ['linkHash', () => sha256('another')],
  ])('is not given if its %s forbids it by now', async (attribute, value) => {
    const { id, stale } = await created()
    await change(id, attribute, value())
    expect(await stale.claim(id, claimOf('reader'))).toEqual(notAvailable)
    const wrong = claimOf('reader', { proofHash: sha256('wrong') })
    expect(await stale.claim(id, wrong)).toEqual(notAvailable)
    expect(await rawItem(opened.db, id)).not.toHaveProperty('lastAccessAt')
  })

  test('is not revealed for a proof that is wrong by now, which uses a try', async () => {
    const { id, stale } = await created()
    await change(id, 'proofHash', sha256('another'))
    expect(await stale.claim(id, claimOf('reader'))).toEqual({
      outcome: 'wrong_proof',
      triesLeft: 9,
    })
  })

  test('uses no try for a proof that is right by now', async () => {
    const { id, stale } = await created()
    await change(id, 'proofHash', sha256('another'))
    const another = claimOf('reader', { proofHash: sha256('another') })
    expect(await stale.claim(id, another)).toEqual(notAvailable)
    expect(await rawItem(opened.db, id)).toMatchObject({ triesLeft: 10 })
  })

  test('is not ended if it was claimed since it was read as expired', async () => {
    const { id } = await created({ ttlSeconds: 900 })
    await change(id, 'expiresAt', now())
    const stale = await staleStore(id)
    await change(id, 'expiresAt', now() + 900)
    await opened.secrets.claim(id, claimOf('reader'))
    await stale.endIfOver(id)
    expect(await opened.secrets.claim(id, claimOf('reader'))).toMatchObject({
      outcome: 'revealed',
    })
  })

  test('is not ended twice', async () => {
    const receiptUntil = now() + 9000
    const { id, stale } = await created({ ttlSeconds: 900, receiptUntil })
    clock.advance({ seconds: 8999 })
    await opened.secrets.endIfOver(id)
    const tombstone = await rawItem(opened.db, id)
    expect(tombstone).toEqual({
      id,
      expiresAt: receiptUntil,
      burnToken: tokenHash('burn'),
      remainingViews: 1,
      maxViews: 1,
    })
    clock.advance({ seconds: 1 })
    expect(await stale.endIfOver(id)).toBeUndefined()
    await stale.burn(id, tokenHash('burn'))
    expect(await rawItem(opened.db, id)).toEqual(tombstone)
  })

  test('is not burned by a token that is wrong by now', async () => {
    const { id, stale } = await created()
    await change(id, 'burnToken', tokenHash('another'))
    await stale.burn(id, tokenHash('burn'))
    expect(await rawItem(opened.db, id)).toHaveProperty('ciphertext')
  })
})
