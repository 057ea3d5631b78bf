import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { eachOperation, type Db, type Item } from '@strongroom/kit/db'
import type { Kms } from '@strongroom/kit/kms'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { keyStoreError } from '../../src/errors.ts'
import { TABLE } from '../support/branch-keys.ts'
import { type Answer, openKeyStoreService } from '../support/open-service.ts'

const context = { tenant: 'a' }

describe.each(serviceStores())('the errors of the key store over HTTP on $name', (store) => {
  const opened = openKeyStoreService(store)
  const seen = new Set<string>()

  /** The code of an answer that is as the catalogue has it; of any other, all of it. */
  function errorOf({ status, body }: Answer): string {
    const { error } = body as { error?: { code: string } }
    const entry = keyStoreError.catalogue.find(({ code }) => code === error?.code)
    const isAsListed =
      entry?.status === status &&
      isDeepStrictEqual(error, { code: entry.code, message: entry.message })
    if (!isAsListed) return JSON.stringify({ status, body })
    seen.add(entry.code)
    return entry.code
  }

  async function newKey(): Promise<string> {
    const id = randomUUID()
    const { status } = await opened.ask('POST', '/keys', { id, encryptionContext: context })
    expect(status).toBe(201)
    return id
  }

  const rotate = (id: string, ask = opened.ask) =>
    ask('POST', `/keys/${encodeURIComponent(id)}/versions`)

  async function isThere(id: string): Promise<boolean> {
    return (await opened.ask('GET', `/keys/${encodeURIComponent(id)}`)).status === 200
  }

  async function alter(id: string, changed: Item) {
    const Key = { 'branch-key-id': id, type: 'branch:ACTIVE' }
    const { Item: found } = await opened.db.getItem({ TableName: TABLE, Key })
    await opened.db.putItem({ TableName: TABLE, Item: { ...found, ...changed } })
  }

  test.each(['', 'x'.repeat(2049), 'half \ud83d'])('an id that no key can have', async (id) => {
    expect(errorOf(await opened.ask('POST', '/keys', { id, encryptionContext: context }))).toBe(
      'key-store.invalid_id',
    )
  })

  test('an id in an address that no key can have', async () => {
    expect(errorOf(await rotate('x'.repeat(2049)))).toBe('key-store.invalid_id')
    expect(errorOf(await opened.ask('GET', `/keys/${'x'.repeat(2049)}`))).toBe(
      'key-store.invalid_id',
    )
  })

  test('an id without encryption context', async () => {
    const id = randomUUID()
    expect(errorOf(await opened.ask('POST', '/keys', { id }))).toBe('key-store.context_required')
    expect(errorOf(await opened.ask('POST', '/keys', { id, encryptionContext: {} }))).toBe(
      'key-store.context_required',
    )
    expect(await isThere(id)).toBe(false)
  })

  test('encryption context that is too long or half a character', async () => {
    for (const encryptionContext of [{ a: 'x'.repeat(4082) }, { a: '\ud83d' }, { '\udc00': 'a' }]) {
      const id = randomUUID()
      const answer = await opened.ask('POST', '/keys', { id, encryptionContext })
      expect(errorOf(answer)).toBe('key-store.invalid_context')
      expect(await isThere(id)).toBe(false)
    }
    const longest = { a: 'x'.repeat(4081) }
    expect((await opened.ask('POST', '/keys', { encryptionContext: longest })).status).toBe(201)
  })

  test.each([
    [{ encryptionContext: { a: 1 } }, 'body.encryptionContext'],
    [{ encryptionContext: ['a'] }, 'body.encryptionContext'],
    [{ encryptionContext: null }, 'body.encryptionContext'],
    [{ encryptionContext: 'a=b' }, 'body.encryptionContext'],
    [{ id: 5 }, 'body.id'],
    [{ ID: 'slip' }, 'body.ID'],
  ])('a body of another form: %j', async (body, path) => {
    const answer = await opened.ask('POST', '/keys', body)
    expect([answer.status, answer.body]).toMatchObject([
      400,
      { error: { code: 'request.invalid', details: [{ path }] } },
    ])
  })

  test('a key that there is already', async () => {
    const id = await newKey()
    const again = { id, encryptionContext: { tenant: 'b' } }
    expect(errorOf(await opened.ask('POST', '/keys', again))).toBe('key-store.exists')
  })

  test('a key that was never made', async () => {
    expect(errorOf(await rotate(randomUUID()))).toBe('key-store.not_found')
    expect(errorOf(await opened.ask('GET', `/keys/${randomUUID()}`))).toBe('key-store.not_found')
  })

  test('a key under whose id there are only items of others', async () => {
    const id = randomUUID()
    const type = 'branch:MUTATION_INDEX'
    await opened.db.putItem({ TableName: TABLE, Item: { 'branch-key-id': id, type } })
    expect(errorOf(await opened.ask('GET', `/keys/${id}`))).toBe('key-store.not_found')
  })

  test('a rotation that somebody else was faster with', async () => {
    const id = await newKey()
    // Rotates in between the reading and the writing of another rotation.
    const meddling: Db = eachOperation((name) => async (input) => {
      if (name === 'transactWriteItems') await rotate(id)
      return opened.db[name](input)
    })
    expect(errorOf(await rotate(id, await opened.askWith({ db: meddling })))).toBe(
      'key-store.version_race',
    )
  })

  test('a key under another KMS key', async () => {
    const id = await newKey()
    await alter(id, { 'kms-arn': 'arn:aws:kms:us-west-2:111122223333:key/other' })
    expect(errorOf(await rotate(id))).toBe('key-store.other_kms_key')
  })

  test('a key of another hierarchy version', async () => {
    const id = await newKey()
    await alter(id, { 'hierarchy-version': 2 })
    expect(errorOf(await rotate(id))).toBe('key-store.unsupported')
  })

  test.each<Item>([{ enc: 'text' }, { version: 'branch:version:none' }])(
    'a damaged key: %j',
    async (damage) => {
      const id = await newKey()
      await alter(id, damage)
      expect(errorOf(await rotate(id))).toBe('key-store.damaged')
    },
  )

  test('a key that somebody altered', async () => {
    const id = await newKey()
    await alter(id, { 'aws-crypto-ec:tenant': 'b' })
    expect(errorOf(await rotate(id))).toBe('key-store.not_authentic')
  })

  test('a store that returns another item', async () => {
    const [id, other] = [await newKey(), await newKey()]
    const lying: Db = eachOperation((name) => async (input) => {
      const asked = input as { TableName: string; Key: Item }
      if (name !== 'getItem' || asked.TableName !== TABLE) return opened.db[name](input)
      return opened.db.getItem({ ...asked, Key: { ...asked.Key, 'branch-key-id': other } })
    })
    expect(errorOf(await rotate(id, await opened.askWith({ db: lying })))).toBe(
      'key-store.untrusted',
    )
  })

  test('a KMS that returns another key', async () => {
    const { kms } = opened.kmsKey
    const lying: Partial<Kms> = {
      generateDataKeyWithoutPlaintext: async (input) => ({
        ...(await kms.generateDataKeyWithoutPlaintext(input)),
        KeyId: 'arn:aws:kms:us-west-2:111122223333:key/other',
      }),
    }
    const ask = await opened.askWith({ kms: lying })
    expect(errorOf(await ask('POST', '/keys', {}))).toBe('key-store.untrusted')
  })

  test.each([
    ['AccessDeniedException', 'kms_denied'],
    ['DisabledException', 'kms_key_unusable'],
    ['SomethingNew', 'kms_failed'],
    ['KMSInternalException', 'kms_unavailable'],
  ] as const)('a KMS that fails with %s', async (name, code) => {
    const failing: Partial<Kms> = {
      generateDataKeyWithoutPlaintext: async () => {
        throw Object.assign(new Error('do-not-show'), { name })
      },
    }
    const ask = await opened.askWith({ kms: failing })
    const id = randomUUID()
    const answer = await ask('POST', '/keys', { id, encryptionContext: context })
    expect(errorOf(answer)).toBe(`key-store.${code}`)
    expect(answer.headers.get('retry-after')).toBe(code === 'kms_unavailable' ? '1' : null)
    expect(await isThere(id)).toBe(false)
  })

  test('of a store that is down is the one of the server', async () => {
    const down: Db = eachOperation((name) => async (input) => {
      if (name === 'transactWriteItems')
        throw Object.assign(new Error('busy'), { name: 'StoreBusy' })
      return opened.db[name](input)
    })
    const ask = await opened.askWith({ db: down })
    const { status, body } = await ask('POST', '/keys', {})
    expect([status, body]).toMatchObject([503, { error: { code: 'server.unavailable' } }])
  })

  test('is none of a list that fits a page while KMS cannot open the secret of cursors', async () => {
    const closed = async () => {
      throw Object.assign(new Error('disabled'), { name: 'DisabledException' })
    }
    const ask = await opened.askWith({ secrets: { current: closed, accepted: closed } })
    for (let made = 0; made < 2; made++) await ask('POST', '/keys', {})
    expect(await ask('GET', '/keys?limit=100')).toMatchObject({ status: 200 })
    const { status, body } = await ask('GET', '/keys?limit=1')
    expect([status, body]).toMatchObject([503, { error: { code: 'server.unavailable' } }])
  })

  test('have each been seen here', () => {
    expect([...seen].toSorted()).toEqual(keyStoreError.catalogue.map(({ code }) => code).toSorted())
  })
})
