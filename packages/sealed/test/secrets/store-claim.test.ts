import { everyStore } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import type { ClaimOutcome } from '../../src/secrets/store.ts'
import { openSecretStore } from '../support/open-store.ts'
import { claimOf, newId, newSecret, rawItem, sha256, tokenHash } from '../support/secrets.ts'

const notAvailable = { outcome: 'not_available' }
const revealed = expect.objectContaining({ outcome: 'revealed' })
const winners = (outcomes: ClaimOutcome[]) =>
  outcomes.filter(({ outcome }) => outcome === 'revealed')

describe.each(everyStore())('claiming a secret on $name', (store) => {
  const { clock, opened, now } = openSecretStore(store)

  async function created(given: Parameters<typeof newSecret>[0] = {}) {
    const secret = newSecret(given)
    await opened.secrets.create(secret)
    return secret
  }
  const claim = (id: string, reader: string, given: Parameters<typeof claimOf>[1] = {}) =>
    opened.secrets.claim(id, claimOf(reader, given))

  test('reveals the secret to a reader with link and proof, and uses a view', async () => {
    const salt = Buffer.alloc(16, 1).toString('base64')
    const secret = await created({ maxViews: 2, passphraseProtected: true, salt })
    expect(await claim(secret.id, 'first')).toEqual({
      outcome: 'revealed',
      secret: {
        ciphertext: secret.ciphertext,
        iv: secret.iv,
        salt,
        passphraseProtected: true,
        remainingViews: 1,
        deadline: now() + 30,
      },
    })
  })

  test('reveals the secret as often as it has views', async () => {
    const { id } = await created({ maxViews: 5 })
    for (const reader of ['1', '2', '3', '4', '5']) {
      expect(await claim(id, reader)).toEqual(revealed)
    }
    expect(await claim(id, '6')).toEqual(notAvailable)
  })

  test('of twenty simultaneous readers of the last view exactly one gets it, in every round', async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await created()
      const readers = Array.from({ length: 20 }, (_, reader) => claim(id, `reader ${reader}`))
      expect(winners(await Promise.all(readers))).toHaveLength(1)
    }
  })

  test('of twenty simultaneous readers of three views exactly three get one', async () => {
    const { id } = await created({ maxViews: 3 })
    const readers = Array.from({ length: 20 }, (_, reader) => claim(id, `reader ${reader}`))
    const left = winners(await Promise.all(readers)).map((outcome) =>
      outcome.outcome === 'revealed' ? outcome.secret.remainingViews : -1,
    )
    expect(left.toSorted((a, b) => a - b)).toEqual([0, 1, 2])
  })

  test('twenty simultaneous requests of one claim use one view, and all get the secret', async () => {
    const { id } = await created({ maxViews: 5 })
    const requests = Array.from({ length: 20 }, () => claim(id, 'impatient'))
    expect(winners(await Promise.all(requests))).toHaveLength(20)
    expect(await rawItem(opened.db, id)).toMatchObject({ remainingViews: 4 })
  })

  test('reads again under the same claim for 30 seconds without another view, even after the last', async () => {
    const { id, ciphertext } = await created()
    const first = await claim(id, 'reader')
    clock.advance({ seconds: 29 })
    expect(await claim(id, 'reader')).toEqual(first)
    expect(first).toMatchObject({ secret: { ciphertext } })
    expect(await claim(id, 'another')).toEqual(notAvailable)
    clock.advance({ seconds: 1 })
    expect(await claim(id, 'reader')).toEqual(notAvailable)
  })

  test('counts an older claim as a new view', async () => {
    const { id } = await created({ maxViews: 2 })
    await claim(id, 'reader')
    clock.advance({ seconds: 30 })
    expect(await claim(id, 'reader')).toMatchObject({
      secret: { remainingViews: 0, deadline: now() + 30 },
    })
  })

  test('keeps the windows of several readers separate', async () => {
    const { id } = await created({ maxViews: 2 })
    await claim(id, 'first')
    clock.advance({ seconds: 20 })
    await claim(id, 'second')
    expect(await claim(id, 'first')).toEqual(revealed)
    clock.advance({ seconds: 10 })
    expect(await claim(id, 'first')).toEqual(notAvailable)
    expect(await claim(id, 'second')).toEqual(revealed)
  })

  test('never reveals the secret after its expiry, even inside the window', async () => {
    const { id } = await created({ ttlSeconds: 900 })
    clock.advance({ seconds: 890 })
    const first = await claim(id, 'reader')
    expect(first).toMatchObject({ secret: { deadline: now() + 10 } })
    clock.advance({ seconds: 9 })
    expect(await claim(id, 'reader')).toEqual(first)
    clock.advance({ seconds: 1 })
    expect(await claim(id, 'reader')).toEqual(notAvailable)
  })

  test('reveals nothing from the second of expiry, even if the item still exists', async () => {
    const { id } = await created({ ttlSeconds: 900, maxViews: 5 })
    clock.advance({ seconds: 899 })
    expect(await claim(id, 'early')).toEqual(revealed)
    clock.advance({ seconds: 1 })
    expect(await claim(id, 'late')).toEqual(notAvailable)
    expect(await claim(id, 'early')).toEqual(notAvailable)
    expect(await rawItem(opened.db, id)).toMatchObject({ remainingViews: 4 })
  })

  test('does not distinguish missing, malformed, expired, consumed and foreign secrets', async () => {
    const consumed = await created()
    await claim(consumed.id, 'reader')
    const expired = await created({ ttlSeconds: 900 })
    clock.advance({ seconds: 900 })
    const live = await created()
    const outcomes = await Promise.all([
      claim(newId(), 'reader'),
      claim('', 'reader'),
      claim('too-short', 'reader'),
      claim(expired.id, 'reader'),
      claim(consumed.id, 'reader'),
      claim(live.id, 'reader', { linkHash: sha256('guessed') }),
      claim(live.id, 'reader', { linkHash: new Uint8Array(0) }),
    ])
    expect(outcomes).toEqual(outcomes.map(() => notAvailable))
  })

  test('uses no try and no view for a reader without the link', async () => {
    const { id } = await created()
    const before = await rawItem(opened.db, id)
    await claim(id, 'noise', { linkHash: sha256('guessed'), proofHash: sha256('guessed') })
    await claim(id, 'noise', { linkHash: sha256('guessed') })
    expect(await rawItem(opened.db, id)).toEqual(before)
  })

  test('counts a wrong proof of a holder of the link, and uses no view', async () => {
    const { id } = await created()
    const wrong = { proofHash: sha256('wrong') }
    expect(await claim(id, 'reader', wrong)).toEqual({ outcome: 'wrong_proof', triesLeft: 9 })
    expect(await claim(id, 'reader', wrong)).toEqual({ outcome: 'wrong_proof', triesLeft: 8 })
    expect(await rawItem(opened.db, id)).toMatchObject({ triesLeft: 8, remainingViews: 1 })
    expect(await claim(id, 'reader')).toEqual(revealed)
  })

  test('checks the proof of a live claim too: a wrong one uses a try and does not end the window', async () => {
    const { id } = await created()
    const wrong = { proofHash: sha256('wrong') }
    await claim(id, 'reader')
    expect(await claim(id, 'reader', wrong)).toEqual({ outcome: 'wrong_proof', triesLeft: 9 })
    expect(await claim(id, 'another', wrong)).toEqual(notAvailable)
    expect(await claim(id, 'reader')).toEqual(revealed)
    clock.advance({ seconds: 30 })
    expect(await claim(id, 'reader', wrong)).toEqual(notAvailable)
  })

  test('a hundred parallel guesses use at most ten tries, and then the secret is destroyed', async () => {
    const { id } = await created()
    const guesses = Array.from({ length: 100 }, (_, guess) =>
      claim(id, `guess ${guess}`, { proofHash: sha256(`wrong ${guess}`) }),
    )
    const outcomes = await Promise.all(guesses)
    const counted = outcomes.flatMap((outcome) =>
      outcome.outcome === 'wrong_proof' ? [outcome.triesLeft] : [],
    )
    expect(counted.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(winners(outcomes)).toEqual([])
    expect(await claim(id, 'right')).toEqual(notAvailable)
    expect(await rawItem(opened.db, id)).toEqual({ id, expiresAt: now() + 300 })
  })

  test('reveals nothing when no try is left', async () => {
    const { id } = await created({ maxViews: 2 })
    await claim(id, 'early')
    await opened.db.updateItem({
      TableName: 'sealed-secrets',
      Key: { id },
      UpdateExpression: 'SET triesLeft = :none',
      ExpressionAttributeValues: { ':none': 0 },
    })
    expect(await claim(id, 'early')).toEqual(notAvailable)
    expect(await claim(id, 'late')).toEqual(notAvailable)
  })

  test('an id is used once, and a secret is never overwritten', async () => {
    const { id } = await created()
    const before = await rawItem(opened.db, id)
    const again = newSecret({ id, ciphertext: 'AAAA', burnTokenHash: tokenHash('other') })
    expect(await opened.secrets.create(again)).toBe(false)
    expect(await rawItem(opened.db, id)).toEqual(before)
  })

  test('of twenty simultaneous creations with one id exactly one succeeds', async () => {
    const id = newId()
    const creations = Array.from({ length: 20 }, (_, each) =>
      opened.secrets.create(newSecret({ id, burnTokenHash: tokenHash(`burn ${each}`) })),
    )
    expect((await Promise.all(creations)).filter(Boolean)).toHaveLength(1)
  })
})
