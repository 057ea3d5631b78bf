import { createAuditLog } from '@strongroom/kit/audit-log'
import { createLog } from '@strongroom/kit/log'
import { serverTable } from '@strongroom/kit/server-table'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createOperatorService } from '../../src/operators/service.ts'
import { openConsole, ORIGIN, type TestConsole } from './test-console.ts'

const COOKIE = '__Host-strongroom-session'

describe.each(serviceStores())('sessions of operators on $name', (store) => {
  let server: TestConsole
  let token: string

  beforeEach(async () => {
    server = await openConsole(store)
    token = await server.operators.add('ada')
  })
  afterEach(() => server.close())

  const stored = async (name: string) => {
    const { Items = [] } = await server.db.query({
      TableName: serverTable.name,
      KeyConditionExpression: 'PK = :pk AND begins_with(SK, :sk)',
      ExpressionAttributeValues: { ':pk': `OPERATOR#${name}`, ':sk': 'SESSION#' },
    })
    return Items
  }
  const actions = async () => {
    const log = createAuditLog(server)
    return (await log.list({ limit: 20 })).items.map(({ action, actor }) => `${actor} ${action}`)
  }

  test('begin with a token, in a cookie that scripts and other sites cannot use', async () => {
    const browser = server.browser('192.0.2.7')
    const answer = await browser.ask('POST', '/session', { token })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      status: 'signed_in',
      operator: {
        name: 'ada',
        role: 'admin',
        services: null,
        expiresAt: '2100-01-01T12:00:00.000Z',
        secondFactor: { isEnrolled: false, isRequired: false },
        isLimited: false,
      },
    })
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-strongroom-session=ada\.ses_[\w-]{16}\.[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
      ),
    ])
    const value = browser.cookies.get(COOKIE) ?? ''
    expect(JSON.stringify(answer.body)).not.toContain(value)
    expect((await browser.ask('GET', '/session')).body).toEqual(answer.body.operator)
  })

  test('are stored as a hash, with the address and the user agent', async () => {
    const browser = server.browser('192.0.2.7')
    const headers = { 'user-agent': 'x'.repeat(500) }
    await browser.ask('POST', '/session', { token }, headers)
    const [item] = await stored('ada')
    const now = server.clock.now() / 1000
    expect(item).toEqual({
      PK: 'OPERATOR#ada',
      SK: expect.stringMatching(/^SESSION#ses_[\w-]{16}$/),
      sessionId: expect.stringMatching(/^ses_/),
      name: 'ada',
      valueHash: expect.any(Uint8Array),
      mark: expect.stringMatching(/^[0-9a-f]{64}$/),
      createdAt: now,
      expiresAt: now + 43_200,
      verifiedAt: now,
      secondFactor: false,
      address: '192.0.2.7',
      userAgent: 'x'.repeat(200),
    })
    const secret = (browser.cookies.get(COOKIE) ?? '').split('.')[2]
    expect(JSON.stringify(item)).not.toContain(secret)
  })

  test('give access to routes for operators with the role of the operator', async () => {
    const browser = await server.signedIn(token)
    expect((await browser.ask('GET', '/operators')).status).toBe(200)
    const viewer = await server.signedIn(await server.operators.add('vic', { role: 'viewer' }))
    expect((await viewer.ask('GET', '/operators')).status).toBe(200)
    const refused = await viewer.ask('POST', '/operators', { name: 'eve', role: 'admin' })
    expect(refused.body.error.code).toBe('operator.forbidden')
    const limited = { services: ['sealed'] }
    const elsewhere = await server.signedIn(await server.operators.add('liz', limited))
    expect((await elsewhere.ask('GET', '/operators')).body.error.code).toBe('operator.forbidden')
    expect((await elsewhere.ask('GET', '/session')).body).toMatchObject({ name: 'liz', ...limited })
  })

  test.each([
    ['a page of another origin', { origin: 'https://evil.example' }],
    ['another port of the same host', { origin: `${ORIGIN}:8443` }],
    ['an opaque origin', { origin: 'null' }],
    ['another site', { origin: undefined, 'sec-fetch-site': 'cross-site' }],
    ['a sibling domain', { origin: undefined, 'sec-fetch-site': 'same-site' }],
    ['no origin at all', { origin: undefined }],
  ])('cannot be used for changes by %s', async (_, given) => {
    const browser = await server.signedIn(token)
    for (const [method, path, body] of [
      ['POST', '/operators', { name: 'eve', role: 'admin' }],
      ['DELETE', '/operators/ada', undefined],
      ['POST', '/session/second-factor/totp', undefined],
      ['DELETE', '/session', undefined],
      ['POST', '/session', { token }],
    ] as const) {
      const { status, body: answer } = await browser.ask(method, path, body, given)
      expect([path, status, answer?.error.code]).toEqual([path, 403, 'operator.foreign_origin'])
    }
    expect((await browser.ask('GET', '/operators')).body.items).toHaveLength(1)
  })

  test('cannot be used for reads by a page of another origin', async () => {
    const browser = await server.signedIn(token)
    for (const site of ['cross-site', 'same-site']) {
      const headers = { origin: undefined, 'sec-fetch-site': site }
      const answer = await browser.ask('GET', '/operators', undefined, headers)
      expect(answer.body.error.code).toBe('operator.foreign_origin')
    }
    const typed = { origin: undefined, 'sec-fetch-site': 'none' }
    expect((await browser.ask('GET', '/operators', undefined, typed)).status).toBe(200)
  })

  test('do not change what a token may do, from any origin and without one', async () => {
    for (const origin of ['https://evil.example', undefined]) {
      const headers = { authorization: `Bearer ${token}`, origin }
      const answer = await server.browser().ask('GET', '/operators', undefined, headers)
      expect(answer.status).toBe(200)
    }
    const browser = await server.signedIn(token)
    const wrong = { authorization: 'Bearer sro_ada.wrong' }
    const refused = await browser.ask('GET', '/operators', undefined, wrong)
    expect(refused.body.error.code).toBe('operator.unauthorized')
  })

  test.each([
    ['after twelve hours', async () => server.clock.advance({ hours: 12 })],
    ['when the token is rotated', async () => void (await server.operators.rotate('ada'))],
    ['when the operator is removed', async () => server.operators.remove('ada')],
    [
      'when a removed operator is added again',
      async () => {
        await server.operators.remove('ada')
        await server.operators.add('ada')
      },
    ],
  ])('end %s', async (_, happens) => {
    await server.operators.add('other')
    const browser = await server.signedIn(token)
    expect((await browser.ask('GET', '/session')).status).toBe(200)
    await happens()
    const answer = await browser.ask('GET', '/session')
    expect([answer.status, answer.body.error.code]).toEqual([401, 'operator.session_ended'])
  })

  test('end with the operator, and have its current role and services', async () => {
    const expiresAt = server.clock.now() / 1000 + 3_600
    const bob = await server.operators.add('bob', { role: 'editor', expiresAt })
    const browser = await server.signedIn(bob)
    await server.operators.change('bob', { role: 'viewer' })
    expect((await browser.ask('GET', '/session')).body).toMatchObject({ role: 'viewer' })
    await server.operators.change('bob', { services: ['sealed'] })
    expect((await browser.ask('GET', '/operators')).body.error.code).toBe('operator.forbidden')
    server.clock.advance({ hours: 1 })
    expect((await browser.ask('GET', '/session')).body.error.code).toBe('operator.session_ended')
  })

  test('reject every value that was not issued', async () => {
    const browser = await server.signedIn(token)
    const value = browser.cookies.get(COOKIE) ?? ''
    const [name = '', id = '', secret = ''] = value.split('.')
    const forged = `${secret.slice(0, -1)}${secret.endsWith('A') ? 'B' : 'A'}`
    for (const wrong of [
      'x',
      `${name}.${id}.${forged}`,
      `bob.${id}.${secret}`,
      `${name}.ses_0000000000000000.${secret}`,
      `${value}x`,
    ]) {
      browser.cookies.set(COOKIE, wrong)
      const answer = await browser.ask('GET', '/session')
      expect([answer.status, answer.body.error.code]).toEqual([401, 'operator.session_ended'])
    }
  })

  test('do not begin with a wrong token, and a network may fail twenty times a minute', async () => {
    const attacker = server.browser('203.0.113.1')
    const codes: string[] = []
    for (let attempt = 0; attempt < 22; attempt++) {
      const { body } = await attacker.ask('POST', '/session', { token: `${token.slice(0, -1)}_` })
      codes.push(body.error.code)
    }
    expect(codes.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 'operator.invalid_token'))
    expect(codes.slice(20)).toEqual(['request.rate_limited', 'request.rate_limited'])
    expect((await attacker.ask('POST', '/session', { token })).status).toBe(429)
    expect((await server.browser().ask('POST', '/session', { token })).status).toBe(200)
    server.clock.advance({ minutes: 2 })
    expect((await attacker.ask('POST', '/session', { token })).status).toBe(200)
  })

  test('end by signing out, which is audited like signing in', async () => {
    const browser = await server.signedIn(token)
    const value = browser.cookies.get(COOKIE) ?? ''
    expect((await browser.ask('DELETE', '/session')).status).toBe(204)
    expect(browser.cookies.has(COOKIE)).toBe(false)
    expect(await stored('ada')).toEqual([])
    browser.cookies.set(COOKIE, value)
    expect((await browser.ask('GET', '/session')).body.error.code).toBe('operator.session_ended')
    expect((await server.browser().ask('DELETE', '/session')).status).toBe(204)
    expect(await actions()).toEqual([
      'operator:ada server.session.ended',
      'operator:ada server.session.created',
    ])
  })

  test('are listed: your own, and for an admin all', async () => {
    const ada = await server.signedIn(token)
    const bobToken = await server.operators.add('bob', { role: 'viewer' })
    server.clock.advance({ minutes: 1 })
    const bob = await server.signedIn(bobToken)
    const own = (await bob.ask('GET', '/sessions')).body.items
    expect(own).toEqual([
      {
        id: expect.stringMatching(/^ses_/),
        operator: 'bob',
        createdAt: '2100-01-01T00:01:00.000Z',
        expiresAt: '2100-01-01T12:01:00.000Z',
        // Stored beside the request, so this one may have been noted already.
        lastUsedAt: expect.toBeOneOf([null, '2100-01-01T00:01:00.000Z']),
        address: expect.stringMatching(/^10\.1\./),
        userAgent: 'Test browser',
        secondFactor: false,
        isCurrent: true,
      },
    ])
    const names = (answer: { body: { items: { operator: string }[] } }) =>
      answer.body.items.map(({ operator }) => operator)
    expect(names(await ada.ask('GET', '/sessions'))).toEqual(['bob', 'ada'])
    expect(names(await ada.ask('GET', '/sessions?operator=bob'))).toEqual(['bob'])
    const foreign = await bob.ask('GET', '/sessions?operator=ada')
    expect(foreign.body.error.code).toBe('operator.forbidden')
    const headers = { authorization: `Bearer ${token}` }
    const byToken = await server.browser().ask('GET', '/sessions', undefined, headers)
    expect(byToken.body.items.every(({ isCurrent }: { isCurrent: boolean }) => !isCurrent)).toBe(
      true,
    )
    server.clock.advance({ hours: 11, minutes: 58 })
    expect(names(await ada.ask('GET', '/sessions'))).toEqual(['bob', 'ada'])
    server.clock.advance({ minutes: 1, seconds: 30 })
    expect(names(await bob.ask('GET', '/sessions'))).toEqual(['bob'])
  })

  test('show when they were last used, to the minute', async () => {
    const browser = await server.signedIn(token)
    const lastUse = async () => (await stored('ada'))[0]?.['lastUsedAt']
    const start = Date.parse('2100-01-01') / 1000
    await browser.ask('GET', '/operators')
    await expect.poll(lastUse).toBe(start)
    server.clock.advance({ seconds: 59 })
    await browser.ask('GET', '/operators')
    server.clock.advance({ seconds: 1 })
    await browser.ask('GET', '/operators')
    await expect.poll(lastUse).toBe(start + 60)
  })

  test('can be revoked by their operator and by an admin, and by nobody else', async () => {
    const ada = await server.signedIn(token)
    const bobToken = await server.operators.add('bob', { role: 'editor' })
    const [bob, otherBob] = [await server.signedIn(bobToken), await server.signedIn(bobToken)]
    const idOf = async (browser: typeof bob) =>
      (await browser.ask('GET', '/sessions')).body.items.find(
        ({ isCurrent }: { isCurrent: boolean }) => isCurrent,
      ).id
    const foreign = await bob.ask('DELETE', `/sessions/${await idOf(ada)}`)
    expect([foreign.status, foreign.body.error.code]).toEqual([404, 'operator.session_not_found'])
    expect((await bob.ask('DELETE', `/sessions/${await idOf(otherBob)}`)).status).toBe(204)
    expect((await otherBob.ask('GET', '/session')).status).toBe(401)
    const id = await idOf(bob)
    expect((await ada.ask('DELETE', `/sessions/${id}`)).status).toBe(204)
    expect((await bob.ask('GET', '/session')).status).toBe(401)
    expect((await ada.ask('DELETE', `/sessions/${id}`)).status).toBe(404)
    expect((await actions()).slice(0, 2)).toEqual([
      'operator:ada server.session.revoked',
      'operator:bob server.session.revoked',
    ])
  })

  test('of one operator are at most twenty; the oldest ends', async () => {
    const first = await server.signedIn(token)
    for (let count = 0; count < 20; count++) {
      server.clock.advance({ seconds: 1 })
      await server.signedIn(token)
    }
    expect(await stored('ada')).toHaveLength(20)
    expect((await first.ask('GET', '/session')).status).toBe(401)
  })

  describe('of the first admin', () => {
    const newCode = () => {
      const auditLog = createAuditLog(server)
      return createOperatorService({ ...server, auditLog }).createCode({ actor: 'local:test' })
    }

    test('begin with the bootstrap code, in the request that shows the token', async () => {
      const { code } = await newCode()
      const browser = server.browser()
      const body = { code, name: 'first', session: true }
      const claimed = await browser.ask('POST', '/bootstrap', body)
      expect([claimed.status, claimed.body]).toEqual([
        201,
        { name: 'first', token: expect.stringMatching(/^sro_first\./) },
      ])
      expect((await browser.ask('GET', '/session')).body).toMatchObject({ name: 'first' })
      const used = await server.browser().ask('POST', '/bootstrap', { ...body, name: 'second' })
      expect(used.body.error.code).toBe('operator.invalid_code')
      const again = await server.browser().ask('POST', '/session', { token: claimed.body.token })
      expect(again.body.status).toBe('signed_in')
    })

    test('begin in one of two browsers with the same code', async () => {
      const { code } = await newCode()
      const claim = (name: string) => {
        const browser = server.browser()
        const body = { code, name, session: true }
        return browser.ask('POST', '/bootstrap', body).then((answer) => ({ browser, answer }))
      }
      const both = await Promise.all([claim('first'), claim('second')])
      const statuses = both.map(({ answer }) => answer.status)
      expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 403])
      for (const { browser, answer } of both) {
        expect(browser.cookies.has(COOKIE)).toBe(answer.status === 201)
      }
    })

    test('do not begin for a page of another origin, which does not use up the code', async () => {
      const { code } = await newCode()
      const body = { code, name: 'first', session: true }
      const headers = { origin: 'https://evil.example' }
      const foreign = await server.browser().ask('POST', '/bootstrap', body, headers)
      expect(foreign.body.error.code).toBe('operator.foreign_origin')
      expect((await server.browser().ask('POST', '/bootstrap', body)).status).toBe(201)
    })
  })

  test('leave no token and no value in the log', async () => {
    const lines: string[] = []
    const log = createLog({ level: 'debug', sink: (line) => lines.push(line) })
    const logged = await openConsole(store, log)
    const secret = await logged.operators.add('ada')
    const browser = await logged.signedIn(secret)
    await browser.ask('GET', '/operators')
    const value = browser.cookies.get(COOKIE) ?? ''
    const [, id = ''] = value.split('.')
    await browser.ask('DELETE', `/sessions/${id}`)
    await browser.ask('GET', '/session')
    await logged.close()
    expect(lines.join('')).toContain('/server/v1/sessions/:id')
    for (const hidden of [secret, value, id]) expect(lines.join('')).not.toContain(hidden)
  })

  test('tell the sign-in page what it may show, and nothing else', async () => {
    const answer = await server.browser().ask('GET', '/about')
    expect(answer.body).toEqual({
      origin: ORIGIN,
      isSecure: true,
      services: [],
      signUp: null,
      providers: [],
      hasAdmin: true,
    })
  })
})
