import { randomUUID } from 'node:crypto'
import { testStores } from '@strongroom/kit/testing/stores'
import { createApp } from '@strongroom/kit/http/app'
import { openApiDocument } from '@strongroom/kit/http/openapi'
import { silentLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { mountService } from '@strongroom/kit/http/mount-service'
import { testSecrets } from '@strongroom/kit/testing/test-secrets'
import { describe, expect, test } from 'vitest'
import { keyStoreService } from '../../src/service.ts'
import { openKeyStoreOn } from '../../src/start.ts'
import { TABLE } from '../support/branch-keys.ts'
import { openKeyStoreService } from '../support/open-service.ts'

const [store] = testStores()
if (!store) throw new Error('There is no store')

describe('the key store responds only to operators', () => {
  const opened = openKeyStoreService(store)

  async function app() {
    const [log, metrics] = [silentLog, createMetrics()]
    const made = createApp({ log, metrics })
    const { db, clock, kmsKey } = opened
    await mountService(made, keyStoreService, {
      db,
      clock,
      kmsKey,
      log,
      metrics,
      secrets: testSecrets(),
      publicUrl: 'http://localhost:4280',
      config: {},
    })
    return made
  }

  test('every route of it needs the token of an operator', async () => {
    const mounted = await app()
    const { paths } = openApiDocument(mounted, { title: 'Strongroom', version: '0' })
    const operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => [method.toUpperCase(), path] as const),
    )
    expect(operations).toHaveLength(4)
    for (const [method, path] of operations) {
      for (const authorization of [
        '',
        'Bearer ',
        'Bearer sro_tester.wrong',
        `Basic ${opened.token}`,
      ]) {
        const answer = await mounted.request(path.replace('{id}', 'any'), {
          method,
          headers: { authorization, 'content-type': 'application/json' },
          ...(method === 'POST' && { body: '{}' }),
        })
        expect([method, path, answer.status]).toEqual([method, path, 401])
        expect(await answer.json()).toMatchObject({ error: { code: 'operator.unauthorized' } })
      }
    }
  })

  test('no response contains a plaintext or wrapped key', async () => {
    const id = randomUUID()
    const answers = [
      await opened.ask('POST', '/keys', { id, encryptionContext: { tenant: 'a' } }),
      await opened.ask('POST', `/keys/${id}/versions`),
      await opened.ask('GET', `/keys/${id}`),
      await opened.ask('GET', '/keys'),
    ]
    const text = JSON.stringify(answers.map(({ body }) => body))
    const keyStore = openKeyStoreOn(opened)
    const { branchKey } = await keyStore.getActiveBranchKey({ branchKeyIdentifier: id })
    const { beaconKey } = await keyStore.getBeaconKey({ branchKeyIdentifier: id })
    for (const key of [branchKey, beaconKey].map((bytes) => Buffer.from(bytes))) {
      for (const form of ['hex', 'base64', 'base64url'] as const)
        expect(text).not.toContain(key.toString(form))
      expect(text).not.toContain(JSON.stringify([...key]))
    }
    expect(text).not.toMatch(/enc"|ciphertext/i)
  })

  test('the log contains the operator and the action, but no key', async () => {
    const id = `private-${randomUUID()}`
    await opened.ask('POST', '/keys', { id, encryptionContext: { tenant: 'secret-tenant' } })
    await opened.ask('POST', `/keys/${id}/versions`)
    await opened.ask('POST', '/keys', { id, encryptionContext: { tenant: 'secret-tenant' } })
    await opened.ask('GET', `/keys/${id}`)
    const Key = { 'branch-key-id': id, type: 'branch:ACTIVE' }
    const { Item } = await opened.db.getItem({ TableName: TABLE, Key })
    for (const damage of [{ enc: 'secret-text' }, { 'aws-crypto-ec:tenant': 'secret-text' }]) {
      await opened.db.putItem({ TableName: TABLE, Item: { ...Item, ...damage } })
      expect((await opened.ask('POST', `/keys/${id}/versions`)).status).toBe(500)
    }
    const logged = opened.logged.join('')
    expect(logged).toMatch(/Branch key created.*"operator":"tester"/)
    expect(logged).toMatch(/Branch key rotated.*"operator":"tester"/)
    expect(logged).not.toContain(id)
    expect(logged).toContain('request failed')
    expect(logged).not.toMatch(/secret-te/)
    expect(logged).not.toContain(opened.token)
  })
})
