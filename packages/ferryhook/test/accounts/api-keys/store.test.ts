import { createHash } from 'node:crypto'
import { ItemMismatch } from '@strongroom/kit/db-errors'
import { newId } from '@strongroom/kit/ids'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashApiKey } from '../../../src/accounts/api-keys/store.ts'
import { storesOn, openWorkbench, outcomes, type Workbench } from '../../support/test-stores.ts'

describe.each(serviceStores())('API keys on $name', (store) => {
  let bench: Workbench
  let apiKeys: Workbench['stores']['apiKeys']

  beforeAll(async () => {
    bench = await openWorkbench({ store })
    apiKeys = bench.stores.apiKeys
  })
  afterAll(() => bench.close())

  const input = { name: 'Production', permissions: 'write' as const }

  test('an API key is stored attribute for attribute as the specification shows, by its hash only', async () => {
    const userId = newId('usr')
    const { key, apiKey } = await apiKeys.create(userId, input)
    const { keyId } = apiKey
    const keyHash = createHash('sha256').update(key).digest('hex')
    expect(key).toMatch(/^fh_live_[\w-]{43}$/)
    expect(keyId).toMatch(/^key_[\w-]{16}$/)
    const stored = await bench.stored('ferryhook-main', {
      PK: `USER#${userId}`,
      SK: `KEY#${keyId}`,
    })
    expect(stored).toEqual({
      PK: `USER#${userId}`,
      SK: `KEY#${keyId}`,
      GSI2PK: `KEYHASH#${keyHash}`,
      GSI2SK: 'KEY',
      GSI3PK: `KEYID#${keyId}`,
      GSI3SK: 'KEY',
      keyId,
      userId,
      name: 'Production',
      keyHash,
      keyPrefix: key.slice(8, 16),
      permissions: 'write',
      createdAt: '2100-01-01T00:00:00.000Z',
    })
    expect(JSON.stringify(stored)).not.toContain(key.slice(16))
  })

  test('an API key is found by its hash', async () => {
    const { key, apiKey } = await apiKeys.create(newId('usr'), input)
    expect(await apiKeys.getByHash(hashApiKey(key))).toEqual(apiKey)
    expect(await apiKeys.getByHash(hashApiKey('fh_live_other'))).toBeNull()
  })

  test('a deleted API key is rejected even if the index still contains it', async () => {
    const { key, apiKey } = await apiKeys.create(newId('usr'), input)
    const stale = storesOn(bench.db, bench.clock, { seed: 3, staleIndex: 0.5 }).apiKeys
    for (let asked = 0; asked < 10; asked++) await stale.getByHash(hashApiKey(key))
    expect(await outcomes([apiKeys.delete(apiKey.keyId, newId('usr'))])).toEqual(['not_found'])
    await apiKeys.delete(apiKey.keyId, apiKey.userId)
    for (let asked = 0; asked < 10; asked++) {
      expect(await stale.getByHash(hashApiKey(key))).toBeNull()
    }
  })

  test('only the API keys of the user are listed', async () => {
    const userId = newId('usr')
    const { apiKey } = await apiKeys.create(userId, input)
    await apiKeys.create(newId('usr'), input)
    expect(await apiKeys.listByUser(userId)).toEqual([apiKey])
  })

  test('the last use of an API key is recorded by its id alone, to the minute', async () => {
    const { key, apiKey } = await apiKeys.create(newId('usr'), input)
    const { keyId, userId } = apiKey
    const lastUsed = async () => (await apiKeys.getByHash(hashApiKey(key)))?.lastUsedAt
    await apiKeys.updateLastUsed(keyId)
    const first = new Date(bench.clock.now()).toISOString()
    bench.clock.advance({ seconds: 59 })
    await apiKeys.updateLastUsed(keyId)
    expect(await lastUsed()).toBe(first)
    bench.clock.advance({ seconds: 1 })
    await apiKeys.updateLastUsed(keyId, { userId })
    expect(await lastUsed()).toBe(new Date(bench.clock.now()).toISOString())
    expect(await outcomes([apiKeys.updateLastUsed(newId('key'))])).toEqual(['not_found'])
    await apiKeys.delete(keyId, userId)
    expect(await outcomes([apiKeys.updateLastUsed(keyId, { userId })])).toEqual(['not_found'])
    expect(await apiKeys.listByUser(userId)).toEqual([])
  })

  test('an invalid API key is rejected before it reaches the store', async () => {
    const userId = newId('usr')
    const wrong = { name: 'x', permissions: 'root' as 'admin' }
    await expect(apiKeys.create(userId, wrong)).rejects.toThrow(ItemMismatch)
    expect(await apiKeys.listByUser(userId)).toEqual([])
  })
})
