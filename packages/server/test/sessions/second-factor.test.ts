import { createAuditLog } from '@strongroom/kit/audit-log'
import { serverTable } from '@strongroom/kit/server-table'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { testAuthenticator } from '@strongroom/kit/testing/test-authenticator'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  addTotp,
  type Answer,
  codeOf,
  openConsole,
  ORIGIN,
  type TestBrowser,
  type TestConsole,
} from './test-console.ts'

describe.each(serviceStores())('second factors of operators on $name', (store) => {
  let server: TestConsole
  let token: string
  let browser: TestBrowser

  beforeEach(async () => {
    server = await openConsole(store)
    token = await server.operators.add('ada')
    browser = await server.signedIn(token)
  })
  afterEach(() => server.close())

  const codeOfAnswer = ({ status, body }: Answer) => [status, body?.error?.code]
  const actions = async () =>
    (await createAuditLog(server).list({ limit: 10 })).items.map(({ actor, action, target }) =>
      [actor, action, target].join(' '),
    )
  const totp = (code: string) => ({ method: 'totp', code })
  const begin = async () => {
    const next = server.browser()
    const answer = await next.ask('POST', '/session', { token })
    expect(answer.body.status).toBe('second_factor_required')
    return next
  }
  const passkey = async (signedIn: TestBrowser, name = 'Laptop') => {
    const authenticator = testAuthenticator({ origin: ORIGIN })
    const options = (await signedIn.ask('POST', '/session/second-factor/passkeys/options')).body
    const body = { name, response: authenticator.create(options) }
    const added = await signedIn.ask('POST', '/session/second-factor/passkeys', body)
    return { authenticator, added }
  }

  test('make signing in two steps: the token, then the factor', async () => {
    const { secret } = await addTotp(browser, server.clock)
    const next = server.browser()
    const first = await next.ask('POST', '/session', { token })
    expect(first.body).toEqual({
      status: 'second_factor_required',
      methods: ['totp', 'recovery_code'],
    })
    expect(first.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-strongroom-sign-in=.*; Max-Age=300; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
      ),
    ])
    expect(codeOfAnswer(await next.ask('GET', '/session'))).toEqual([401, 'operator.unauthorized'])
    const second = await next.ask('POST', '/session/sign-in', totp(codeOf(secret, server.clock)))
    expect(second.body).toMatchObject({ name: 'ada', secondFactor: { isEnrolled: true } })
    expect((await next.ask('GET', '/session')).status).toBe(200)
    expect(next.cookies.has('__Host-strongroom-sign-in')).toBe(false)
    const [session] = (await next.ask('GET', '/sessions')).body.items
    expect(session).toMatchObject({ secondFactor: true, isCurrent: true })
    expect((await actions())[0]).toMatch(/^operator:ada server\.session\.created ses_/)
  })

  test('begin one session, however many requests complete the same sign-in', async () => {
    const { secret, recoveryCodes } = await addTotp(browser, server.clock)
    const next = await begin()
    const proofs = [
      totp(codeOf(secret, server.clock)),
      totp(codeOf(secret, server.clock)),
      { method: 'recovery_code', code: recoveryCodes[0] },
      { method: 'recovery_code', code: recoveryCodes[1] },
    ]
    const pending = next.cookies.get('__Host-strongroom-sign-in') ?? ''
    const answers = await Promise.all(
      proofs.map((proof) => {
        const each = server.browser()
        each.cookies.set('__Host-strongroom-sign-in', pending)
        return each.ask('POST', '/session/sign-in', proof)
      }),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('allow five attempts for a sign-in, also concurrently, and five minutes', async () => {
    const { secret } = await addTotp(browser, server.clock)
    const next = await begin()
    const wrong = () => next.ask('POST', '/session/sign-in', totp('000000'))
    const answers = await Promise.all(Array.from({ length: 12 }, wrong))
    const codes = answers.map(({ body }) => body.error.code)
    expect(codes.filter((code) => code === 'second-factor.wrong_code')).toHaveLength(5)
    expect(codes.filter((code) => code === 'operator.sign_in_expired')).toHaveLength(7)
    const right = await next.ask('POST', '/session/sign-in', totp(codeOf(secret, server.clock)))
    expect(codeOfAnswer(right)).toEqual([401, 'operator.sign_in_expired'])
    const late = await begin()
    server.clock.advance({ minutes: 5 })
    const expired = await late.ask('POST', '/session/sign-in', totp(codeOf(secret, server.clock)))
    expect(codeOfAnswer(expired)).toEqual([401, 'operator.sign_in_expired'])
  })

  test('are locked for codes after ten wrong ones in any number of sign-ins, which is audited', async () => {
    const { secret, recoveryCodes } = await addTotp(browser, server.clock)
    for (let attempt = 0; attempt < 10; attempt++) {
      const each = await begin()
      await each.ask('POST', '/session/sign-in', totp('000000'))
    }
    const next = await begin()
    const locked = await next.ask('POST', '/session/sign-in', totp(codeOf(secret, server.clock)))
    expect(codeOfAnswer(locked)).toEqual([429, 'second-factor.locked'])
    expect(locked.headers.get('retry-after')).toBe('3600')
    expect(await actions()).toContain('operator:ada server.operator.second_factor_locked ada')
    const recovery = { method: 'recovery_code', code: recoveryCodes[0] }
    expect((await next.ask('POST', '/session/sign-in', recovery)).status).toBe(200)
  })

  test('end a sign-in that began before the token was rotated', async () => {
    const { secret } = await addTotp(browser, server.clock)
    const next = await begin()
    await server.operators.rotate('ada')
    const answer = await next.ask('POST', '/session/sign-in', totp(codeOf(secret, server.clock)))
    expect(codeOfAnswer(answer)).toEqual([401, 'operator.sign_in_expired'])
  })

  test('do not count without a sign-in that began with the token', async () => {
    const { secret } = await addTotp(browser, server.clock)
    const answer = await server
      .browser()
      .ask('POST', '/session/sign-in', totp(codeOf(secret, server.clock)))
    expect(codeOfAnswer(answer)).toEqual([401, 'operator.sign_in_expired'])
    const options = await server.browser().ask('POST', '/session/sign-in/passkey-options')
    expect(codeOfAnswer(options)).toEqual([401, 'operator.sign_in_expired'])
  })

  test('can be passkeys, which sign in and verify', async () => {
    const { authenticator, added } = await passkey(browser)
    expect(added.status).toBe(201)
    expect(added.body.recoveryCodes).toHaveLength(10)
    const next = await begin()
    const options = (await next.ask('POST', '/session/sign-in/passkey-options')).body
    expect(options).toMatchObject({ rpId: 'strongroom.example', userVerification: 'required' })
    const proof = { method: 'passkey', response: authenticator.get(options) }
    const other = await begin()
    const elsewhere = await other.ask('POST', '/session/sign-in', proof)
    expect(codeOfAnswer(elsewhere)).toEqual([409, 'second-factor.challenge_expired'])
    expect((await next.ask('POST', '/session/sign-in', proof)).status).toBe(200)
    server.clock.advance({ minutes: 10 })
    const again = (await next.ask('POST', '/session/verification/passkey-options')).body
    const verified = { method: 'passkey', response: authenticator.get(again) }
    expect((await next.ask('POST', '/session/verification', verified)).status).toBe(204)
    const { passkeys } = (await next.ask('GET', '/session/second-factor')).body
    expect(passkeys).toEqual([
      expect.objectContaining({ name: 'Laptop', isSynced: false, lastUsedAt: expect.any(String) }),
    ])
  })

  test('can be several passkeys with names, of which each can be renamed and removed', async () => {
    const first = await passkey(browser, 'Laptop')
    const second = await passkey(browser, 'Phone')
    expect(second.added.body.recoveryCodes).toBeNull()
    const path = `/session/second-factor/passkeys/${first.added.body.id}`
    expect((await browser.ask('PATCH', path, { name: 'Work laptop' })).status).toBe(204)
    const { passkeys } = (await browser.ask('GET', '/session/second-factor')).body
    expect(passkeys.map(({ name }: { name: string }) => name)).toEqual(['Work laptop', 'Phone'])
    expect((await browser.ask('DELETE', path)).status).toBe(204)
    expect(codeOfAnswer(await browser.ask('DELETE', path))).toEqual([
      404,
      'second-factor.passkey_not_found',
    ])
    expect((await actions()).slice(0, 3)).toEqual([
      'operator:ada server.operator.passkey_removed ada',
      'operator:ada server.operator.passkey_renamed ada',
      'operator:ada server.operator.passkey_added ada',
    ])
  })

  test('end the sessions that began without one, except the one that added it', async () => {
    const other = await server.signedIn(token)
    await addTotp(browser, server.clock)
    expect((await browser.ask('GET', '/session')).body).toMatchObject({
      secondFactor: { isEnrolled: true },
    })
    expect(codeOfAnswer(await other.ask('GET', '/session'))).toEqual([
      401,
      'operator.session_ended',
    ])
    await passkey(browser)
    expect((await browser.ask('GET', '/session')).status).toBe(200)
  })

  test('are changed only within ten minutes after a sign-in or a verification', async () => {
    const { secret } = await addTotp(browser, server.clock)
    server.clock.advance({ minutes: 10 })
    for (const [method, path, body] of [
      ['POST', '/totp', undefined],
      ['PUT', '/totp', { code: '000000' }],
      ['DELETE', '/totp', undefined],
      ['POST', '/passkeys/options', undefined],
      ['DELETE', '/passkeys/x', undefined],
      ['POST', '/recovery-codes', undefined],
    ] as const) {
      const answer = await browser.ask(method, `/session/second-factor${path}`, body)
      expect([path, ...codeOfAnswer(answer)]).toEqual([path, 403, 'operator.verification_required'])
    }
    const byToken = await browser.ask('POST', '/session/verification', { method: 'token', token })
    expect(codeOfAnswer(byToken)).toEqual([401, 'operator.invalid_token'])
    const proof = totp(codeOf(secret, server.clock))
    expect((await browser.ask('POST', '/session/verification', proof)).status).toBe(204)
    const replaced = await browser.ask('POST', '/session/second-factor/recovery-codes')
    expect(replaced.body.recoveryCodes).toHaveLength(10)
    expect((await browser.ask('DELETE', '/session/second-factor/totp')).status).toBe(204)
    expect((await server.browser().ask('POST', '/session', { token })).body.status).toBe(
      'signed_in',
    )
  })

  test('are added within ten minutes after a verification with the token, while there is none', async () => {
    server.clock.advance({ minutes: 10 })
    const stale = await browser.ask('POST', '/session/second-factor/totp')
    expect(codeOfAnswer(stale)).toEqual([403, 'operator.verification_required'])
    const other = await server.operators.add('bob')
    const foreign = await browser.ask('POST', '/session/verification', {
      method: 'token',
      token: other,
    })
    expect(codeOfAnswer(foreign)).toEqual([401, 'operator.invalid_token'])
    const own = await browser.ask('POST', '/session/verification', { method: 'token', token })
    expect(own.status).toBe(204)
    expect((await browser.ask('POST', '/session/second-factor/totp')).status).toBe(201)
  })

  test('belong to sessions: a token reads and changes none', async () => {
    const headers = { authorization: `Bearer ${token}` }
    for (const [method, path] of [
      ['GET', '/session/second-factor'],
      ['POST', '/session/second-factor/totp'],
    ] as const) {
      const answer = await server.browser().ask(method, path, undefined, headers)
      expect(codeOfAnswer(answer)).toEqual([403, 'operator.session_required'])
    }
  })

  test('do not concern tokens of programs', async () => {
    await addTotp(browser, server.clock)
    const headers = { authorization: `Bearer ${token}` }
    const answer = await server.browser().ask('GET', '/operators', undefined, headers)
    expect(answer.status).toBe(200)
  })

  test('are encrypted by KMS, bound to the operator', async () => {
    const { secret } = await addTotp(browser, server.clock)
    const Key = { PK: 'OPERATOR#ada', SK: 'SECOND_FACTOR' }
    const { Item = {} } = await server.db.getItem({ TableName: serverTable.name, Key })
    expect(Item).toEqual({
      ...Key,
      revision: expect.any(String),
      totp: {
        sealed: expect.any(Uint8Array),
        createdAt: expect.any(Number),
        lastStep: expect.any(Number),
      },
      recoveryCodes: Array.from({ length: 10 }, () => expect.stringMatching(/^[0-9a-f]{64}$/)),
    })
    // Copied to another operator, it does not open.
    const bob = await server.operators.add('bob')
    await server.db.putItem({ TableName: serverTable.name, Item: { ...Item, PK: 'OPERATOR#bob' } })
    const next = server.browser()
    await next.ask('POST', '/session', { token: bob })
    const answer = await next.ask('POST', '/session/sign-in', totp(codeOf(secret, server.clock)))
    expect(answer.status).toBe(500)
  })

  test('are removed with the operator, so that a new one of that name inherits none', async () => {
    await addTotp(browser, server.clock)
    await server.operators.add('root')
    await server.operators.remove('ada')
    const again = await server.operators.add('ada')
    expect((await server.browser().ask('POST', '/session', { token: again })).body.status).toBe(
      'signed_in',
    )
  })

  describe('that were lost', () => {
    test('are reset by another admin, which ends all sessions and is audited', async () => {
      await addTotp(browser, server.clock)
      const root = await server.signedIn(await server.operators.add('root'))
      expect((await root.ask('DELETE', '/operators/ada/second-factor')).status).toBe(204)
      expect((await actions())[0]).toBe('operator:root server.operator.second_factor_reset ada')
      expect(codeOfAnswer(await browser.ask('GET', '/session'))).toEqual([
        401,
        'operator.session_ended',
      ])
      expect((await server.browser().ask('POST', '/session', { token })).body.status).toBe(
        'signed_in',
      )
      const none = await root.ask('DELETE', '/operators/ada/second-factor')
      expect(codeOfAnswer(none)).toEqual([409, 'second-factor.not_enrolled'])
      const nobody = await root.ask('DELETE', '/operators/nobody/second-factor')
      expect(codeOfAnswer(nobody)).toEqual([404, 'operator.not_found'])
    })

    test('are not reset by the operator itself, with a session or a token', async () => {
      await addTotp(browser, server.clock)
      const path = '/operators/ada/second-factor'
      const own = [409, 'operator.own_second_factor']
      expect(codeOfAnswer(await browser.ask('DELETE', path))).toEqual(own)
      const headers = { authorization: `Bearer ${token}` }
      expect(codeOfAnswer(await server.browser().ask('DELETE', path, undefined, headers))).toEqual(
        own,
      )
    })

    test('are not reset by an editor', async () => {
      await addTotp(browser, server.clock)
      const editor = await server.signedIn(await server.operators.add('eve', { role: 'editor' }))
      const answer = await editor.ask('DELETE', '/operators/ada/second-factor')
      expect(codeOfAnswer(answer)).toEqual([403, 'operator.forbidden'])
    })
  })

  test('do not revive a session that ends while it adds the first one', async () => {
    const { secret } = (await browser.ask('POST', '/session/second-factor/totp')).body
    const write = server.db.transactWriteItems.bind(server.db)
    vi.spyOn(server.db, 'transactWriteItems').mockImplementationOnce(async (input) => {
      await server.operators.rotate('ada')
      return write(input)
    })
    const code = codeOf(secret, server.clock)
    const added = await browser.ask('PUT', '/session/second-factor/totp', { code })
    const ended = [401, 'operator.session_ended']
    expect(codeOfAnswer(added)).toEqual(ended)
    expect(codeOfAnswer(await browser.ask('GET', '/session'))).toEqual(ended)
  })

  describe('where admins need one', () => {
    const required = [403, 'operator.second_factor_setup_required']
    beforeEach(() => server.restart({ STRONGROOM_REQUIRE_2FA: 'true' }))

    test('limit the session of an admin without one to its setup', async () => {
      const next = await server.signedIn(token)
      expect((await next.ask('GET', '/session')).body).toMatchObject({
        isLimited: true,
        secondFactor: { isEnrolled: false, isRequired: true },
      })
      for (const path of ['/operators', '/audit', '/secrets']) {
        expect(codeOfAnswer(await next.ask('GET', path))).toEqual(required)
      }
      const added = await next.ask('POST', '/operators', { name: 'eve', role: 'admin' })
      expect(codeOfAnswer(added)).toEqual(required)
      await addTotp(next, server.clock)
      expect((await next.ask('GET', '/session')).body).toMatchObject({ isLimited: false })
      expect((await next.ask('GET', '/operators')).status).toBe(200)
    })

    test('keep a limited session from seeing and ending the sessions of others', async () => {
      const next = await server.signedIn(token)
      const editor = await server.signedIn(await server.operators.add('eve', { role: 'editor' }))
      const { id } = (await editor.ask('GET', '/sessions')).body.items[0]
      const own = (await next.ask('GET', '/sessions')).body.items
      expect(new Set(own.map((each: { operator: string }) => each.operator))).toEqual(
        new Set(['ada']),
      )
      expect(codeOfAnswer(await next.ask('GET', '/sessions?operator=eve'))).toEqual(required)
      expect(codeOfAnswer(await next.ask('DELETE', `/sessions/${id}`))).toEqual([
        404,
        'operator.session_not_found',
      ])
      expect((await editor.ask('GET', '/session')).status).toBe(200)
    })

    test('limit a session of before, and do not limit editors and tokens', async () => {
      expect(codeOfAnswer(await browser.ask('GET', '/operators'))).toEqual(required)
      const editor = await server.signedIn(await server.operators.add('eve', { role: 'editor' }))
      expect((await editor.ask('GET', '/operators')).status).toBe(200)
      await server.operators.change('eve', { role: 'admin' })
      expect(codeOfAnswer(await editor.ask('GET', '/operators'))).toEqual(required)
      const headers = { authorization: `Bearer ${token}` }
      const byToken = await server.browser().ask('GET', '/operators', undefined, headers)
      expect(byToken.status).toBe(200)
    })

    test('keep an admin from removing the last one', async () => {
      const next = await server.signedIn(token)
      await addTotp(next, server.clock)
      const refused = await next.ask('DELETE', '/session/second-factor/totp')
      expect(codeOfAnswer(refused)).toEqual([409, 'operator.last_second_factor'])
      const { added } = await passkey(next)
      expect((await next.ask('DELETE', '/session/second-factor/totp')).status).toBe(204)
      const path = `/session/second-factor/passkeys/${added.body.id}`
      expect(codeOfAnswer(await next.ask('DELETE', path))).toEqual([
        409,
        'operator.last_second_factor',
      ])
    })
  })
})
