import { serviceStores } from '@strongroom/kit/testing/stores'
import { testAuthenticator } from '@strongroom/kit/testing/test-authenticator'
import { describe, expect, test, vi } from 'vitest'
import { confirmation, enrol, firstStep, secondStep } from '../../support/second-factors.ts'
import { type Answer, openApi, ORIGIN, PASSWORD, type Person } from '../../support/test-api.ts'

const PENDING = '__Host-ferryhook-second-factor'
const SESSION = '__Host-ferryhook-session'

describe.each(serviceStores())('the second step of a sign-in on $name', (store) => {
  const api = openApi(store)

  const codeOf = (answer: Answer): string => answer.body.error?.code
  const actionsOf = async (token: string): Promise<string[]> =>
    (await api.ask('GET', '/audit', { token })).body.items.map(
      ({ action }: { action: string }) => action,
    )

  test('follows the password, and its code signs in', async () => {
    const ada = await enrol(api, await api.person())
    const first = await firstStep(api, ada)
    expect(first.status).toBe(401)
    expect(first.body.error).toMatchObject({
      code: 'ferryhook.second_factor_required',
      data: { methods: ['totp', 'recovery_code'] },
    })
    expect(Object.keys(first.cookies)).toEqual([PENDING])
    const [cookie] = first.headers.getSetCookie()
    for (const attribute of ['HttpOnly', 'Secure', 'SameSite=Strict', 'Path=/', 'Max-Age=600'])
      expect(cookie).toContain(attribute)
    const pending = await api.ask('GET', '/auth/second-factor', { cookies: first.cookies })
    expect(pending.body).toEqual({
      methods: ['totp', 'recovery_code'],
      expiresAt: expect.any(String),
    })
    const second = await secondStep(api, first, { method: 'totp', code: ada.code() })
    expect(second.status, second.text).toBe(200)
    expect(second.body.user.id).toBe(ada.id)
    expect(second.cookies).toMatchObject({
      [PENDING]: '',
      [SESSION]: expect.stringMatching(/^usr_/),
    })
    const { accessToken } = second.body
    expect((await api.ask('GET', '/account', { token: accessToken })).status).toBe(200)
    expect(await actionsOf(accessToken)).toContain('account.signed_in')
  })

  test('is not reached with a wrong password, whose response is that of a user without a factor', async () => {
    const [ada, bob] = [await enrol(api, await api.person()), await api.person()]
    const wrong = async ({ email }: Person) =>
      api.ask('POST', '/auth/login', { body: { email, password: 'incorrect horse' } })
    const [first, second] = [await wrong(ada), await wrong(bob)]
    expect(codeOf(first)).toBe('ferryhook.wrong_credentials')
    expect(first.text).toBe(second.text)
    expect(first.cookies).toEqual({})
  })

  test('accepts each code once, also of twenty concurrent requests with it', async () => {
    const ada = await enrol(api, await api.person())
    const code = ada.code()
    const firsts = await Promise.all(Array.from({ length: 4 }, () => firstStep(api, ada)))
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        secondStep(api, firsts[n % 4] as Answer, { method: 'totp', code }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const again = await secondStep(api, await firstStep(api, ada), { method: 'totp', code })
    expect(again.status).not.toBe(200)
  })

  test('works once for one first step', async () => {
    const ada = await enrol(api, await api.person())
    const first = await firstStep(api, ada)
    expect((await secondStep(api, first, { method: 'totp', code: ada.code() })).status).toBe(200)
    const again = await secondStep(api, first, { method: 'totp', code: ada.code() })
    expect(codeOf(again)).toBe('ferryhook.sign_in_expired')
    expect(again.cookies).toEqual({})
  })

  test('accepts five attempts, also if they are concurrent', async () => {
    const ada = await enrol(api, await api.person())
    const first = await firstStep(api, ada)
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => secondStep(api, first, { method: 'totp', code: '000000' })),
    )
    const codes = answers.map(codeOf)
    expect(codes.filter((code) => code === 'second-factor.wrong_code')).toHaveLength(5)
    expect(codes.filter((code) => code === 'ferryhook.sign_in_expired')).toHaveLength(7)
    const right = await secondStep(api, first, { method: 'totp', code: ada.code() })
    expect(codeOf(right)).toBe('ferryhook.sign_in_expired')
  })

  test('refuses codes of the app after ten wrong ones in an hour, and a recovery code still signs in', async () => {
    const ada = await enrol(api, await api.person())
    const codes: string[] = []
    for (let signIn = 0; signIn < 3; signIn++) {
      const first = await firstStep(api, ada)
      for (let attempt = 0; attempt < 4; attempt++)
        codes.push(codeOf(await secondStep(api, first, { method: 'totp', code: '000000' })))
    }
    expect(codes.filter((code) => code === 'second-factor.wrong_code')).toHaveLength(9)
    const first = await firstStep(api, ada)
    const locked = await secondStep(api, first, { method: 'totp', code: ada.code() })
    expect(codeOf(locked)).toBe('second-factor.locked')
    expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(0)
    const code = ada.recoveryCodes[0] ?? ''
    const saved = await secondStep(api, first, { method: 'recovery_code', code })
    expect(saved.status, saved.text).toBe(200)
    const actions = await actionsOf(saved.body.accessToken)
    expect(actions).toContain('account.second_factor_locked')
    expect(actions).toContain('account.recovery_code_used')
  })

  test('accepts each recovery code once, as people type it', async () => {
    const ada = await enrol(api, await api.person())
    expect(ada.recoveryCodes).toHaveLength(10)
    const code = (ada.recoveryCodes[3] ?? '').toLowerCase().replaceAll('-', ' ')
    const use = async () =>
      secondStep(api, await firstStep(api, ada), { method: 'recovery_code', code })
    expect((await use()).status).toBe(200)
    expect(codeOf(await use())).toBe('second-factor.wrong_code')
  })

  test('is not left out by a sign-in that the first factor overtakes', async () => {
    const ada = await api.person()
    const write = api.db.transactWriteItems.bind(api.db)
    vi.spyOn(api.db, 'transactWriteItems').mockImplementationOnce(async (input) => {
      await enrol(api, ada)
      return write(input)
    })
    const overtaken = await firstStep(api, ada)
    expect(codeOf(overtaken)).toBe('ferryhook.session_ended')
    expect(overtaken.cookies).toEqual({})
    expect(await api.stores.sessions.listByUser(ada.id)).toHaveLength(1)
    expect(codeOf(await firstStep(api, ada))).toBe('ferryhook.second_factor_required')
  })

  test('expires after ten minutes, and when the password is changed or reset', async () => {
    const ada = await enrol(api, await api.person())
    const late = await firstStep(api, ada)
    api.clock.advance({ seconds: 601 })
    const answers = [await secondStep(api, late, { method: 'totp', code: ada.code() })]
    const overtaken = await firstStep(api, ada)
    const made = await api.ask('POST', `/users/${ada.id}/password-resets`, { token: api.operator })
    const password = 'another long password'
    const reset = await api.ask('POST', '/auth/password-reset', {
      body: { ticket: made.body.ticket, password },
    })
    expect(reset.status).toBe(200)
    answers.push(await secondStep(api, overtaken, { method: 'totp', code: ada.code() }))
    answers.push(await secondStep(api, { cookies: {} }, { method: 'totp', code: ada.code() }))
    answers.push(
      await secondStep(api, { cookies: { [PENDING]: 'x' } }, { method: 'totp', code: '1' }),
    )
    expect(answers.map(({ text }) => text)).toEqual(Array(4).fill(answers[0]?.text))
    expect(codeOf(answers[0] as Answer)).toBe('ferryhook.sign_in_expired')
    // The new password does not replace the second factor.
    const next = await api.ask('POST', '/auth/login', { body: { email: ada.email, password } })
    expect(codeOf(next)).toBe('ferryhook.second_factor_required')
    const cookies = { cookies: next.cookies }
    expect((await secondStep(api, cookies, { method: 'totp', code: ada.code() })).status).toBe(200)
  })

  test('accepts a passkey for the sign-in that asked for it, once', async () => {
    const ada = await api.person()
    const { token } = ada
    const passkey = testAuthenticator({ origin: ORIGIN })
    const path = '/account/second-factor/passkeys'
    const options = await api.ask('POST', path, { token, body: confirmation })
    expect(options.status, options.text).toBe(200)
    const added = await api.ask('POST', `${path}/confirm`, {
      token,
      body: { name: 'Laptop', response: passkey.create(options.body) },
    })
    expect(added.status, added.text).toBe(200)
    const [first, other] = [await firstStep(api, ada), await firstStep(api, ada)]
    expect(first.body.error.data.methods).toEqual(['passkey', 'recovery_code'])
    const start = ({ cookies }: Answer) =>
      api.ask('POST', '/auth/second-factor/passkey', { cookies, headers: { origin: ORIGIN } })
    const asked = await start(first)
    expect(asked.status, asked.text).toBe(200)
    const proof = { method: 'passkey', response: passkey.get(asked.body) }
    expect(codeOf(await secondStep(api, other, proof))).toBe('second-factor.challenge_expired')
    const signedIn = await secondStep(api, first, proof)
    expect(signedIn.status, signedIn.text).toBe(200)
    expect(codeOf(await secondStep(api, first, proof))).toBe('ferryhook.sign_in_expired')
    const stranger = testAuthenticator({ origin: ORIGIN })
    const again = await start(other)
    const foreign = { method: 'passkey', response: stranger.get(again.body) }
    expect(codeOf(await secondStep(api, other, foreign))).toBe('second-factor.passkey_rejected')
  })

  test('without a passkey has no options for one', async () => {
    const ada = await enrol(api, await api.person())
    const { cookies } = await firstStep(api, ada)
    const answer = await api.ask('POST', '/auth/second-factor/passkey', { cookies })
    expect(codeOf(answer)).toBe('second-factor.passkeys_unavailable')
  })

  test('cannot be taken by a page of another origin', async () => {
    const ada = await enrol(api, await api.person())
    const { cookies } = await firstStep(api, ada)
    const answer = await api.ask('POST', '/auth/second-factor', {
      cookies,
      headers: { origin: 'https://evil.example' },
      body: { method: 'totp', code: ada.code() },
    })
    expect(codeOf(answer)).toBe('ferryhook.foreign_origin')
  })

  test('is stored by its hash, with the attempts that are left, for ten minutes', async () => {
    const ada = await enrol(api, await api.person())
    const first = await firstStep(api, ada)
    await secondStep(api, first, { method: 'totp', code: '000000' })
    const ticket = await api.stores.tickets.get('sign_in', first.cookies[PENDING] ?? '')
    expect(ticket).toEqual({
      PK: `TICKET#${ticket?.ticketHash}`,
      SK: 'TICKET',
      kind: 'sign_in',
      ticketHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      userId: ada.id,
      replaces: expect.stringMatching(/^[0-9a-f]{64}$/),
      attemptsLeft: 4,
      createdBy: 'sign-in',
      createdAt: new Date(api.clock.now()).toISOString(),
      expiresAt: Math.floor(api.clock.now() / 1000) + 600,
    })
    const logged = api.logged.join('\n')
    for (const secret of [first.cookies[PENDING], ada.secret, ...ada.recoveryCodes, PASSWORD])
      expect(logged).not.toContain(secret)
  })
})
