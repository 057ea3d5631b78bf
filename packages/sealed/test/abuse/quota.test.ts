import { type Db, eachOperation } from '@strongroom/kit/db'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, test } from 'vitest'
import { createQuota } from '../../src/abuse/quota.ts'
import { openDb, startApp, type SealedApp } from '../support/sealed-app.ts'
import {
  burn,
  codeOf,
  createSecret,
  issueToken,
  newCiphertext,
  newKeys,
  newSecretBody,
  postSecret,
} from '../support/sealed-client.ts'

const MEGABYTE = 1024 * 1024
const env = { SEALED_QUOTA_MB: '1' }
const large = newCiphertext(51_204)

async function storedBytes(db: Db): Promise<number> {
  const { Items = [] } = await db.scan({ TableName: 'sealed-secrets' })
  return Items.reduce((sum, item) => sum + JSON.stringify(item).length, 0)
}

async function create(app: SealedApp): Promise<Response> {
  const { token } = await issueToken(app)
  return postSecret(app, token, newSecretBody(newKeys(), { ciphertext: large }))
}

const createMany = (app: SealedApp, count: number) =>
  Promise.all(Array.from({ length: count }, () => create(app)))
const stored = (answers: Response[]) => answers.filter(({ status }) => status === 201)

describe.each(serviceStores())('the quota of stored bytes on $name', (store) => {
  // One table for each test, because the quota counts the whole table.
  describe('under a flood', () => {
    const opened = openDb(store)

    test('is not exceeded by concurrent creations or after a restart', async () => {
      const app = await startApp(opened.db, { env })
      const answers = await createMany(app, 40)
      expect(stored(answers)).toHaveLength(15)
      expect(await storedBytes(opened.db)).toBeLessThan(MEGABYTE)
      const refused = answers.filter(({ status }) => status !== 201)
      expect(await Promise.all(refused.map(codeOf))).toEqual(refused.map(() => 'sealed.full'))
      expect(refused.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual(
        refused.map(() => [507, '60']),
      )
      const restarted = await startApp(opened.db, { env })
      expect(stored(await createMany(restarted, 5))).toHaveLength(0)
      expect(stored(await createMany(await startApp(opened.db), 1))).toHaveLength(1)
    })
  })

  describe('when secrets end', () => {
    const opened = openDb(store)

    test('has room again within a minute', async () => {
      const app = await startApp(opened.db, { env })
      const secrets = []
      for (let count = 0; count < 15; count++)
        secrets.push(await createSecret(app, { ciphertext: large }))
      for (const { id, burnToken } of secrets.slice(0, 3)) await burn(app, id, burnToken)
      expect((await create(app)).status).toBe(507)
      app.clock.advance({ minutes: 1 })
      expect(stored(await createMany(app, 5))).toHaveLength(3)
      expect(await storedBytes(opened.db)).toBeLessThan(MEGABYTE)
    })
  })

  describe('with a sweep', () => {
    const opened = openDb(store)

    test('counts what other servers have stored', async () => {
      const app = await startApp(opened.db, { env: { ...env, SEALED_SWEEP_MINUTES: '1' } })
      const other = await startApp(opened.db, { clock: app.clock })
      await app.settle()
      expect(stored(await createMany(other, 15))).toHaveLength(15)
      app.clock.advance({ minutes: 1 })
      await app.settle()
      expect((await create(app)).status).toBe(507)
    })
  })

  describe('during a slow count', () => {
    const opened = openDb(store)

    test('counts the creations that were in flight and those that started since', async () => {
      const [scan, write] = [gate(), gate()]
      const slow: Db = eachOperation((name) => async (input) => {
        const answer = await opened.db[name](input)
        await scan.pass()
        return answer
      })
      const clock = testClock()
      const quota = createQuota({ db: slow, clock, maxBytes: 3 * (large.length + 600) })
      const underWay = quota.storeWithin(large, async () => {
        await write.pass()
        return true
      })
      await scan.arrived
      scan.open()
      await write.arrived
      const again = gate()
      scan.pass = again.pass
      const looking = quota.recount()
      await again.arrived
      expect(await quota.storeWithin(large, async () => true)).toBe(true)
      again.open()
      await looking
      write.open()
      expect(await underWay).toBe(true)
      expect(await quota.storeWithin(large, async () => true)).toBe(true)
      await expect(quota.storeWithin(large, async () => true)).rejects.toMatchObject({
        code: 'sealed.full',
      })
    })
  })

  describe('with a token that was used', () => {
    const opened = openDb(store)

    test('does not count a secret that was not stored', async () => {
      const app = await startApp(opened.db, { env })
      const { token } = await createSecret(app, { ciphertext: large })
      const body = newSecretBody(newKeys(), { ciphertext: large })
      for (let again = 0; again < 20; again++)
        expect((await postSecret(app, token, body)).status).toBe(401)
      expect((await create(app)).status).toBe(201)
    })
  })
})

/** Something to wait at, until it is opened. */
function gate() {
  let [open, arrive] = [() => {}, () => {}]
  const opened = new Promise<void>((resolve) => (open = resolve))
  const arrived = new Promise<void>((resolve) => (arrive = resolve))
  const pass = () => {
    arrive()
    return opened
  }
  return { arrived, open: () => open(), pass }
}
