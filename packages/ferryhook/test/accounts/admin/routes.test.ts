import { createAuditLog } from '@strongroom/kit/audit-log'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { openApi, ORIGIN, PASSWORD } from '../../support/test-api.ts'

describe.each(serviceStores())('operators on $name', (store) => {
  const api = openApi(store)
  const asOperator = (method: string, path: string, body?: unknown) =>
    api.ask(method, path, { token: api.operator, ...(body !== undefined && { body }) })

  test('invite users by a link whose ticket is in the fragment', async () => {
    const { status, body } = await asOperator('POST', '/invites')
    expect(status).toBe(201)
    expect(body.url).toBe(`${ORIGIN}/console/sign-up#invite=${body.ticket}`)
    expect(Date.parse(body.expiresAt)).toBe(api.clock.now() + 7 * 86_400_000)
    const { Items } = await api.db.scan({ TableName: 'ferryhook-events' })
    expect(JSON.stringify(Items) + api.logged.join('')).not.toContain(body.ticket)
    expect(api.logged.join('')).toContain('"operator":"ops"')
  })

  test('add an account with an API key, which both audit logs name', async () => {
    const body = { email: 'New.User@example.com' }
    const added = await asOperator('POST', '/users', body)
    expect([added.status, added.body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^usr_/),
        email: 'new.user@example.com',
        emailVerified: false,
        name: 'New.User',
        plan: 'team',
        hasPassword: false,
        identities: [],
        usageThisMonth: 0,
        usageIsLowerBound: false,
        usagePeriodStart: '2100-01-01',
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
        stripeCustomerId: null,
        stripeSubId: null,
        key: expect.stringMatching(/^fh_live_/),
      },
    ])
    const { id, key } = added.body
    const own = await api.ask('GET', '/audit', { token: key })
    expect(
      own.body.items.map(({ actor, action }: Record<string, string>) => [actor, action]),
    ).toEqual(
      expect.arrayContaining([
        ['operator:ops', 'account.created'],
        ['operator:ops', 'api_key.created'],
      ]),
    )
    const [entry] = (await createAuditLog(api).list({ limit: 1 })).items
    expect(entry).toMatchObject({
      actor: 'operator:ops',
      action: 'ferryhook.user.added',
      target: id,
      after: { plan: 'team' },
    })
    expect(JSON.stringify(entry)).not.toContain(key)
    const again = await asOperator('POST', '/users', { ...body, name: 'Ada', plan: 'free' })
    expect([again.status, again.body.error.code]).toEqual([409, 'ferryhook.email_taken'])
    const hidden = { email: 'a\u0000b@example.com' }
    const { body: wrong } = await asOperator('POST', '/users', hidden)
    expect(wrong.error.details[0].path).toBe('body.name')
  })

  test('delete an account with everything in it, which both audit logs name', async () => {
    const person = await api.person()
    const sourceId = await api.source(person)
    await api.connection(person, sourceId)
    const key = await api.key(person, 'read')
    expect((await asOperator('DELETE', `/users/${person.id}`)).status).toBe(204)
    for (const token of [person.token, key]) {
      expect((await api.ask('GET', '/account', { token })).status).toBe(401)
    }
    const { Items = [] } = await api.db.scan({ TableName: 'ferryhook-main' })
    expect(Items.filter((item) => JSON.stringify(item).includes(person.id))).toEqual([])
    const [entry] = (await createAuditLog(api).list({ limit: 1 })).items
    expect(entry).toMatchObject({ action: 'ferryhook.user.removed', target: person.id })
    const { items } = await api.stores.audit.listByUser(person.id)
    expect(items[0]).toMatchObject({ actor: 'operator:ops', action: 'account.deleted' })
    const again = await asOperator('DELETE', `/users/${person.id}`)
    expect([again.status, again.body.error.code]).toEqual([404, 'ferryhook.user_not_found'])
  })

  test('leave exact entries of concurrent changes of a plan', async () => {
    const { id } = await api.person()
    const plans = ['free', 'starter', 'pro', 'team', 'free', 'starter', 'pro', 'team']
    const responses = await Promise.all(
      plans.map((plan) => asOperator('PUT', `/users/${id}/plan`, { plan })),
    )
    // DynamoDB rejects some of many transactions on one item; what is rejected leaves no entry.
    const statuses = responses.map(({ status }) => status)
    expect(statuses.filter((status) => status !== 503 && status !== 200)).toEqual([])
    const changes = statuses.filter((status) => status === 200).length
    expect(changes).toBeGreaterThan(1)
    const log = createAuditLog(api)
    const entries = (await log.list({ limit: 100, target: id })).items.toReversed()
    expect(entries).toHaveLength(changes)
    expect(entries[0]?.before).toEqual({ plan: 'team' })
    expect(entries.slice(1).map(({ before }) => before)).toEqual(
      entries.slice(0, -1).map(({ after }) => after),
    )
    expect((await log.verify()).findings).toEqual([])
  })

  test('set plans and billing references, and the audit log names the operator', async () => {
    const { id, token } = await api.person()
    const set = (body: object) => asOperator('PUT', `/users/${id}/plan`, body)
    const answer = await set({ plan: 'free', stripeCustomerId: 'cus_1', stripeSubId: 'sub_1' })
    const stripe = { stripeCustomerId: 'cus_1', stripeSubId: 'sub_1' }
    expect(answer.body).toMatchObject({ id, plan: 'free', ...stripe })
    expect((await asOperator('GET', `/users/${id}`)).body).toMatchObject(stripe)
    expect((await api.ask('GET', '/account', { token })).body).not.toHaveProperty('stripeSubId')
    expect(await api.stores.users.getById(id)).toMatchObject({
      stripeCustomerId: 'cus_1',
      stripeSubId: 'sub_1',
    })
    await set({ plan: 'pro', stripeSubId: null })
    const user = await api.stores.users.getById(id)
    expect(user).toMatchObject({ plan: 'pro', stripeCustomerId: 'cus_1' })
    expect(user).not.toHaveProperty('stripeSubId')
    const { body } = await api.ask('GET', '/audit', { token })
    expect(body.items.slice(0, 2)).toMatchObject([
      { actor: 'operator:ops', action: 'account.plan_changed', target: 'pro' },
      { actor: 'operator:ops', action: 'account.plan_changed', target: 'free' },
    ])
    expect((await set({ plan: 'gold' })).status).toBe(400)
  })

  test('who create a password reset link are named to the user at each sign-in for 30 days and in both audit logs', async () => {
    const { id, email } = await api.person()
    const signIn = async () =>
      (await api.ask('POST', '/auth/login', { body: { email, password: PASSWORD } })).body
    expect((await signIn()).notices).toEqual([])
    await asOperator('POST', `/users/${id}/password-resets`)
    const at = new Date(api.clock.now()).toISOString()
    const notice = { kind: 'password_reset_offered', operator: 'ops', at }
    for (const session of [await signIn(), await signIn()]) {
      expect(session.notices).toEqual([notice])
    }
    const { accessToken: token } = await signIn()
    const own = (await api.ask('GET', '/audit', { token })).body.items
    expect(own).toContainEqual(
      expect.objectContaining({
        actor: 'operator:ops',
        action: 'account.password_reset_offered',
      }),
    )
    const operators = createAuditLog(api)
    const target = id
    expect((await operators.list({ limit: 10, target })).items).toMatchObject([
      { actor: 'operator:ops', action: 'ferryhook.user.password_reset_offered', target },
    ])
    api.clock.advance({ days: 30 })
    expect((await signIn()).notices).toEqual([])
  })

  test('a smaller plan applies its limits immediately', async () => {
    const person = await api.person()
    await asOperator('PUT', `/users/${person.id}/plan`, { plan: 'free' })
    const sources = [await api.source(person), await api.source(person), await api.source(person)]
    const body = { name: 'One more', provider: 'custom' }
    const refused = await api.ask('POST', '/sources', { token: person.token, body })
    expect(refused.status).toBe(403)
    expect(refused.body.error).toMatchObject({
      code: 'ferryhook.plan_limit',
      data: { plan: 'free', sources: 3 },
    })
    const [sourceId = ''] = sources
    for (const status of [201, 201]) {
      expect((await api.connection(person, sourceId)).status).toBe(status)
    }
    expect((await api.connection(person, sourceId)).body.error).toMatchObject({
      code: 'ferryhook.plan_limit',
      data: { plan: 'free', connectionsPerSource: 2 },
    })
  })

  test('find users by page, by address and by id', async () => {
    const person = await api.person()
    const all: string[] = []
    let cursor: string | null = ''
    do {
      const query: string = cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''
      const { body } = await asOperator('GET', `/users?limit=2${query}`)
      all.push(...body.items.map(({ id }: { id: string }) => id))
      ;({ cursor } = body)
    } while (cursor !== null)
    expect(all).toContain(person.id)
    expect(new Set(all).size).toBe(all.length)
    const found = await asOperator('GET', `/users?email=${person.email.toUpperCase()}`)
    expect(found.body).toMatchObject({ items: [{ id: person.id }], cursor: null })
    expect((await asOperator('GET', '/users?email=none@example.com')).body.items).toEqual([])
    expect((await asOperator('GET', `/users/${person.id}`)).body.email).toBe(person.email)
    const wrong = await asOperator('GET', '/users?cursor=abc')
    expect(wrong.body.error.code).toBe('request.invalid_cursor')
  })

  test('get an error for an unknown user', async () => {
    const calls = [
      asOperator('GET', '/users/usr_0000000000000000'),
      asOperator('PUT', '/users/usr_0000000000000000/plan', { plan: 'free' }),
      asOperator('POST', '/users/usr_0000000000000000/password-resets'),
      asOperator('DELETE', '/users/usr_0000000000000000'),
    ]
    for (const { status, body } of await Promise.all(calls)) {
      expect(status).toBe(404)
      expect(body.error.code).toBe('ferryhook.user_not_found')
    }
  })

  test('plans are listed without authentication', async () => {
    const { body } = await api.ask('GET', '/plans')
    expect(body.cursor).toBeNull()
    expect(body.items.map(({ plan }: { plan: string }) => plan)).toEqual([
      'free',
      'starter',
      'pro',
      'team',
    ])
    expect(body.items[0]).toEqual({
      plan: 'free',
      eventsPerMinute: 100,
      eventsPerMonth: 5000,
      refusesBeyondMonth: true,
      sources: 3,
      connectionsPerSource: 2,
      retentionSeconds: 86_400,
    })
  })
})
