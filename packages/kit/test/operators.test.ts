import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTables } from '../src/tables.ts'
import type { Db } from '../src/db.ts'
import { createApp } from '../src/http/app.ts'
import { type OperatorEnv, operatorOnly } from '../src/http/permissions.ts'
import { silentLog } from '../src/log.ts'
import { createMetrics } from '../src/metrics.ts'
import { createOperators, type Operators } from '../src/operators.ts'
import { serverTable } from '../src/server-table.ts'
import { testStores } from '../src/testing/stores.ts'
import { testClock } from '../src/testing/test-clock.ts'

describe.each(testStores())('operators on $name', (store) => {
  let db: Db
  let close: () => Promise<void>
  let operators: Operators
  let names = 0
  const clock = testClock()

  beforeAll(async () => {
    ;({ db, close } = await store.open())
    await createTables(db, [serverTable])
    operators = createOperators({ db, clock })
  })
  afterAll(() => close())

  const newName = () => `operator-${++names}`
  const stored = async (name: string) =>
    (
      await db.getItem({
        TableName: serverTable.name,
        Key: { PK: `OPERATOR#${name}`, SK: 'TOKEN' },
      })
    ).Item

  test('are identified by their token', async () => {
    const name = newName()
    const token = await operators.add(name)
    expect(token).toMatch(new RegExp(`^sro_${name}\\.[A-Za-z0-9_-]{43}$`))
    expect(await operators.verify(token)).toBe(name)
  })

  test('are stored with a hash of their token and nothing that reveals it', async () => {
    const name = newName()
    const token = await operators.add(name)
    const item = await stored(name)
    expect(item).toEqual({
      PK: `OPERATOR#${name}`,
      SK: 'TOKEN',
      name,
      tokenHash: expect.any(Uint8Array),
      createdAt: Date.parse('2100-01-01') / 1000,
    })
    expect(JSON.stringify(item)).not.toContain(token.split('.')[1])
  })

  test('are rejected with a wrong, truncated, foreign or malformed token', async () => {
    const [name, other] = [newName(), newName()]
    const token = await operators.add(name)
    await operators.add(other)
    const wrong = [
      token.slice(0, -1),
      `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`,
      token.replace(name, other),
      token.replace(name, 'nobody'),
      '',
      'sro_.',
      `${token} `,
    ]
    for (const each of wrong) expect(await operators.verify(each)).toBeUndefined()
  })

  test('get a new token by rotation, which invalidates the old one', async () => {
    const name = newName()
    const before = await operators.add(name)
    const after = await operators.rotate(name)
    expect(await operators.verify(before)).toBeUndefined()
    expect(await operators.verify(after)).toBe(name)
    expect(await stored(name)).toMatchObject({ rotatedAt: Date.parse('2100-01-01') / 1000 })
  })

  test('cannot sign in after they were removed', async () => {
    const name = newName()
    const token = await operators.add(name)
    await operators.remove(name)
    expect(await operators.verify(token)).toBeUndefined()
    expect(await stored(name)).toBeUndefined()
  })

  test('are listed by name, without their tokens', async () => {
    const name = newName()
    await operators.add(name)
    const listed = await operators.list()
    expect(listed.find((each) => each.name === name)).toEqual({
      name,
      createdAt: Date.parse('2100-01-01') / 1000,
      rotatedAt: undefined,
    })
    expect(listed.map((each) => each.name)).toEqual(listed.map((each) => each.name).toSorted())
  })

  test('cannot be added twice by concurrent calls with one name', async () => {
    const name = newName()
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => operators.add(name)))
    const [winner, ...more] = outcomes.filter((outcome) => outcome.status === 'fulfilled')
    expect(more).toEqual([])
    expect(await operators.verify(winner?.value ?? '')).toBe(name)
  })

  test.each(['', 'Admin', 'a b', '-a', 'a-', 'a#b', 'x'.repeat(33)])(
    'cannot be named "%s"',
    async (name) => {
      const invalid = expect.objectContaining({ code: 'operator.invalid_name' })
      await expect(operators.add(name)).rejects.toThrow(invalid)
      await expect(operators.rotate(name)).rejects.toThrow(invalid)
      await expect(operators.remove(name)).rejects.toThrow(invalid)
    },
  )

  test('cannot be added twice, and unknown ones cannot be rotated or removed', async () => {
    const name = newName()
    await operators.add(name)
    const error = (code: string) => expect.objectContaining({ code: `operator.${code}` })
    await expect(operators.add(name)).rejects.toThrow(error('exists'))
    await expect(operators.rotate('nobody')).rejects.toThrow(error('not_found'))
    await expect(operators.remove('nobody')).rejects.toThrow(error('not_found'))
  })

  describe('on a route for operators', () => {
    const ask = async (headers: Record<string, string>) => {
      const app = createApp({ log: silentLog, metrics: createMetrics() })
      const routes = new Hono<OperatorEnv>()
      routes.get('/whoami', operatorOnly(operators), (c) => c.text(c.get('operator')))
      app.route('/', routes as never)
      return app.request('/whoami', { headers })
    }

    test('are admitted and identified', async () => {
      const name = newName()
      const answer = await ask({ authorization: `Bearer ${await operators.add(name)}` })
      expect([answer.status, await answer.text()]).toEqual([200, name])
    })

    test('others get the same 401, whatever they send', async () => {
      const answers = await Promise.all(
        [{}, { authorization: 'Bearer x' }, { authorization: 'Basic x' }].map(ask),
      )
      for (const answer of answers) {
        expect(answer.status).toBe(401)
        expect(answer.headers.get('www-authenticate')).toBe('Bearer')
        expect(await answer.json()).toMatchObject({ error: { code: 'operator.unauthorized' } })
      }
    })
  })
})
