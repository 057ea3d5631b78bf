import { Hono } from 'hono'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createTables } from '../src/tables.ts'
import type { Db } from '../src/db.ts'
import { createApp } from '../src/http/app.ts'
import { declarePermissions, type OperatorEnv } from '../src/http/permissions.ts'
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
    await operators.add('permanent')
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
    expect(await operators.verify(token)).toMatchObject({ name })
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
      role: 'admin',
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
    expect(await operators.verify(after)).toMatchObject({ name })
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
      role: 'admin',
      services: undefined,
      createdAt: Date.parse('2100-01-01') / 1000,
      rotatedAt: undefined,
      expiresAt: undefined,
      lastUsedAt: undefined,
    })
    expect(listed.map((each) => each.name)).toEqual(listed.map((each) => each.name).toSorted())
  })

  test('cannot be added twice by concurrent calls with one name', async () => {
    const name = newName()
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => operators.add(name)))
    const [winner, ...more] = outcomes.filter((outcome) => outcome.status === 'fulfilled')
    expect(more).toEqual([])
    expect(await operators.verify(winner?.value ?? '')).toMatchObject({ name })
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

  test('that were stored without a role are admins', async () => {
    const name = newName()
    const token = await operators.add(name)
    const { role: _, ...item } = (await stored(name)) ?? {}
    await db.putItem({ TableName: serverTable.name, Item: item })
    expect(await operators.verify(token)).toMatchObject({ name, role: 'admin' })
  })

  test('are rejected from the moment they expire', async () => {
    const now = clock.now() / 1000
    const token = await operators.add(newName(), { role: 'viewer', expiresAt: now + 60 })
    expect(await operators.verify(token)).toMatchObject({ expiresAt: now + 60 })
    clock.advance({ seconds: 60 })
    expect(await operators.verify(token)).toBeUndefined()
    const past = operators.add(newName(), { expiresAt: clock.now() / 1000 })
    await expect(past).rejects.toThrow(expect.objectContaining({ code: 'operator.invalid_expiry' }))
  })

  test('show when they were last used, to the minute', async () => {
    const name = newName()
    const token = await operators.add(name)
    const lastUse = async () => {
      await operators.verify(token)
      await operators.settled()
      return (await operators.get(name))?.lastUsedAt
    }
    const first = clock.now() / 1000
    expect(await lastUse()).toBe(first)
    clock.advance({ seconds: 59 })
    expect(await lastUse()).toBe(first)
    clock.advance({ seconds: 1 })
    expect(await lastUse()).toBe(first + 60)
  })

  test('change their role, services and expiry without a new token', async () => {
    const name = newName()
    const token = await operators.add(name, { role: 'editor' })
    const expiresAt = clock.now() / 1000 + 3600
    const services = ['form-bridge']
    await operators.change(name, { role: 'viewer', services, expiresAt })
    expect(await operators.verify(token)).toMatchObject({ role: 'viewer', services, expiresAt })
    await operators.change(name, { services: null, expiresAt: null })
    expect(await operators.verify(token)).toMatchObject({
      role: 'viewer',
      services: undefined,
      expiresAt: undefined,
    })
  })

  test('that are changed while all their sessions end do not revive a session', async () => {
    const name = newName()
    await operators.add(name, { role: 'editor' })
    const identity = (await operators.load(name))!
    const write = db.transactWriteItems.bind(db)
    vi.spyOn(db, 'transactWriteItems').mockImplementationOnce(async (input) => {
      await write({ TransactItems: [operators.endSessionsPart(identity).part] })
      return write(input)
    })
    await operators.change(name, { role: 'viewer' })
    const after = await operators.load(name)
    expect(after).toMatchObject({ operator: { role: 'viewer' }, sessionEpoch: 1 })
    expect(after?.mark).not.toBe(identity.mark)
  })

  describe('on a route for operators', () => {
    const { viewer, editor, admin } = declarePermissions('Test').operator(
      {
        verify: (token) => operators.verify(token),
        verifySession: (value) => operators.verifySession(value),
        sessionPolicy: { publicUrl: 'https://strongroom.example', requiresSecondFactor: false },
      },
      'notes',
    )
    const ask = async (headers: Record<string, string>, path = '/viewer') => {
      const app = createApp({ log: silentLog, metrics: createMetrics() })
      const routes = new Hono<OperatorEnv>()
      routes.get('/viewer', viewer.middleware, (c) => c.text(c.get('operator')))
      routes.get('/editor', editor.middleware, (c) => c.text(c.get('operator')))
      routes.get('/admin', admin.middleware, (c) => c.text(c.get('operator')))
      app.route('/', routes as never)
      return app.request(path, { headers })
    }
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

    test('are admitted and identified', async () => {
      const name = newName()
      const answer = await ask(bearer(await operators.add(name)))
      expect([answer.status, await answer.text()]).toEqual([200, name])
    })

    test.each([
      ['viewer', [200, 403, 403]],
      ['editor', [200, 200, 403]],
      ['admin', [200, 200, 200]],
    ] as const)('a %s gets what its role includes', async (role, expected) => {
      const headers = bearer(await operators.add(newName(), { role }))
      const paths = ['/viewer', '/editor', '/admin']
      const answers = await Promise.all(paths.map((path) => ask(headers, path)))
      expect(answers.map(({ status }) => status)).toEqual(expected)
    })

    test('learn which role they lack', async () => {
      const headers = bearer(await operators.add(newName(), { role: 'viewer' }))
      const { error } = (await (await ask(headers, '/editor')).json()) as { error: object }
      expect(error).toMatchObject({
        code: 'operator.forbidden',
        message: expect.stringContaining('role editor for notes'),
        data: { requiredRole: 'editor', service: 'notes' },
      })
    })

    test('of another service are refused', async () => {
      const other = await operators.add(newName(), { services: ['sealed'] })
      const own = await operators.add(newName(), { services: ['sealed', 'notes'] })
      expect((await ask(bearer(other))).status).toBe(403)
      expect((await ask(bearer(own), '/admin')).status).toBe(200)
    })

    test('others get the same 401, whatever they send', async () => {
      const answers = await Promise.all(
        [{}, { authorization: 'Bearer x' }, { authorization: 'Basic x' }].map((each) => ask(each)),
      )
      for (const answer of answers) {
        expect(answer.status).toBe(401)
        expect(answer.headers.get('www-authenticate')).toBe('Bearer')
        expect(await answer.json()).toMatchObject({ error: { code: 'operator.unauthorized' } })
      }
    })
  })
})

