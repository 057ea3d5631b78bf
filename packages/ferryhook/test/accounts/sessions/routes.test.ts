import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test, vi } from 'vitest'
import { openApi, ORIGIN, PASSWORD } from '../../support/test-api.ts'

const COOKIE = '__Host-ferryhook-session'

describe.each(serviceStores())('sessions on $name', (store) => {
  const api = openApi(store)

  const login = (email: string, password = PASSWORD, peer?: string) =>
    api.ask('POST', '/auth/login', { body: { email, password }, ...(peer && { peer }) })
  const refresh = (cookies: Record<string, string>) =>
    api.ask('POST', '/auth/refresh', { cookies, headers: { origin: ORIGIN } })
  const me = (token: string) => api.ask('GET', '/account', { token })

  test('a new user is signed in, with an access token of an hour and a cookie for the next', async () => {
    const email = 'Ada@Example.com'
    const answer = await api.ask('POST', '/auth/signup', {
      body: { email, name: ' Ada ', password: PASSWORD },
    })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      accessToken: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      tokenType: 'Bearer',
      expiresIn: 3600,
      user: expect.objectContaining({
        email: 'ada@example.com',
        name: 'Ada',
        plan: 'team',
        hasPassword: true,
        identities: [],
      }),
      notices: [],
    })
    const [cookie] = answer.headers.getSetCookie()
    expect(cookie).toMatch(/^__Host-ferryhook-session=usr_/)
    for (const attribute of ['HttpOnly', 'Secure', 'SameSite=Strict', 'Path=/', 'Max-Age=2592000'])
      expect(cookie).toContain(attribute)
    expect(answer.text).not.toContain(answer.cookies[COOKIE])
    expect((await me(answer.body.accessToken)).body.email).toBe('ada@example.com')
  })

  test('access tokens are signed with ES256 and end after an hour', async () => {
    const { token } = await api.person()
    const header = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())
    expect(header).toEqual({ alg: 'ES256', kid: '1', typ: 'JWT' })
    api.clock.advance({ seconds: 3599 })
    expect((await me(token)).status).toBe(200)
    api.clock.advance({ seconds: 1 })
    expect((await me(token)).body.error.code).toBe('ferryhook.unauthorized')
  })

  test('a password that is changed while it is checked does not sign in', async () => {
    const { id, email } = await api.person()
    const made = await api.ask('POST', `/users/${id}/password-resets`, { token: api.operator })
    vi.spyOn(api.passwords, 'verify').mockImplementationOnce(async () => {
      const body = { ticket: made.body.ticket, password: 'another long password' }
      expect((await api.ask('POST', '/auth/password-reset', { body })).status).toBe(200)
      return true
    })
    const answer = await login(email)
    expect(answer.body.error.code).toBe('ferryhook.session_ended')
    expect(answer.cookies).toEqual({})
    expect(await api.stores.sessions.listByUser(id)).toEqual([])
  })

  test('a forged token is rejected', async () => {
    const { token } = await api.person()
    const [header = '', payload = '', signature = ''] = token.split('.')
    const none = Buffer.from('{"alg":"none","kid":"1"}').toString('base64url')
    const forged = [
      `${none}.${payload}.`,
      `${header}.${payload}.${Buffer.alloc(64).toString('base64url')}`,
      `${header}.${Buffer.from('{"sub":"usr_0000000000000000"}').toString('base64url')}.${signature}`,
      `${header}.${payload}`,
      'fh_live_nobody',
      'x'.repeat(5000),
    ]
    for (const each of forged) {
      const answer = await me(each)
      expect(answer.status).toBe(401)
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    }
    const elsewhere = await api.another({}, { publicUrl: 'https://other.example' })
    expect((await elsewhere('GET', '/account', { token })).status).toBe(401)
  })

  test('the right password signs in, a wrong one does not', async () => {
    const { email } = await api.person()
    expect((await login(email.toUpperCase())).status).toBe(200)
    const wrong = await login(email, 'incorrect horse')
    expect(wrong.status).toBe(401)
    expect(wrong.body.error.code).toBe('ferryhook.wrong_credentials')
    expect(wrong.cookies).toEqual({})
  })

  test('an unknown address has the same response as a wrong password', async () => {
    const { email } = await api.person()
    const known = await login(email, 'incorrect horse')
    const before = api.passwords.asked.length
    const unknown = await login('nobody@example.com', 'incorrect horse')
    expect(unknown.text).toBe(known.text)
    expect(unknown.status).toBe(known.status)
    // The work is the same: `verify` without a hash takes as long as with one.
    expect(api.passwords.asked.slice(before)).toEqual([undefined])
  })

  test('after ten attempts to sign in as one user, a network has to wait', async () => {
    const { email } = await api.person()
    const peer = '198.51.100.7'
    for (let attempt = 0; attempt < 10; attempt++) {
      expect((await login(email, 'incorrect horse', peer)).status).toBe(401)
    }
    const refused = await login(email, PASSWORD, peer)
    expect(refused.body.error.code).toBe('request.rate_limited')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    const unknown = 'nobody-either@example.com'
    for (let attempt = 0; attempt < 10; attempt++) await login(unknown, 'x', peer)
    expect((await login(unknown, 'x', peer)).status).toBe(429)
    expect((await login(email)).status).toBe(200)
    api.clock.advance({ minutes: 30 })
    expect((await login(email, PASSWORD, peer)).status).toBe(200)
  })

  test('failed attempts from many networks neither lock a user out nor continue unlimited', async () => {
    const { email } = await api.person()
    const peers = Array.from({ length: 15 }, (_, n) => `198.51.100.${100 + n}`)
    const attempts = async (peer: string) => {
      const statuses: number[] = []
      for (let n = 0; n < 9; n++) statuses.push((await login(email, 'wrong horse', peer)).status)
      return statuses.filter((status) => status === 401).length
    }
    let admitted = 0
    for (const peer of peers.slice(0, 12)) admitted += await attempts(peer)
    expect(admitted).toBeGreaterThanOrEqual(100)
    // Each further network gets two attempts, and so does the network of the user.
    for (const peer of peers.slice(12)) expect(await attempts(peer)).toBe(2)
    expect((await login(email, PASSWORD, '203.0.113.20')).status).toBe(200)
  })

  test.each([
    ['/64', 10, (n: string) => `2001:db8:a::${n}`],
    ['/56', 40, (n: string) => `2001:db8:b:c${n.padStart(2, '0')}::1`],
  ])('attempts from a %s of IPv6 are counted together', async (_, limit, toAddress) => {
    const { email } = await api.person()
    let admitted = 0
    for (let n = 0; n < limit + 5; n++) {
      const { status } = await login(email, 'wrong horse', toAddress(n.toString(16)))
      if (status === 401) admitted += 1
    }
    expect(admitted).toBe(limit)
  })

  test('networks and addresses of sign-in attempts are not stored in clear', async () => {
    const { email } = await api.person()
    await login(email, 'incorrect horse', '198.51.100.8')
    const { Items = [] } = await api.db.scan({ TableName: 'ferryhook-events' })
    const rates = Items.filter(({ PK }) => String(PK).startsWith('RATE#login'))
    expect(rates.length).toBeGreaterThan(0)
    expect(JSON.stringify(rates)).not.toContain('198.51.100.8')
    expect(JSON.stringify(rates)).not.toContain(email)
  })

  test('a refresh gives a new access token and a new cookie', async () => {
    const { cookies, id } = await api.person()
    const answer = await refresh(cookies)
    expect(answer.status).toBe(200)
    expect(answer.body.user.id).toBe(id)
    expect(answer.cookies[COOKIE]).not.toBe(cookies[COOKIE])
    expect((await me(answer.body.accessToken)).status).toBe(200)
    api.clock.advance({ days: 29 })
    expect((await refresh(answer.cookies)).status).toBe(200)
  })

  test('the slower of two tabs stays signed in, and leaves the cookie of the faster one', async () => {
    const { cookies } = await api.person()
    const first = await refresh(cookies)
    api.clock.advance({ seconds: 10 })
    const second = await refresh(cookies)
    expect(second.status).toBe(200)
    expect(second.cookies).toEqual({})
    expect((await me(second.body.accessToken)).status).toBe(200)
    expect((await refresh(first.cookies)).status).toBe(200)
  })

  test('one of many concurrent refreshes gets the next cookie, and all stay signed in', async () => {
    const { cookies } = await api.person()
    const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(cookies)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(answers.filter((answer) => answer.cookies[COOKIE] !== undefined)).toHaveLength(1)
  })

  test('a cookie that is used again later ends the session for thief and owner', async () => {
    const { cookies, token, email } = await api.person()
    const next = await refresh(cookies)
    api.clock.advance({ seconds: 11 })
    const reused = await refresh(cookies)
    expect(reused.body.error.code).toBe('ferryhook.session_ended')
    expect(reused.cookies[COOKIE]).toBe('')
    expect((await refresh(next.cookies)).status).toBe(401)
    expect((await me(token)).status).toBe(401)
    expect((await me(next.body.accessToken)).status).toBe(401)
    const again = await login(email)
    const { body } = await api.ask('GET', '/audit', { token: again.body.accessToken })
    expect(body.items.map(({ action }: { action: string }) => action)).toContain(
      'account.session_reused',
    )
  })

  test('without a valid cookie there is no session', async () => {
    const { cookies } = await api.person()
    const value = cookies[COOKIE] ?? ''
    const changed = value.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
    for (const each of [{}, { [COOKIE]: 'x' }, { [COOKIE]: value.replace('rtk_', 'rtk-') }]) {
      expect((await refresh(each)).body.error.code).toBe('ferryhook.session_ended')
    }
    expect((await refresh({ [COOKIE]: changed })).status).toBe(401)
    expect((await refresh(cookies)).status).toBe(200)
  })

  test('a cookie older than the previous one also ends the session', async () => {
    const { cookies } = await api.person()
    let newest = await refresh(cookies)
    for (let time = 0; time < 3; time++) newest = await refresh(newest.cookies)
    expect((await refresh(cookies)).body.error.code).toBe('ferryhook.session_ended')
    expect((await refresh(newest.cookies)).status).toBe(401)
    expect((await me(newest.body.accessToken)).status).toBe(401)
  })

  test('a used cookie is not accepted after the clock is set back', async () => {
    const { cookies } = await api.person()
    const next = await refresh(cookies)
    const setBack = vi.spyOn(api.clock, 'now').mockReturnValue(api.clock.now() - 300_000)
    const reused = await refresh(cookies)
    setBack.mockRestore()
    expect(reused.status).toBe(401)
    expect((await refresh(next.cookies)).status).toBe(401)
  })

  test('signing out ends the session and its access tokens immediately', async () => {
    const { cookies, token, email } = await api.person()
    const other = await login(email)
    const answer = await api.ask('POST', '/auth/logout', { cookies, headers: { origin: ORIGIN } })
    expect(answer.status).toBe(204)
    expect(answer.cookies[COOKIE]).toBe('')
    expect((await me(token)).status).toBe(401)
    expect((await refresh(cookies)).status).toBe(401)
    expect((await me(other.body.accessToken)).status).toBe(200)
    expect((await api.ask('POST', '/auth/logout')).status).toBe(204)
  })

  test('knowing the ids of a session is not enough to end it', async () => {
    const { cookies, token } = await api.person()
    const [userId, familyId] = (cookies[COOKIE] ?? '').split('.')
    const [, , ofAnother] = ((await api.person()).cookies[COOKIE] ?? '').split('.')
    const next = await refresh(cookies)
    api.clock.advance({ seconds: 11 })
    for (const secret of ['A'.repeat(43), ofAnother]) {
      const guess = { [COOKIE]: `${userId}.${familyId}.${secret}` }
      await api.ask('POST', '/auth/logout', { cookies: guess })
      expect((await refresh(guess)).body.error.code).toBe('ferryhook.session_ended')
    }
    expect((await me(token)).status).toBe(200)
    const { body } = await api.ask('GET', '/audit', { token })
    expect(body.items.map(({ action }: { action: string }) => action)).not.toContain(
      'account.session_reused',
    )
    expect((await refresh(next.cookies)).status).toBe(200)
  })

  test('pages of other origins cannot use the cookie', async () => {
    const { cookies, token } = await api.person()
    const foreign = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://hooks.example' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ] as Record<string, string>[]
    for (const path of ['/auth/refresh', '/auth/logout', '/auth/login', '/auth/signup']) {
      for (const headers of foreign) {
        const answer = await api.ask('POST', path, { cookies, headers })
        expect(answer.body.error.code).toBe('ferryhook.foreign_origin')
      }
    }
    expect((await me(token)).status).toBe(200)
    expect((await refresh(cookies)).status).toBe(200)
  })

  test('a page that came through a tunnel, and so has another origin, can use its own cookie', async () => {
    const { cookies } = await api.person()
    const headers = { origin: 'http://localhost:8080', 'sec-fetch-site': 'same-origin' }
    expect((await api.ask('POST', '/auth/refresh', { cookies, headers })).status).toBe(200)
  })

  test('tokens are accepted as long as their server secret is', async () => {
    const secret = (version: number) => ({ version, key: new Uint8Array(32).fill(version) })
    let versions = [secret(1)]
    const secrets = {
      current: async () => versions[0] ?? secret(1),
      accepted: async () => versions,
    }
    const ask = await api.another({}, { secrets })
    const { email } = await api.person()
    const signIn = async () =>
      (await ask('POST', '/auth/login', { body: { email, password: PASSWORD } })).body.accessToken
    const before = await signIn()
    versions = [secret(2), secret(1)]
    const after = await signIn()
    expect((await ask('GET', '/account', { token: before })).status).toBe(200)
    expect((await ask('GET', '/account', { token: after })).status).toBe(200)
    versions = [secret(2)]
    expect((await ask('GET', '/account', { token: before })).status).toBe(401)
    expect((await ask('GET', '/account', { token: after })).status).toBe(200)
  })

  test('no password, token or cookie is logged or stored', async () => {
    const { token, cookies, email } = await api.person()
    await login(email)
    const key = await api.key({ token, cookies, email, id: '' }, 'read')
    await me(key)
    const tables = ['ferryhook-main', 'ferryhook-events']
    const stored = await Promise.all(tables.map((TableName) => api.db.scan({ TableName })))
    const everything = JSON.stringify(stored) + api.logged.join('')
    const secret = (cookies[COOKIE] ?? '').split('.')[2] ?? ''
    for (const each of [PASSWORD, token, secret, key]) expect(everything).not.toContain(each)
  })
})
