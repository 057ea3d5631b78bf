import { type Db, eachOperation } from '@strongroom/kit/db'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { openDb, startApp } from '../support/sealed-app.ts'
import {
  ack,
  burn,
  createSecret,
  newClaim,
  newKeys,
  reveal,
  status,
} from '../support/sealed-client.ts'
import { rawItem } from '../support/secrets.ts'

describe.each(serviceStores())('background work on $name', (store) => {
  const opened = openDb(store)
  const isThere = async (id: string) => (await rawItem(opened.db, id))?.['ciphertext'] !== undefined

  test('ends a consumed secret at the deadline of its claim without a request', async () => {
    const app = await startApp(opened.db)
    const { id, keys } = await createSecret(app)
    await reveal(app, id, keys)
    app.clock.advance({ seconds: 29 })
    await app.settle()
    expect(await isThere(id)).toBe(true)
    app.clock.advance({ seconds: 1 })
    await app.settle()
    expect(await isThere(id)).toBe(false)
  })

  test('an acknowledgement ends the secret in one write, without a read then or later', async () => {
    const app = await startApp(opened.db)
    const { id, keys } = await createSecret(app)
    const claim = newClaim()
    await reveal(app, id, { ...keys, claim })
    await app.settle()
    const before = app.operations.length
    await ack(app, id, claim)
    expect(await isThere(id)).toBe(false)
    app.clock.advance({ seconds: 30 })
    await app.settle()
    expect(app.operations.slice(before)).toEqual(['updateItem'])
  })

  test('waits for the last of several readers', async () => {
    const app = await startApp(opened.db)
    const { id, keys } = await createSecret(app, { maxViews: 2 })
    const last = newClaim()
    await reveal(app, id, keys)
    app.clock.advance({ seconds: 20 })
    await reveal(app, id, { ...keys, claim: last })
    app.clock.advance({ seconds: 29 })
    await app.settle()
    expect((await reveal(app, id, { ...keys, claim: last })).status).toBe(200)
    app.clock.advance({ seconds: 1 })
    await app.settle()
    expect(await isThere(id)).toBe(false)
  })

  test('ends many consumed secrets, and leaves no timer behind', async () => {
    const app = await startApp(opened.db)
    const secrets = await Promise.all(Array.from({ length: 50 }, () => createSecret(app)))
    await Promise.all(secrets.map(({ id, keys }) => reveal(app, id, keys)))
    // One for the secrets, one for the figures of the minute.
    expect(app.timers.waiting).toBe(2)
    app.clock.advance({ seconds: 30 })
    await app.settle()
    expect(await Promise.all(secrets.map(({ id }) => isThere(id)))).toEqual(
      secrets.map(() => false),
    )
    app.clock.advance({ seconds: 30 })
    await app.settle()
    expect(app.timers.waiting).toBe(0)
  })

  test.each<[string, (app: Awaited<ReturnType<typeof startApp>>, id: string) => Promise<Response>]>(
    [
      ['a reader', (app, id) => reveal(app, id, newKeys())],
      ['an acknowledgement', (app, id) => ack(app, id, newClaim())],
      ['a burn', (app, id) => burn(app, id, newClaim())],
    ],
  )('ends an expired secret that %s names, after the answer', async (_, touch) => {
    const app = await startApp(opened.db)
    const { id } = await createSecret(app, { ttlSeconds: 900 })
    app.clock.advance({ seconds: 900 })
    await touch(app, id)
    expect(await isThere(id)).toBe(true)
    await app.settle()
    expect(await rawItem(opened.db, id)).toBeUndefined()
  })

  test('sweeps at the start what a stopped server left behind', async () => {
    const before = await startApp(opened.db)
    const consumed = await createSecret(before)
    const live = await createSecret(before)
    const expired = await createSecret(before, { ttlSeconds: 900 })
    before.clock.advance({ seconds: 900 })
    await reveal(before, consumed.id, consumed.keys)
    await before.close()
    const { clock } = before
    clock.advance({ seconds: 10 })
    const after = await startApp(opened.db, { clock, env: { SEALED_SWEEP_MINUTES: '10' } })
    await after.settle()
    const { id } = expired
    expect([await isThere(id), await isThere(consumed.id), await isThere(live.id)]).toEqual([
      false,
      true,
      true,
    ])
    // The next sweep runs when the claim ends, not ten minutes later.
    clock.advance({ seconds: 20 })
    await after.settle()
    expect([await isThere(consumed.id), await isThere(live.id)]).toEqual([false, true])
  })

  test('sweeps repeatedly', async () => {
    const app = await startApp(opened.db, { env: { SEALED_SWEEP_MINUTES: '10' } })
    const { id } = await createSecret(app, { ttlSeconds: 900 })
    await app.settle()
    app.clock.advance({ minutes: 10 })
    await app.settle()
    expect(await isThere(id)).toBe(true)
    app.clock.advance({ minutes: 10 })
    await app.settle()
    expect(await rawItem(opened.db, id)).toBeUndefined()
  })

  test('leaves everything to TTL if sweeping is turned off', async () => {
    const app = await startApp(opened.db, { env: { SEALED_SWEEP_MINUTES: '0' } })
    await app.settle()
    expect([app.operations, app.timers.waiting]).toEqual([[], 0])
  })

  test('scans the table by default, but on AWS only if configured', async () => {
    const unset = { SEALED_SWEEP_MINUTES: undefined, SEALED_QUOTA_MB: undefined }
    const told = { SEALED_SWEEP_MINUTES: '5', SEALED_QUOTA_MB: '1' }
    const apps = [
      await startApp(opened.db, { env: unset }),
      await startApp(opened.db, { env: unset, store: 'aws' }),
      await startApp(opened.db, { env: told, store: 'aws' }),
    ]
    for (const app of apps) {
      await createSecret(app)
      await app.settle()
    }
    expect(apps.map(({ operations }) => operations.includes('scan'))).toEqual([true, false, true])
  })

  test('continues after a failure of the store and logs it without naming a secret', async () => {
    let isDown = false
    const failing: Db = eachOperation((name) => (input) => {
      if (isDown && name === 'scan') return Promise.reject(new Error('The store is down'))
      return opened.db[name](input)
    })
    const app = await startApp(failing, { env: { SEALED_SWEEP_MINUTES: '10' } })
    const { id } = await createSecret(app, { ttlSeconds: 900 })
    await app.settle()
    isDown = true
    app.clock.advance({ minutes: 20 })
    await app.settle()
    expect(await isThere(id)).toBe(true)
    expect(app.lines.at(-1)).toContain('sweep failed, retrying later')
    isDown = false
    app.clock.advance({ minutes: 10 })
    await app.settle()
    expect(await isThere(id)).toBe(false)
  })

  test('ends the other secrets although one is damaged, and logs it without naming it', async () => {
    const app = await startApp(opened.db)
    const [damaged, sound] = [await createSecret(app), await createSecret(app)]
    for (const { id, keys } of [damaged, sound]) await reveal(app, id, keys)
    await opened.db.updateItem({
      TableName: 'sealed-secrets',
      Key: { id: damaged.id },
      UpdateExpression: 'SET iv = :iv',
      ExpressionAttributeValues: { ':iv': 'damaged' },
    })
    app.clock.advance({ seconds: 30 })
    await app.settle()
    expect(await isThere(sound.id)).toBe(false)
    const line = app.lines.at(-1) ?? ''
    expect(line).toContain('secret not ended, leaving it to the next sweep or TTL')
    expect(line).not.toContain(damaged.id)
    await opened.db.deleteItem({ TableName: 'sealed-secrets', Key: { id: damaged.id } })
  })

  test('stops with the service and leaves no timer', async () => {
    const app = await startApp(opened.db, { env: { SEALED_SWEEP_MINUTES: '10' } })
    const { id, keys } = await createSecret(app)
    await reveal(app, id, keys)
    await app.close()
    expect(app.timers.waiting).toBe(0)
  })
})