describe.each(testStores())('the last admin on $name', (store) => {
  let db: Db
  let close: () => Promise<void>
  const clock = testClock()
  const lastAdmin = expect.objectContaining({ code: 'operator.last_admin' })

  beforeEach(async () => {
    ;({ db, close } = await store.open())
    await createTables(db, [serverTable])
  })
  afterEach(() => close())

  test('cannot be removed, demoted, limited or expire', async () => {
    const operators = createOperators({ db, clock })
    await operators.add('ada')
    await operators.add('bob', { role: 'editor' })
    await operators.add('cleo', { services: ['sealed'] })
    const expiresAt = clock.now() / 1000 + 60
    await operators.add('dan', { expiresAt })
    await expect(operators.remove('ada')).rejects.toThrow(lastAdmin)
    await expect(operators.change('ada', { role: 'editor' })).rejects.toThrow(lastAdmin)
    await expect(operators.change('ada', { services: ['sealed'] })).rejects.toThrow(lastAdmin)
    await expect(operators.change('ada', { expiresAt })).rejects.toThrow(lastAdmin)
    expect(await operators.get('ada')).toMatchObject({ role: 'admin', expiresAt: undefined })
    await operators.change('bob', { role: 'admin' })
    await operators.remove('ada')
    expect((await operators.list()).map(({ name }) => name)).toEqual(['bob', 'cleo', 'dan'])
  })

  test('remains when all admins remove each other concurrently', async () => {
    const names = Array.from({ length: 8 }, (_, number) => `admin-${number}`)
    const operators = createOperators({ db, clock })
    for (const name of names) await operators.add(name)
    const outcomes = await Promise.allSettled(
      names.map((name, at) =>
        at % 2 === 0
          ? createOperators({ db, clock }).remove(name)
          : createOperators({ db, clock }).change(name, { role: 'viewer' }),
      ),
    )
    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([
      { status: 'rejected', reason: lastAdmin },
    ])
    expect((await operators.list()).filter(({ role }) => role === 'admin')).toHaveLength(1)
  })
})
