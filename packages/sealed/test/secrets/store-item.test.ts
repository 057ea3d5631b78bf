import { testStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { openSecretStore } from '../support/open-store.ts'
import { claimOf, newSecret, rawItem, sha256, tokenHash } from '../support/secrets.ts'

describe.each(testStores())('the stored item on $name', (store) => {
  const { clock, opened, now } = openSecretStore(store)

  test('has the attributes of the specification with their names and types, and the additional ones', async () => {
    const secret = newSecret({
      passphraseProtected: true,
      salt: Buffer.alloc(16, 9).toString('base64'),
      maxViews: 3,
      receiptUntil: now() + 172_800,
    })
    expect(await opened.secrets.create(secret)).toBe(true)
    expect(await rawItem(opened.db, secret.id)).toEqual({
      id: secret.id,
      ciphertext: secret.ciphertext,
      iv: 'BwcHBwcHBwcHBwcH',
      salt: 'CQkJCQkJCQkJCQkJCQkJCQ==',
      passphraseProtected: true,
      remainingViews: 3,
      burnToken: tokenHash('burn'),
      createdAt: 4_102_444_800,
      expiresAt: 4_102_444_800 + 86_400,
      linkHash: sha256('link'),
      proofHash: sha256('proof'),
      triesLeft: 10,
      claims: {},
      receiptUntil: 4_102_444_800 + 172_800,
      maxViews: 3,
    })
  })

  test('has no salt without a passphrase, and no other optional attribute before the first view', async () => {
    const secret = newSecret()
    await opened.secrets.create(secret)
    const names = Object.keys((await rawItem(opened.db, secret.id)) ?? {})
    expect(names.toSorted()).toEqual([
      'burnToken',
      'ciphertext',
      'claims',
      'createdAt',
      'expiresAt',
      'id',
      'iv',
      'linkHash',
      'passphraseProtected',
      'proofHash',
      'remainingViews',
      'triesLeft',
    ])
  })

  test('records when and by which claim it was last read, and the deadline of the claim', async () => {
    const secret = newSecret({ maxViews: 2 })
    await opened.secrets.create(secret)
    const before = await rawItem(opened.db, secret.id)
    clock.advance({ seconds: 100 })
    await opened.secrets.claim(secret.id, claimOf('reader'))
    expect(await rawItem(opened.db, secret.id)).toEqual({
      ...before,
      remainingViews: 1,
      lastAccessAt: now(),
      lastAccessToken: tokenHash('reader'),
      claims: { [tokenHash('reader')]: now() + 30 },
    })
  })

  test('expires at the end of the window after the last view', async () => {
    const secret = newSecret()
    await opened.secrets.create(secret)
    clock.advance({ hours: 1 })
    await opened.secrets.claim(secret.id, claimOf('reader'))
    expect(await rawItem(opened.db, secret.id)).toMatchObject({
      remainingViews: 0,
      expiresAt: now() + 30,
    })
  })

  test('remains until its creation token is invalid, if the last view is earlier', async () => {
    const secret = newSecret()
    await opened.secrets.create(secret)
    const created = now()
    clock.advance({ seconds: 10 })
    await opened.secrets.claim(secret.id, claimOf('reader'))
    expect(await rawItem(opened.db, secret.id)).toMatchObject({ expiresAt: created + 300 })
  })

  test('remains until receiptUntil after the last view, if it has a receipt', async () => {
    const secret = newSecret({ receiptUntil: now() + 172_800 })
    await opened.secrets.create(secret)
    clock.advance({ hours: 1 })
    await opened.secrets.claim(secret.id, claimOf('reader'))
    expect(await rawItem(opened.db, secret.id)).toMatchObject({
      expiresAt: secret.receiptUntil,
    })
  })

  test('contains only hashes of tokens, and nothing about the reader', async () => {
    const secret = newSecret({ maxViews: 2 })
    await opened.secrets.create(secret)
    await opened.secrets.claim(secret.id, claimOf('reader'))
    // The others are hashes; numbers and flags reveal nothing about a person.
    const { id, ciphertext, iv, ...rest } = (await rawItem(opened.db, secret.id)) ?? {}
    expect({ id, ciphertext, iv }).toEqual({
      id: secret.id,
      ciphertext: secret.ciphertext,
      iv: secret.iv,
    })
    const isSmall = (value: unknown) => typeof value === 'number' || typeof value === 'boolean'
    const telling = Object.entries(rest).filter(([, value]) => !isSmall(value))
    expect(Object.fromEntries(telling)).toEqual({
      burnToken: tokenHash('burn'),
      lastAccessToken: tokenHash('reader'),
      linkHash: sha256('link'),
      proofHash: sha256('proof'),
      claims: { [tokenHash('reader')]: now() + 30 },
    })
  })
})
