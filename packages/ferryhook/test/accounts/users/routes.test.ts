import { serviceStores } from '@strongroom/kit/testing/stores'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { type Ask, openApi, ORIGIN, PASSWORD } from '../../support/test-api.ts'

const NEW_PASSWORD = 'another long password'
let people = 0
const newcomer = () => ({ email: `new-${++people}@example.com`, name: 'Grace', password: PASSWORD })

describe.each(serviceStores())('accounts on $name', (store) => {
  const api = openApi(store)
  let byInvite: Ask
  let closed: Ask

  beforeAll(async () => {
    byInvite = await api.another({ FERRYHOOK_SIGNUP: 'invite', FERRYHOOK_DEFAULT_PLAN: 'free' })
    closed = await api.another({ FERRYHOOK_SIGNUP: 'closed' })
  })

  const login = (email: string, password: string) =>
    api.ask('POST', '/auth/login', { body: { email, password } })
  const invite = async () =>
    (await api.ask('POST', '/invites', { token: api.operator })).body.ticket as string
  const resetLink = async (userId: string) =>
    (await api.ask('POST', `/users/${userId}/password-resets`, { token: api.operator })).body
  const reset = (ticket: string, password = NEW_PASSWORD) =>
    api.ask('POST', '/auth/password-reset', { body: { ticket, password } })
  const codeOf = (answer: { body: { error: { code: string } } }) => answer.body.error.code

  describe('signing up', () => {
    test('is rejected if sign-up is closed', async () => {
      const body = { ...newcomer(), invite: await invite() }
      expect(codeOf(await closed('POST', '/auth/signup', { body }))).toBe('ferryhook.signup_closed')
    })

    test('requires an invite if the policy does, and assigns the default plan', async () => {
      const without = await byInvite('POST', '/auth/signup', { body: newcomer() })
      expect(without.status).toBe(403)
      expect(codeOf(without)).toBe('ferryhook.invite_required')
      const body = { ...newcomer(), invite: await invite() }
      const answer = await byInvite('POST', '/auth/signup', { body })
      expect(answer.status).toBe(201)
      expect(answer.body.user.plan).toBe('free')
    })

    test('works once with an invite, and not after it expired', async () => {
      const ticket = await invite()
      const use = () =>
        byInvite('POST', '/auth/signup', { body: { ...newcomer(), invite: ticket } })
      const answers = await Promise.all([use(), use(), use()])
      expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['201', '403', '403'])
      expect(codeOf(await use())).toBe('ferryhook.invalid_invite')
      const old = await invite()
      api.clock.advance({ days: 7 })
      const late = await byInvite('POST', '/auth/signup', { body: { ...newcomer(), invite: old } })
      expect(codeOf(late)).toBe('ferryhook.invalid_invite')
    })

    test('with a taken address is rejected and does not consume the invite', async () => {
      const { email } = await api.person()
      const ticket = await invite()
      const taken = { ...newcomer(), email: email.toUpperCase(), invite: ticket }
      const answer = await byInvite('POST', '/auth/signup', { body: taken })
      expect(answer.status).toBe(409)
      expect(codeOf(answer)).toBe('ferryhook.email_taken')
      const body = { ...newcomer(), invite: ticket }
      expect((await byInvite('POST', '/auth/signup', { body })).status).toBe(201)
    })

    test('is rejected for an invalid address, name or password', async () => {
      const wrong = [
        [{ email: 'nobody' }, 'body.email'],
        [{ name: '  ' }, 'body.name'],
        [{ password: 'short' }, 'body.password'],
        [{ password: 'é'.repeat(40) }, 'body.password'],
        [{ plan: 'team' }, 'body.plan'],
      ] as const
      for (const [given, path] of wrong) {
        const answer = await api.ask('POST', '/auth/signup', { body: { ...newcomer(), ...given } })
        expect(answer.status).toBe(400)
        expect(answer.body.error).toMatchObject({ code: 'request.invalid', details: [{ path }] })
      }
    })

    test('is rate limited by network', async () => {
      const peer = '198.51.100.20'
      const attempt = () => api.ask('POST', '/auth/signup', { body: newcomer(), peer })
      for (let made = 0; made < 20; made++) expect((await attempt()).status).toBe(201)
      expect((await attempt()).status).toBe(429)
    })
  })

  describe('a password', () => {
    test('is changed with the current password, which ends the other sessions', async () => {
      const { email, token } = await api.person()
      const other = await login(email, PASSWORD)
      const change = (currentPassword: string | undefined) =>
        api.ask('PUT', '/account/password', {
          token,
          body: { currentPassword, newPassword: NEW_PASSWORD },
        })
      for (const wrong of ['incorrect horse', undefined]) {
        const refused = await change(wrong)
        expect(refused.status).toBe(403)
        expect(codeOf(refused)).toBe('ferryhook.wrong_password')
      }
      expect((await change(PASSWORD)).status).toBe(204)
      expect((await api.ask('GET', '/account', { token })).status).toBe(200)
      const ended = await api.ask('GET', '/account', { token: other.body.accessToken })
      expect(ended.status).toBe(401)
      expect((await login(email, PASSWORD)).status).toBe(401)
      expect((await login(email, NEW_PASSWORD)).status).toBe(200)
    })

    test('cannot be guessed with a stolen session', async () => {
      const { token } = await api.person()
      const guess = () =>
        api.ask('PUT', '/account/password', {
          token,
          body: { currentPassword: 'guess', newPassword: NEW_PASSWORD },
        })
      for (let guesses = 0; guesses < 10; guesses++) expect((await guess()).status).toBe(403)
      expect((await guess()).status).toBe(429)
    })

    test('is reset once with the link of an operator, which ends all sessions', async () => {
      const { id, email, token } = await api.person()
      const { ticket, url, expiresAt } = await resetLink(id)
      expect(url).toBe(`${ORIGIN}/console/reset#ticket=${ticket}`)
      expect(Date.parse(expiresAt)).toBe(api.clock.now() + 86_400_000)
      const answers = await Promise.all([reset(ticket), reset(ticket), reset(ticket)])
      expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['200', '403', '403'])
      expect(codeOf(await reset(ticket))).toBe('ferryhook.invalid_reset')
      expect((await api.ask('GET', '/account', { token })).status).toBe(401)
      expect((await login(email, NEW_PASSWORD)).status).toBe(200)
    })

    test('is not reset with an expired link, an invite or a forged ticket', async () => {
      const { id, email } = await api.person()
      const { ticket } = await resetLink(id)
      expect(codeOf(await reset(await invite()))).toBe('ferryhook.invalid_reset')
      expect(codeOf(await reset('x'))).toBe('ferryhook.invalid_reset')
      api.clock.advance({ days: 1 })
      expect(codeOf(await reset(ticket))).toBe('ferryhook.invalid_reset')
      expect((await login(email, PASSWORD)).status).toBe(200)
    })

    test('is not reset with a link from before a change of the password or the address', async () => {
      const { id, email, token } = await api.person()
      const links = [await resetLink(id), await resetLink(id), await resetLink(id)]
      const together = await Promise.all(links.slice(0, 2).map(({ ticket }) => reset(ticket)))
      expect(together.map(({ status }) => String(status)).toSorted()).toEqual(['200', '403'])
      expect(codeOf(await reset(links[2].ticket, 'a stolen link'))).toBe('ferryhook.invalid_reset')
      expect((await login(email, NEW_PASSWORD)).status).toBe(200)
      expect((await api.ask('GET', '/account', { token })).status).toBe(401)

      const changed = await api.person()
      const byPassword = await resetLink(changed.id)
      const body = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD }
      await api.ask('PUT', '/account/password', { token: changed.token, body })
      expect(codeOf(await reset(byPassword.ticket))).toBe('ferryhook.invalid_reset')

      const moved = await api.person()
      const toOldAddress = await resetLink(moved.id)
      const address = { email: `moved-${moved.email}`, currentPassword: PASSWORD }
      await api.ask('PATCH', '/account', { token: moved.token, body: address })
      expect(codeOf(await reset(toOldAddress.ticket))).toBe('ferryhook.invalid_reset')
    })

    test('that is invalid does not consume the link', async () => {
      const { ticket } = await resetLink((await api.person()).id)
      const refused = await reset(ticket, 'é'.repeat(40))
      expect(refused.body.error.details).toMatchObject([{ path: 'body.password' }])
      expect((await reset(ticket)).status).toBe(200)
    })
  })

  describe('an account', () => {
    test('shows the user without the password hash', async () => {
      const { id, email, token } = await api.person()
      const { body, text } = await api.ask('GET', '/account', { token })
      expect(body).toEqual({
        id,
        email,
        emailVerified: false,
        name: 'Ada',
        plan: 'team',
        hasPassword: true,
        identities: [],
        usageIsLowerBound: false,
        usageThisMonth: 0,
        usagePeriodStart: expect.stringMatching(/^2100-\d\d-01$/),
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      })
      expect(text).not.toContain('$2b$')
    })

    test('shows the usage of this month only', async () => {
      const { id, token } = await api.person()
      await api.stores.users.incrementUsage(id, 7)
      api.clock.advance({ seconds: 5 })
      expect((await api.ask('GET', '/account', { token })).body.usageThisMonth).toBe(7)
      api.clock.advance({ days: 31 })
      const key = await api.stores.apiKeys.create(id, { name: 'CI', permissions: 'read' })
      const later = await api.ask('GET', '/account', { token: key.key })
      expect(later.body.usageThisMonth).toBe(0)
      const now = new Date(api.clock.now()).toISOString()
      expect(later.body.usagePeriodStart).toBe(`${now.slice(0, 7)}-01`)
    })

    test('changes its name without and its address with the password', async () => {
      const { token, email } = await api.person()
      const change = (body: object) => api.ask('PATCH', '/account', { token, body })
      expect((await change({ name: 'Countess' })).body.name).toBe('Countess')
      const address = `moved-${email}`
      expect(codeOf(await change({ email: address }))).toBe('ferryhook.wrong_password')
      const moved = await change({ email: address, currentPassword: PASSWORD })
      expect(moved.body.email).toBe(address)
      expect((await login(address, PASSWORD)).status).toBe(200)
      expect((await login(email, PASSWORD)).status).toBe(401)
      const { email: taken } = await api.person()
      const refused = await change({ email: taken, currentPassword: PASSWORD })
      expect(codeOf(refused)).toBe('ferryhook.email_taken')
    })

    test('is exported whole, without secrets', async () => {
      const person = await api.person()
      const signingSecret = 'a secret of the provider'
      const sourceId = await api.source(person, { signingSecret })
      const connection = await api.connection(person, sourceId, {
        headers: { Authorization: 'Bearer tell-nobody' },
      })
      const key = await api.key(person, 'read')
      const answer = await api.ask('GET', '/account/export', { token: person.token })
      expect(answer.body).toMatchObject({
        user: { id: person.id },
        sources: [{ id: sourceId, hasSigningSecret: true }],
        connections: [{ id: connection.body.id, headerNames: ['authorization'] }],
        apiKeys: [{ prefix: key.slice(8, 16) }],
      })
      const actions = answer.body.audit.map(({ action }: { action: string }) => action)
      expect(actions).toEqual(
        expect.arrayContaining(['account.exported', 'source.created', 'account.created']),
      )
      const secrets = [signingSecret, connection.body.signingSecret, key, 'tell-nobody', '$2b$']
      for (const secret of secrets) expect(answer.text).not.toContain(secret)
      expect(answer.text).not.toMatch(/AgR4|Hash/)
    })

    test('is deleted with the password, including everything in it', async () => {
      const person = await api.person()
      const { token, email, id } = person
      const sourceId = await api.source(person)
      await api.connection(person, sourceId)
      const deleted = await api.source(person)
      await api.ask('DELETE', `/sources/${deleted}`, { token })
      const key = await api.key(person, 'admin')
      const end = (body: object, as = token) =>
        api.ask('POST', '/account/delete', { token: as, body })
      expect(codeOf(await end({ currentPassword: 'guess' }))).toBe('ferryhook.wrong_password')
      for (const wrong of [{ currentPassword: 'guess' }, { email }, {}]) {
        expect(codeOf(await end(wrong, key))).toBe('ferryhook.wrong_password')
      }
      const reading = await api.key(person, 'read')
      const refused = await end({ currentPassword: PASSWORD }, reading)
      expect(codeOf(refused)).toBe('ferryhook.permission_required')
      expect((await end({ currentPassword: PASSWORD })).status).toBe(204)
      for (const each of [token, key]) {
        expect((await api.ask('GET', '/account', { token: each })).status).toBe(401)
      }
      expect((await login(email, PASSWORD)).status).toBe(401)
      const { Items = [] } = await api.db.scan({ TableName: 'ferryhook-main' })
      const left = Items.filter((item) => JSON.stringify(item).includes(id))
      expect(left).toEqual([])
      const again = await api.ask('POST', '/auth/signup', { body: { ...newcomer(), email } })
      expect(again.status).toBe(201)
      expect(again.body.user.id).not.toBe(id)
    })

    test('that an operator added is deleted with an admin key and its address', async () => {
      const email = 'added-by-operator@example.com'
      const added = await api.ask('POST', '/users', { token: api.operator, body: { email } })
      const { id, key } = added.body
      const end = (body: object, token = key) => api.ask('POST', '/account/delete', { token, body })
      for (const body of [{}, { email: 'other@example.com' }, { currentPassword: PASSWORD }]) {
        const { status, body: answer } = await end(body)
        expect([status, answer.error.details[0].path]).toEqual([400, 'body.email'])
      }
      const { body: made } = await api.ask('POST', '/api-keys', {
        token: key,
        body: { name: 'CI', permissions: 'write' },
      })
      expect(codeOf(await end({ email }, made.key))).toBe('ferryhook.permission_required')
      expect((await end({ email: 'Added-By-Operator@example.com' })).status).toBe(204)
      expect((await api.ask('GET', '/account', { token: key })).status).toBe(401)
      const { Items = [] } = await api.db.scan({ TableName: 'ferryhook-main' })
      expect(Items.filter((item) => JSON.stringify(item).includes(id))).toEqual([])
    })

    test('whose user signs in through a provider is not deleted with an API key', async () => {
      const user = await api.stores.users.create({
        email: 'github-only@example.com',
        name: 'Ada',
        plan: 'pro',
        githubId: '4711',
      })
      const { key: token } = await api.stores.apiKeys.create(user.userId, {
        name: 'CI',
        permissions: 'admin',
      })
      const body = { email: user.email }
      const refused = await api.ask('POST', '/account/delete', { token, body })
      expect(codeOf(refused)).toBe('ferryhook.session_required')
      expect(await api.stores.users.getById(user.userId)).toEqual(user)
    })

    test('is deleted even if its purge fails, which is logged', async () => {
      const person = await api.person()
      const { token, email } = person
      await api.source(person)
      const before = api.logged.length
      const failing = vi.spyOn(api.db, 'deleteItem').mockRejectedValue(new Error('Not now'))
      const body = { currentPassword: PASSWORD }
      const answer = await api.ask('POST', '/account/delete', { token, body })
      failing.mockRestore()
      expect(answer.status).toBe(204)
      expect((await login(email, PASSWORD)).status).toBe(401)
      const told = api.logged.slice(before).filter((line) => line.includes('Not now'))
      expect(told).toHaveLength(1)
      expect(told[0]).toContain('account purge failed, a worker will resume it')
    })

    test('that is deleted during concurrent writes leaves nothing behind', async () => {
      const { token, id } = await api.person()
      const make = () => [
        api.ask('POST', '/sources', { token, body: { name: 'S', provider: 'custom' } }),
        api.ask('POST', '/api-keys', { token, body: { name: 'K', permissions: 'read' } }),
        api.ask('PATCH', '/account', { token, body: { name: 'Somebody' } }),
      ]
      const end = () =>
        api.ask('POST', '/account/delete', { token, body: { currentPassword: PASSWORD } })
      const answers = await Promise.all([...make(), end(), ...make(), end(), ...make()])
      const statuses = new Set(answers.map(({ status }) => status))
      expect(statuses).toContain(204)
      expect([200, 201, 204, 401]).toEqual(expect.arrayContaining([...statuses]))
      const { Items = [] } = await api.db.scan({ TableName: 'ferryhook-main' })
      expect(Items.filter(({ PK }) => PK === `USER#${id}`)).toEqual([])
    })

    test('that is deleted cannot be restored with an earlier reset link', async () => {
      const { token, id } = await api.person()
      const { ticket } = await resetLink(id)
      await api.ask('POST', '/account/delete', { token, body: { currentPassword: PASSWORD } })
      expect(codeOf(await reset(ticket))).toBe('ferryhook.invalid_reset')
    })
  })
})
