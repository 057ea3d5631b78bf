import { createAuditLog } from '@strongroom/kit/audit-log'
import type { Db } from '@strongroom/kit/db'
import { createOperators } from '@strongroom/kit/operators'
import { serverTable } from '@strongroom/kit/server-table'
import { createTables } from '@strongroom/kit/tables'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { type TestClock, testClock } from '@strongroom/kit/testing/test-clock'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ServerApp } from '../../src/app.ts'
import { createOperatorService } from '../../src/operators/service.ts'
import { settings } from '../../src/settings.ts'
import { tablesOf } from '../../src/tables.ts'
import { testApp } from '../test-app.ts'

describe.each(serviceStores())('/server/v1 on $name', (store) => {
  let db: Db
  let clock: TestClock
  let app: ServerApp
  let closeStore: () => Promise<void>
  let admin: string

  beforeEach(async () => {
    ;({ db, close: closeStore } = await store.open())
    clock = testClock()
    await createTables(db, tablesOf([]))
    app = await testApp({ db, clock, services: [], settings: settings.parse({}) })
    admin = await createOperators({ db, clock }).add('root')
  })
  afterEach(async () => {
    await app.close()
    await closeStore()
  })

  async function ask(method: string, path: string, body?: object, token = admin) {
    const response = await app.request(`https://strongroom.example/server/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
  }

  test('verifies the audit log in pages of limited work', async () => {
    const log = createAuditLog({ db, clock })
    const change = { actor: 'operator:root', action: 'server.operator.added' }
    for (let entry = 0; entry < 1_001; entry++) await log.record(change)
    const first = await ask('GET', '/audit/verification')
    expect(first.body.items).toMatchObject([{ month: '2100-01', entries: 1_000, findings: [] }])
    const rest = `/audit/verification?cursor=${first.body.cursor}`
    const last = (await log.list({ limit: 1 })).items[0]?.hash
    expect((await ask('GET', rest)).body).toEqual({
      items: [{ month: '2100-01', entries: 1, last, findings: [] }],
      cursor: null,
    })
    await db.deleteItem({
      TableName: 'strongroom-operations',
      Key: { PK: 'AUDIT#2100-01', SK: '000000001001' },
    })
    const message = 'The last entries or the head are missing'
    expect((await ask('GET', rest)).body.items).toEqual([
      { month: '2100-01', entries: 0, last: null, findings: [{ seq: 1_001, message }] },
    ])
    const foreign = await ask('GET', '/audit/verification?cursor=abc')
    expect(foreign.body.error.code).toBe('request.invalid_cursor')
  })

  test('adds an operator with a role, services and an expiry', async () => {
    const given = {
      name: 'backup',
      role: 'viewer',
      services: ['form-bridge'],
      expiresAt: '2100-01-02T00:00:00.000Z',
    }
    const added = await ask('POST', '/operators', given)
    expect(added).toMatchObject({
      status: 201,
      body: { ...given, lastUsedAt: null, token: expect.stringMatching(/^sro_backup\./) },
    })
    expect((await ask('POST', '/operators', given)).body.error.code).toBe('operator.exists')
    const { items } = (await ask('GET', '/operators')).body
    expect(items.map(({ name }: { name: string }) => name)).toEqual(['backup', 'root'])
    expect(JSON.stringify(items)).not.toContain('sro_')
    const wrong = { ...given, name: 'other', services: ['nothing'] }
    expect((await ask('POST', '/operators', wrong)).status).toBe(400)
  })

  test('changes, rotates and removes an operator', async () => {
    const { token } = (await ask('POST', '/operators', { name: 'bob', role: 'editor' })).body
    expect((await ask('GET', '/operators', undefined, token)).status).toBe(200)
    const changed = await ask('PATCH', '/operators/bob', { role: 'viewer' })
    expect(changed.body).toMatchObject({ name: 'bob', role: 'viewer' })
    const rotated = await ask('POST', '/operators/bob/token')
    expect((await ask('GET', '/operators', undefined, token)).status).toBe(401)
    expect((await ask('GET', '/operators', undefined, rotated.body.token)).status).toBe(200)
    expect((await ask('DELETE', '/operators/bob')).status).toBe(204)
    expect((await ask('DELETE', '/operators/bob')).body.error.code).toBe('operator.not_found')
  })

  test('refuses to leave the server without an admin', async () => {
    for (const [method, body] of [
      ['DELETE', undefined],
      ['PATCH', { role: 'editor' }],
      ['PATCH', { services: ['sealed'] }],
      ['PATCH', { expiresAt: '2100-01-02T00:00:00Z' }],
    ] as const) {
      const refused = await ask(method, '/operators/root', body)
      expect([refused.status, refused.body.error.code]).toEqual([409, 'operator.last_admin'])
    }
  })

  test('gives an operator that is limited to services no access to the server itself', async () => {
    const limited = { name: 'limited', role: 'admin', services: ['key-store'] }
    const { token } = (await ask('POST', '/operators', limited)).body
    for (const path of ['/operators', '/audit', '/secrets']) {
      const { status, body } = await ask('GET', path, undefined, token)
      expect([status, body.error.code]).toEqual([403, 'operator.forbidden'])
    }
  })

  test('lists the audit log for admins, filtered and in pages', async () => {
    for (const name of ['one', 'two', 'three']) {
      await ask('POST', '/operators', { name, role: 'editor' })
    }
    await ask('PATCH', '/operators/two', { role: 'viewer' })
    const { items } = (await ask('GET', '/audit?target=two')).body
    expect(items).toMatchObject([
      {
        seq: 4,
        actor: 'operator:root',
        action: 'server.operator.changed',
        before: { role: 'editor', services: null, expiresAt: null },
        after: { role: 'viewer', services: null, expiresAt: null },
        outcome: 'done',
      },
      { seq: 1 + 1, action: 'server.operator.added', before: null },
    ])
    const first = (await ask('GET', '/audit?limit=3')).body
    const second = (await ask('GET', `/audit?limit=3&cursor=${first.cursor}`)).body
    const seqs = [...first.items, ...second.items].map(({ seq }: { seq: number }) => seq)
    expect(seqs).toEqual([4, 3, 2, 1])
    const foreign = await ask('GET', `/audit?limit=3&actor=x&cursor=${first.cursor}`)
    expect(foreign.body.error.code).toBe('request.invalid_cursor')
    expect((await ask('GET', '/audit?action=server.operator.changed')).body.items).toHaveLength(1)
    expect((await ask('GET', '/audit?from=2100-01-02T00:00:00Z')).body.items).toEqual([])
  })

  test('rotates a server secret and records it', async () => {
    await ask('GET', '/audit')
    const rotated = await ask('POST', '/secrets/server-cursors/versions', { overlapSeconds: 60 })
    expect(rotated).toMatchObject({ status: 201, body: { name: 'server-cursors', version: 2 } })
    const { items } = (await ask('GET', '/secrets')).body
    expect(items).toMatchObject([{ version: 2 }, { version: 1 }])
    expect((await ask('GET', '/audit?action=server.secret.rotated')).body.items).toHaveLength(1)
  })

  describe('bootstrap', () => {
    const service = () =>
      createOperatorService({ db, clock, auditLog: createAuditLog({ db, clock }) })
    const claim = (code: string, name?: string) =>
      ask('POST', '/bootstrap', { code, ...(name && { name }) }, 'none')
    const by = { actor: 'local:test' }

    test('exchanges a code for the token of an admin, once', async () => {
      const { code } = await service().createCode(by)
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, number) => claim(code, `admin-${number}`)),
      )
      const [winner, ...more] = outcomes.filter(({ status }) => status === 201)
      expect(more).toEqual([])
      for (const { status, body } of outcomes.filter((each) => each !== winner)) {
        expect([status, body.error.code]).toEqual([403, 'operator.invalid_code'])
      }
      const { name, token } = winner?.body ?? {}
      expect((await ask('POST', '/operators', { name: 'x', role: 'viewer' }, token)).status).toBe(
        201,
      )
      const { items } = (await ask('GET', '/audit?action=server.bootstrap.claimed')).body
      expect(items).toMatchObject([{ actor: `operator:${name}`, target: name }])
    })

    test('keeps a code whose chosen name is taken', async () => {
      const { code } = await service().createCode(by)
      expect((await claim(code, 'root')).body.error.code).toBe('operator.exists')
      expect((await claim(code)).body.name).toBe('admin')
    })

    test('refuses a code after 30 minutes, after a newer one and if it is malformed', async () => {
      const old = await service().createCode(by)
      const { code } = await service().createCode(by)
      for (const wrong of [old.code, `${code}x`, code.replace('srb_', ''), '']) {
        expect((await claim(wrong)).status).toBe(403)
      }
      clock.advance({ minutes: 30 })
      expect((await claim(code)).body.error.code).toBe('operator.invalid_code')
    })

    test('stores a hash of the code only', async () => {
      const { code } = await service().createCode(by)
      const { Items } = await db.scan({ TableName: serverTable.name })
      expect(JSON.stringify(Items)).toContain('BOOTSTRAP')
      expect(JSON.stringify(Items)).not.toContain(code.slice(4))
    })

    test('is offered at a start only without an admin that stays', async () => {
      expect(await service().createCodeIfNeeded(by)).toBeUndefined()
      const other = await store.open()
      await createTables(other.db, tablesOf([]))
      const operators = createOperators({ db: other.db, clock })
      const onOther = createOperatorService({
        db: other.db,
        clock,
        auditLog: createAuditLog({ db: other.db, clock }),
      })
      await operators.add('viewer', { role: 'viewer' })
      await operators.add('leaving', { expiresAt: clock.now() / 1000 + 60 })
      expect(await onOther.createCodeIfNeeded(by)).toMatchObject({ code: expect.any(String) })
      await other.close()
    })
  })
})
