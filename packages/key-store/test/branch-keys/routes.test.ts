import { randomUUID } from 'node:crypto'
import { everyStore, testStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { TABLE } from '../support/branch-keys.ts'
import { openKeyStoreService } from '../support/open-service.ts'

const context = { tenant: 'a' }
const UUID = expect.stringMatching(
  /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/,
)
const sorted = (pairs: object) => Object.entries(pairs).map(String).toSorted()
const at = (id: string) => `/keys/${encodeURIComponent(id)}`

describe.each(everyStore())('the key store over HTTP on $name', (store) => {
  const opened = openKeyStoreService(store)
  const ask: typeof opened.ask = (...request) => opened.ask(...request)

  test('makes a key with an id of its own, and describes it', async () => {
    const made = await ask('POST', '/keys', {})
    expect([made.status, made.body]).toEqual([201, { id: UUID }])
    const { id } = made.body as { id: string }
    const found = await ask('GET', at(id))
    expect([found.status, found.body]).toEqual([
      200,
      {
        id,
        active: {
          id,
          activeVersion: UUID,
          createTime: '2100-01-01T00:00:00.000000Z',
          ageSeconds: 0,
          kmsArn: opened.kmsKey.arn,
          encryptionContext: {},
        },
        versions: [
          {
            version: UUID,
            active: true,
            createTime: '2100-01-01T00:00:00.000000Z',
            ageSeconds: 0,
            kmsArn: opened.kmsKey.arn,
          },
        ],
        beacon: {
          createTime: '2100-01-01T00:00:00.000000Z',
          ageSeconds: 0,
          kmsArn: opened.kmsKey.arn,
        },
        unreadable: [],
        foreignItems: 0,
      },
    ])
  })

  test('lists keys that are older than an age, with their versions', async () => {
    const { id: old } = (await ask('POST', '/keys', {})).body as { id: string }
    opened.clock.advance({ days: 10 })
    const { id: rotated } = (await ask('POST', '/keys', {})).body as { id: string }
    await ask('POST', `${at(rotated)}/versions`)
    opened.clock.advance({ days: 400 })
    await ask('POST', `${at(rotated)}/versions`)
    type Listed = { id: string; versions?: { active: boolean; ageSeconds: number }[] }
    const all = async (query: string) => {
      const items: Listed[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const from: string = cursor === '' ? '' : `&cursor=${cursor}`
        const page = await ask('GET', `/keys?limit=2${query}${from}`)
        expect(page.status).toBe(200)
        const body = page.body as { items: Listed[]; cursor: string | null }
        items.push(...body.items)
        ;({ cursor } = body)
      }
      return new Map(items.map((item) => [item.id, item]))
    }
    const older = await all('&older=365d')
    expect([older.has(old), older.has(rotated)]).toEqual([true, false])
    expect(older.get(old)?.versions).toBeUndefined()
    const listed = await all('&versions=true')
    expect(listed.get(rotated)?.versions).toMatchObject([
      { active: true, ageSeconds: 0 },
      { active: false, ageSeconds: 400 * 86_400 },
      { active: false, ageSeconds: 400 * 86_400 },
    ])
    expect((await all('&older=411d')).size).toBe(0)
    expect((await ask('GET', '/keys?older=soon')).status).toBe(400)
  })

  test('adds encryption context as it is given, with the prefix in the table only', async () => {
    const id = randomUUID()
    const encryptionContext: unknown = JSON.parse(
      '{"department":"admin","ключ":"значение 🔑","aws-crypto-ec:x":"y"}',
    )
    expect((await ask('POST', '/keys', { id, encryptionContext })).status).toBe(201)
    const { active } = (await ask('GET', at(id))).body as { active: { encryptionContext: object } }
    expect(sorted(active.encryptionContext)).toEqual(sorted(encryptionContext as object))
    const { Item } = await opened.db.getItem({
      TableName: TABLE,
      Key: { 'branch-key-id': id, type: 'branch:ACTIVE' },
    })
    expect(Item).toMatchObject({
      'aws-crypto-ec:department': 'admin',
      'aws-crypto-ec:ключ': 'значение 🔑',
      'aws-crypto-ec:aws-crypto-ec:x': 'y',
    })
  })

  test('rotates: old versions stay, the newest is first and active, the beacon key is the same', async () => {
    const id = randomUUID()
    await ask('POST', '/keys', { id, encryptionContext: context })
    const before = (await ask('GET', at(id))).body as { active: { activeVersion: string } }
    opened.clock.advance({ days: 3 })
    const rotated = (await ask('POST', `${at(id)}/versions`)).body as { version: string }
    opened.clock.advance({ hours: 1 })
    const day = 24 * 60 * 60
    expect((await ask('GET', at(id))).body).toMatchObject({
      active: { activeVersion: rotated.version, ageSeconds: 3600, encryptionContext: context },
      versions: [
        { version: rotated.version, active: true, ageSeconds: 3600 },
        { version: before.active.activeVersion, active: false, ageSeconds: 3 * day + 3600 },
      ],
      beacon: { ageSeconds: 3 * day + 3600 },
    })
  })

  test('of five simultaneous rotations at least one succeeds and the others fail with a race', async () => {
    const id = randomUUID()
    await ask('POST', '/keys', { id, encryptionContext: context })
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => ask('POST', `${at(id)}/versions`)),
    )
    const done = answers.filter(({ status }) => status === 201)
    const raced = answers.filter(({ status }) => status === 409)
    expect(done.length).toBeGreaterThanOrEqual(1)
    expect(done.length + raced.length).toBe(5)
    for (const { body } of raced)
      expect(body).toMatchObject({ error: { code: 'key-store.version_race' } })
    const { versions } = (await ask('GET', at(id))).body as { versions: unknown[] }
    expect(versions).toHaveLength(1 + done.length)
  })
})

