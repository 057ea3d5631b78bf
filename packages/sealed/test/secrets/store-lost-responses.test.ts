import { retryingDb } from '@strongroom/kit/retrying-db'
import { hostileDb } from '@strongroom/kit/testing/hostile-db'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { createSecretStore } from '../../src/secrets/store.ts'
import { openSecretStore } from '../support/open-store.ts'
import { claimOf, newSecret, rawItem, sha256, tokenHash } from '../support/secrets.ts'

/** A client that repeats the same request whenever a response was lost. */
async function insisting<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if ((error as Error).name !== 'TimeoutError') throw error
    }
  }
}

describe.each(serviceStores())('lost responses on $name', (store) => {
  const { clock, opened, now } = openSecretStore(store)

  function losing(seed: number, lostResponse = 0.5) {
    const faults = { seed, lostResponse, throttle: 0.1, conflict: 0.1 }
    const db = retryingDb(hostileDb(opened.db, faults), { attempts: 40, pause: async () => {} })
    return createSecretStore({ db, clock })
  }

  test('a reader whose responses are lost reads again and uses one view', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const secret = newSecret({ maxViews: 2 })
      await opened.secrets.create(secret)
      const secrets = losing(seed)
      expect(await insisting(() => secrets.claim(secret.id, claimOf('reader')))).toMatchObject({
        outcome: 'revealed',
        secret: { ciphertext: secret.ciphertext, remainingViews: 1 },
      })
      expect(await rawItem(opened.db, secret.id)).toMatchObject({ remainingViews: 1 })
    }
  })

  test('of twenty readers whose responses are lost exactly one gets the last view', async () => {
    for (let seed = 1; seed <= 5; seed++) {
      const secret = newSecret()
      await opened.secrets.create(secret)
      const secrets = losing(seed)
      const readers = Array.from({ length: 20 }, (_, reader) =>
        insisting(() => secrets.claim(secret.id, claimOf(`reader ${reader}`))),
      )
      const outcomes = await Promise.all(readers)
      expect(outcomes.filter(({ outcome }) => outcome === 'revealed')).toHaveLength(1)
    }
  })

  test('a creation whose response was lost succeeds when it is repeated', async () => {
    const secret = newSecret()
    const lost = losing(1, 1).create(secret)
    await expect(lost).rejects.toThrow('The response was lost after the write')
    expect(await opened.secrets.create(secret)).toBe(true)
    expect(await opened.secrets.create({ ...secret, burnTokenHash: tokenHash('other') })).toBe(
      false,
    )
  })

  test('a creation repeated after the secret was burned creates nothing, even with a receipt', async () => {
    for (const receiptUntil of [undefined, now() + 172_800]) {
      const secret = newSecret({ receiptUntil })
      await opened.secrets.create(secret)
      await opened.secrets.burn(secret.id, secret.burnTokenHash)
      expect(await opened.secrets.create(secret)).toBe(false)
      expect(await rawItem(opened.db, secret.id)).not.toHaveProperty('ciphertext')
    }
  })

  test('an acknowledgement and a burn whose responses are lost succeed when they are repeated', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const secrets = losing(seed)
      const read = newSecret()
      const burned = newSecret()
      await opened.secrets.create(read)
      await opened.secrets.create(burned)
      await opened.secrets.claim(read.id, claimOf('reader'))
      await insisting(() => secrets.ack(read.id, tokenHash('reader')))
      await insisting(() => secrets.burn(burned.id, tokenHash('burn')))
      // If the response to the first of two writes was lost, the next check does the second.
      await opened.secrets.endIfOver(read.id)
      expect(await rawItem(opened.db, read.id)).toEqual({ id: read.id, expiresAt: now() + 300 })
      expect(await rawItem(opened.db, burned.id)).toEqual({ id: burned.id, expiresAt: now() + 300 })
    }
  })

  test('guesses whose responses are lost are counted', async () => {
    const secret = newSecret()
    await opened.secrets.create(secret)
    const secrets = losing(7)
    const guesses = Array.from({ length: 30 }, (_, guess) =>
      secrets
        .claim(secret.id, claimOf('reader', { proofHash: sha256(`wrong ${guess}`) }))
        .catch(() => undefined),
    )
    await Promise.all(guesses)
    expect(await opened.secrets.claim(secret.id, claimOf('right'))).toEqual({
      outcome: 'not_available',
    })
  })
})
