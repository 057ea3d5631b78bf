import { ItemMismatch } from '@strongroom/kit/db-errors'
import { testStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { MAX_CIPHERTEXT_CHARS } from '../../src/secrets/item.ts'
import type { NewSecret } from '../../src/secrets/store.ts'
import { openSecretStore } from '../support/open-store.ts'
import { claimOf, newId, newSecret, rawItem, tokenHash } from '../support/secrets.ts'

const misfits: [attribute: string, given: Partial<NewSecret>][] = [
  ['id', { id: 'Ab3dEf6hIj9kLmNoPqRs' }],
  ['id', { id: `${newId()}=` }],
  ['ciphertext', { ciphertext: '' }],
  ['ciphertext', { ciphertext: 'not base64!' }],
  ['ciphertext', { ciphertext: 'AAAAA' }],
  ['ciphertext', { ciphertext: 'A'.repeat(MAX_CIPHERTEXT_CHARS + 4) }],
  ['iv', { iv: Buffer.alloc(11).toString('base64') }],
  ['iv', { iv: Buffer.alloc(16).toString('base64') }],
  ['salt', { passphraseProtected: true, salt: Buffer.alloc(15).toString('base64') }],
  ['salt', { passphraseProtected: false, salt: Buffer.alloc(16).toString('base64') }],
  ['salt', { passphraseProtected: true }],
  ['passphraseProtected', { passphraseProtected: 'yes' as unknown as boolean }],
  ['remainingViews', { maxViews: 0 }],
  ['remainingViews', { maxViews: 6 }],
  ['remainingViews', { maxViews: 1.5 }],
  ['burnToken', { burnTokenHash: tokenHash('burn').toUpperCase() }],
  ['burnToken', { burnTokenHash: tokenHash('burn').slice(1) }],
  ['expiresAt', { ttlSeconds: 0 }],
  ['expiresAt', { ttlSeconds: 299 }],
  ['expiresAt', { ttlSeconds: 900.5 }],
  ['linkHash', { linkHash: new Uint8Array(31) }],
  ['proofHash', { proofHash: new Uint8Array(33) }],
  ['receiptUntil', { receiptUntil: 4_102_444_800 }],
]

describe.each(testStores())('validation on $name', (store) => {
  const { opened, now } = openSecretStore(store)

  test.each(misfits)(
    'a secret with an invalid %s is refused before it is stored',
    async (attribute, given) => {
      const secret = newSecret(given)
      const error = await opened.secrets.create(secret).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(ItemMismatch)
      expect(error).toMatchObject({ table: 'sealed-secrets', attributes: [attribute] })
      expect(await rawItem(opened.db, secret.id)).toBeUndefined()
    },
  )

  test('only declared attributes are stored', async () => {
    const secret = newSecret({ userAgent: 'curl' } as Partial<NewSecret>)
    await opened.secrets.create(secret)
    expect(await rawItem(opened.db, secret.id)).not.toHaveProperty('userAgent')
  })

  test('a claim that is not a hash is refused before it is stored', async () => {
    const secret = newSecret()
    await opened.secrets.create(secret)
    const before = await rawItem(opened.db, secret.id)
    for (const claimHash of ['', 'a claim in clear', tokenHash('reader').toUpperCase()]) {
      const refused = { name: 'ItemMismatch', attributes: ['lastAccessToken'] }
      const claimed = opened.secrets.claim(secret.id, claimOf('reader', { claimHash }))
      await expect(claimed).rejects.toMatchObject(refused)
      await expect(opened.secrets.ack(secret.id, claimHash)).rejects.toMatchObject(refused)
    }
    expect(await rawItem(opened.db, secret.id)).toEqual(before)
  })

  test('the largest ciphertext of the specification is stored', async () => {
    const secret = newSecret({ ciphertext: 'A'.repeat(MAX_CIPHERTEXT_CHARS) })
    expect(MAX_CIPHERTEXT_CHARS).toBe(68_380)
    await opened.secrets.create(secret)
    expect(await opened.secrets.claim(secret.id, claimOf('reader'))).toMatchObject({
      secret: { ciphertext: secret.ciphertext },
    })
  })

  test('a damaged or foreign item is an error with table and key but without its content', async () => {
    const secret = newSecret({ ciphertext: 'c2VjcmV0' })
    await opened.secrets.create(secret)
    const stored = await rawItem(opened.db, secret.id)
    for (const damage of [
      { remainingViews: -1 },
      { claims: 'none' },
      { linkHash: 'text' },
      { comment: 'c2VjcmV0' },
    ]) {
      await opened.db.putItem({
        TableName: 'sealed-secrets',
        Item: { ...stored, ...damage, id: secret.id },
      })
      const calls = [
        opened.secrets.claim(secret.id, claimOf('reader')),
        opened.secrets.burn(secret.id, tokenHash('burn')),
        opened.secrets.status(secret.id, tokenHash('burn')),
        opened.secrets.endIfOver(secret.id),
      ]
      for (const outcome of await Promise.allSettled(calls)) {
        expect(outcome).toMatchObject({
          reason: { name: 'ItemMismatch', table: 'sealed-secrets', key: { id: secret.id } },
        })
        expect(
          JSON.stringify(outcome) + String((outcome as { reason?: unknown }).reason),
        ).not.toContain('c2VjcmV0')
      }
    }
  })

  test('a tombstone with other attributes of its secret is an error too', async () => {
    const id = newId()
    await opened.db.putItem({
      TableName: 'sealed-secrets',
      Item: { id, expiresAt: now() + 300, iv: 'BwcHBwcHBwcHBwcH' },
    })
    await expect(opened.secrets.claim(id, claimOf('reader'))).rejects.toMatchObject({
      name: 'ItemMismatch',
      attributes: ['iv'],
    })
  })
})