describe.each(testStores())('an id in an address on $name', (store) => {
  const opened = openKeyStoreService(store)

  test.each([
    'ferryhook:user-42',
    'a/b/c',
    'a//versions',
    '/',
    'a%2Fb',
    'a%252Fb',
    '100 %',
    'a?b=c&d#e',
    'a+b c',
    '...',
    'schlüssel 🔑',
    ' ',
    '\n',
    '\'"<>\\',
    'versions',
    'x'.repeat(2048),
  ])('may be "%s"', async (id) => {
    const made = await opened.ask('POST', '/keys', { id, encryptionContext: context })
    expect([made.status, made.body]).toEqual([201, { id }])
    const rotated = await opened.ask('POST', `${at(id)}/versions`)
    expect([rotated.status, rotated.body]).toEqual([201, { id, version: UUID }])
    const { version } = rotated.body as { version: string }
    expect((await opened.ask('GET', at(id))).body).toMatchObject({
      id,
      active: { id, activeVersion: version },
    })
  })

  test.each(['.', '..'])('cannot be "%s", so that no such key is made', async (id) => {
    const { status, body } = await opened.ask('POST', '/keys', { id, encryptionContext: context })
    expect([status, body]).toMatchObject([
      400,
      { error: { code: 'request.invalid', details: [{ path: 'body.id' }] } },
    ])
  })
})

describe.each(everyStore())('the list of keys over HTTP on $name', (store) => {
  const opened = openKeyStoreService(store)

  interface Page {
    items: { id: string }[]
    unreadable: { id: string; problem: string }[]
    cursor: string | null
  }
  const page = async (query: string) => (await opened.ask('GET', `/keys?${query}`)).body as Page

  test('has every key once, in pages, and what cannot be read beside them', async () => {
    const made = Array.from({ length: 7 }, (_, number) => `key:${number}`)
    for (const id of made) await opened.ask('POST', '/keys', { id, encryptionContext: context })
    for (const type of ['branch:ACTIVE', 'branch:MUTATION_INDEX']) {
      await opened.db.putItem({ TableName: TABLE, Item: { 'branch-key-id': 'damaged', type } })
    }
    const seen: string[] = []
    const unreadable: unknown[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const more: Page = await page(`limit=3${cursor && `&cursor=${cursor}`}`)
      expect(more.items.length + more.unreadable.length).toBeLessThanOrEqual(3)
      seen.push(...more.items.map(({ id }) => id))
      unreadable.push(...more.unreadable)
      cursor = more.cursor
    }
    expect(seen.toSorted()).toEqual(made)
    expect(unreadable).toEqual([
      { id: 'damaged', problem: expect.stringContaining('Cannot read an item') },
    ])
    expect((await page('')).cursor).toBeNull()
  })

  test('describes a damaged key by what is wrong with it, and counts items of others', async () => {
    await opened.db.putItem({
      TableName: TABLE,
      Item: { 'branch-key-id': 'half', type: 'branch:ACTIVE' },
    })
    await opened.db.putItem({
      TableName: TABLE,
      Item: { 'branch-key-id': 'half', type: 'branch:MUTATION_COMMITMENT' },
    })
    expect((await opened.ask('GET', '/keys/half')).body).toEqual({
      id: 'half',
      active: null,
      versions: [],
      beacon: null,
      unreadable: [{ type: 'branch:ACTIVE', problem: expect.stringContaining('enc') }],
      foreignItems: 1,
    })
  })

  test('shows a creation time that cannot be read as it is, with an unknown age', async () => {
    await opened.ask('POST', '/keys', { id: 'timeless', encryptionContext: context })
    await opened.db.updateItem({
      TableName: TABLE,
      Key: { 'branch-key-id': 'timeless', type: 'branch:ACTIVE' },
      UpdateExpression: 'SET #time = :time',
      ExpressionAttributeNames: { '#time': 'create-time' },
      ExpressionAttributeValues: { ':time': 'long ago' },
    })
    expect((await opened.ask('GET', '/keys/timeless')).body).toMatchObject({
      active: { createTime: 'long ago', ageSeconds: null },
    })
  })

  test.each(['nonsense', 'AAAA'])('refuses the cursor "%s"', async (cursor) => {
    const { status, body } = await opened.ask('GET', `/keys?cursor=${cursor}`)
    expect([status, body]).toMatchObject([400, { error: { code: 'request.invalid_cursor' } }])
  })

  test.each(['0', '101', 'all', '-1', '1.5'])('refuses the limit %s', async (limit) => {
    const { status, body } = await opened.ask('GET', `/keys?limit=${limit}`)
    expect([status, body]).toMatchObject([
      400,
      { error: { code: 'request.invalid', details: [{ path: 'query.limit' }] } },
    ])
  })
})
