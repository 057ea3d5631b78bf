import type { Item } from '@strongroom/kit/db'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Ask, openApi, PASSWORD, type Person } from '../../support/test-api.ts'
import { type Mailbox, openMailbox } from '../../support/mailbox.ts'
import { required } from '../../support/test-stores.ts'

const NEW_PASSWORD = 'another long password'

describe.each(serviceStores())('addresses of users on $name', (store) => {
  const api = openApi(store)
  let mailbox: Mailbox
  /** With mail. */
  let ask: Ask

  beforeAll(async () => {
    mailbox = await openMailbox()
    ask = await api.another(mailbox.env)
  })
  afterAll(() => mailbox.close())

  const ticketIn = (text: string) => required(/ this ticket: (\S+)/.exec(text)?.[1])
  const lastTicket = () => ticketIn(required(mailbox.received.at(-1)).text)
  const confirm = (token: string, ticket: string) =>
    ask('POST', '/account/email-verification/confirm', { token, body: { ticket } })
  const account = async ({ token }: Person) => (await ask('GET', '/account', { token })).body
  const offered = async ({ id }: Person): Promise<string> =>
    (await api.ask('POST', `/users/${id}/password-resets`, { token: api.operator })).body.ticket
  const reset = (ticket: string) =>
    ask('POST', '/auth/password-reset', { body: { ticket, password: NEW_PASSWORD } })
  const isAccepted = async (key: string) =>
    (await ask('GET', '/account', { token: key })).status === 200

  /** Signed up where mail is configured; the ticket is in the mail. */
  let people = 0
  async function signedUp(): Promise<Person & { ticket: string }> {
    const email = `reader-${++people}@example.com`
    const before = mailbox.received.length
    const body = { email, name: 'Ada', password: PASSWORD }
    const answer = await ask('POST', '/auth/signup', { body })
    await mailbox.until(before + 1)
    const { accessToken: token, user } = answer.body
    expect(required(mailbox.received[before]).to).toEqual([email])
    return { id: user.id, email, token, cookies: answer.cookies, ticket: lastTicket() }
  }

  test('are verified by the mail that follows a sign-up, once', async () => {
    const person = await signedUp()
    expect(await account(person)).toMatchObject({ emailVerified: false })
    expect((await confirm(person.token, person.ticket)).body).toMatchObject({ emailVerified: true })
    expect((await confirm(person.token, person.ticket)).body.error.code).toBe(
      'ferryhook.invalid_verification',
    )
    expect(await account(person)).toMatchObject({ emailVerified: true })
    const { body } = await ask('GET', '/audit', { token: person.token })
    expect(JSON.stringify(body)).toContain('account.email_verified')
  })

  test('are not verified by another user, without a session, or after the address changed', async () => {
    const [person, other] = [await signedUp(), await signedUp()]
    expect((await confirm(other.token, person.ticket)).status).toBe(403)
    expect((await confirm('', person.ticket)).status).toBe(401)
    const key = await api.key(person, 'admin')
    expect((await confirm(key, person.ticket)).status).toBe(403)
    const before = mailbox.received.length
    const change = { email: `new-${person.email}`, currentPassword: PASSWORD }
    await ask('PATCH', '/account', { token: person.token, body: change })
    expect((await confirm(person.token, person.ticket)).status).toBe(403)
    await mailbox.until(before + 1)
    expect((await confirm(person.token, lastTicket())).body).toMatchObject({ emailVerified: true })
  })

  test('are unverified again after a change', async () => {
    const person = await signedUp()
    await confirm(person.token, person.ticket)
    const before = mailbox.received.length
    const body = { email: `next-${person.email}`, currentPassword: PASSWORD }
    const changed = await ask('PATCH', '/account', { token: person.token, body })
    expect(changed.body).toMatchObject({ emailVerified: false })
    await mailbox.until(before + 1)
  })

  test('that are not verified get no reset link by mail', async () => {
    const [unverified, verified] = [await signedUp(), await signedUp()]
    await confirm(verified.token, verified.ticket)
    const before = mailbox.received.length
    for (const { email } of [unverified, verified]) {
      const { status } = await ask('POST', '/auth/password-forgotten', { body: { email } })
      expect(status).toBe(202)
    }
    await mailbox.until(before + 1)
    expect(mailbox.received.slice(before).map(({ to }) => to)).toEqual([[verified.email]])
  })

  test('an operator’s reset link verifies the address and revokes all that existed before', async () => {
    const person = await api.person()
    const key = await api.key(person, 'admin')
    const [{ keyId: id } = { keyId: '' }] = await api.stores.apiKeys.listByUser(person.id)
    await api.stores.users.update(person.id, { githubId: `github-of-${person.id}` })
    const { status, body } = await reset(await offered(person))
    expect(status).toBe(200)
    expect(body).toMatchObject({
      revoked: { apiKeys: [{ id }], identities: ['github'] },
      remaining: { apiKeys: [], identities: [] },
    })
    expect(await isAccepted(key)).toBe(false)
    expect(await api.stores.users.getByOAuth('github', `github-of-${person.id}`)).toBeNull()
    const login = await ask('POST', '/auth/login', {
      body: { email: person.email, password: NEW_PASSWORD },
    })
    expect(login.body.user).toMatchObject({ emailVerified: true, identities: [] })
    // The identity can be used again.
    const other = await api.person()
    await api.stores.users.update(other.id, { githubId: `github-of-${person.id}` })
  })

  test('a reset keeps what was created after the address was verified, and lists it', async () => {
    const person = await signedUp()
    const early = await api.key(person, 'admin')
    await api.stores.users.update(person.id, { githubId: `early-${person.id}` })
    api.clock.advance({ minutes: 1 })
    await confirm(person.token, person.ticket)
    api.clock.advance({ minutes: 1 })
    const late = await api.key(person, 'read')
    await api.stores.users.update(person.id, { googleId: `late-${person.id}` })
    const { body } = await reset(await offered(person))
    expect(body.revoked).toMatchObject({
      apiKeys: [{ permissions: 'admin' }],
      identities: ['github'],
    })
    expect(body.remaining).toMatchObject({
      apiKeys: [{ permissions: 'read' }],
      identities: ['google'],
    })
    expect([await isAccepted(early), await isAccepted(late)]).toEqual([false, true])
  })

  test('a key that a reset overtakes is not created', async () => {
    const person = await api.person()
    const user = required(await api.stores.users.getById(person.id))
    const ticket = await offered(person)
    expect((await reset(ticket)).status).toBe(200)
    const input = { name: 'late', permissions: 'admin' } as const
    await expect(
      api.stores.apiKeys.create(person.id, input, { expected: user }),
    ).rejects.toMatchObject({ reason: 'not_found' })
  })

  test('a revoked key stays revoked although its item could not be deleted', async () => {
    const person = await api.person()
    const key = await api.key(person, 'admin')
    const [stored] = await api.stores.apiKeys.listByUser(person.id)
    await reset(await offered(person))
    await api.db.putItem({ TableName: 'ferryhook-main', Item: { ...required(stored) } as Item })
    expect(await isAccepted(key)).toBe(false)
  })

  test('cannot be verified by mail where mail is not configured', async () => {
    const { token } = await api.person()
    const refused = await api.ask('POST', '/account/email-verification', { token })
    expect(refused.body.error.code).toBe('ferryhook.mail_not_configured')
  })
})