describe.each(serviceStores())('a receipt over HTTP on $name', (store) => {
  const opened = openDb(store)

  test('is pending, then viewed with the time, even after the secret has ended and expired', async () => {
    const app = await startApp(opened.db)
    const { id, keys, burnToken } = await createSecret(app, { receipt: true, ttlSeconds: 900 })
    expect(await (await status(app, id, burnToken)).json()).toEqual({
      state: 'pending',
      views: 0,
      maxViews: 1,
    })
    app.clock.advance({ seconds: 60 })
    const viewedAt = Math.floor(app.clock.now() / 1000)
    const viewed = { state: 'viewed', viewedAt, views: 1, maxViews: 1 }
    await reveal(app, id, keys)
    expect(await (await status(app, id, burnToken)).json()).toEqual(viewed)
    app.clock.advance({ days: 7 })
    await app.settle()
    expect(await (await status(app, id, burnToken)).json()).toEqual(viewed)
    expect(Object.keys((await rawItem(opened.db, id)) ?? {}).toSorted()).toEqual([
      'burnToken',
      'expiresAt',
      'id',
      'lastAccessAt',
      'maxViews',
      'remainingViews',
    ])
    app.clock.advance({ seconds: 900 })
    expect((await status(app, id, burnToken)).status).toBe(404)
  })

  test('says that a burned secret is gone', async () => {
    const app = await startApp(opened.db)
    const { id, burnToken } = await createSecret(app, { receipt: true })
    await burn(app, id, burnToken)
    expect(await (await status(app, id, burnToken)).json()).toEqual({
      state: 'gone',
      views: 0,
      maxViews: 1,
    })
  })
})
