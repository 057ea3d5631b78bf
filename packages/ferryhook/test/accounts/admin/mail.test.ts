import { createAuditLog } from '@strongroom/kit/audit-log'
import { createOperators } from '@strongroom/kit/operators'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openApi, PASSWORD, type Person } from '../../support/test-api.ts'
import { required } from '../../support/test-stores.ts'
import { type Mailbox, openMailbox } from '../../support/mailbox.ts'

describe.each(serviceStores())('mail on $name', (store) => {
  const api = openApi(store)
  let mailbox: Mailbox
  let ask: typeof api.ask

  beforeAll(async () => {
    mailbox = await openMailbox()
    ask = await api.another({ ...mailbox.env, FERRYHOOK_SIGNUP: 'invite' })
  })
  afterAll(() => mailbox.close())

  const ticketIn = (text: string) => required(/ this (?:invite|ticket): (\S+)/.exec(text)?.[1])

  /** A person whose address is verified. */
  async function verified(): Promise<Person> {
    const person = await api.person()
    const { token } = person
    const before = mailbox.received.length
    expect((await ask('POST', '/account/email-verification', { token })).status).toBe(202)
    await mailbox.until(before + 1)
    const body = { ticket: ticketIn(required(mailbox.received[before]).text) }
    const confirmed = await ask('POST', '/account/email-verification/confirm', { token, body })
    expect(confirmed.body).toMatchObject({ emailVerified: true })
    return person
  }

  test('delivers an invite that creates one account', async () => {
    const before = mailbox.received.length
    const email = 'Newcomer@Example.com'
    const sent = await ask('POST', '/invites/mail', { token: api.operator, body: { email } })
    expect(sent.status).toBe(204)
    await mailbox.until(before + 1)
    const { to, text } = required(mailbox.received[before])
    expect(to).toEqual(['newcomer@example.com'])
    expect(text).toContain('From: Ferryhook <hooks@example.com>')
    const invite = ticketIn(text)
    expect(text).toContain(`https://hooks.example/console/sign-up#invite=${invite}`)
    const body = { email, name: 'New', password: PASSWORD, invite }
    expect((await ask('POST', '/auth/signup', { body })).status).toBe(201)
    // The mail that verifies the address.
    await mailbox.until(before + 2)
    expect((await ask('POST', '/auth/signup', { body })).status).toBe(403)
  })

  test('that the mail server rejects is reported to the operator', async () => {
    mailbox.refuse(1)
    const { status, body } = await ask('POST', '/invites/mail', {
      token: api.operator,
      body: { email: 'nobody@example.com' },
    })
    expect([status, body.error.code]).toEqual([502, 'ferryhook.mail_failed'])
  })

  test('with an invite is in the audit log as started, and as done or failed', async () => {
    const log = createAuditLog(api)
    const invite = async () => {
      const before = (await log.verify()).entries
      await ask('POST', '/invites/mail', {
        token: api.operator,
        body: { email: 'somebody@example.com' },
        peer: '192.0.2.7',
      })
      return (await log.list({ limit: (await log.verify()).entries - before })).items
    }
    const entry = { actor: 'operator:ops', action: 'ferryhook.invite.mailed', address: '192.0.2.7' }
    const sent = mailbox.received.length
    expect(await invite()).toMatchObject([
      { ...entry, outcome: 'done' },
      { ...entry, outcome: 'started' },
    ])
    await mailbox.until(sent + 1)
    mailbox.refuse(1)
    const failed = await invite()
    expect(failed).toMatchObject([
      { ...entry, outcome: 'failed' },
      { ...entry, outcome: 'started' },
    ])
    expect(failed[0]?.operation).toBe(failed[1]?.operation)
    const text = JSON.stringify(await log.list({ limit: 100 }))
    expect(text).not.toContain('somebody@example.com')
    expect(text).not.toContain(ticketIn(required(mailbox.received[sent]).text))
    const viewer = await createOperators(api).add('mail-viewer', { role: 'viewer' })
    const refused = await ask('POST', '/invites/mail', {
      token: viewer,
      body: { email: 'somebody@example.com' },
    })
    expect(refused.body.error.code).toBe('operator.forbidden')
    expect((await log.list({ limit: 1 })).items[0]).toEqual(failed[0])
  })

  test('delivers a password reset link that works once', async () => {
    const person = await verified()
    const before = mailbox.received.length
    const { email } = person
    expect((await ask('POST', '/auth/password-forgotten', { body: { email } })).status).toBe(202)
    await mailbox.until(before + 1)
    const { to, text } = required(mailbox.received[before])
    expect(to).toEqual([email])
    const body = { ticket: ticketIn(text), password: 'another long password' }
    expect((await ask('POST', '/auth/password-reset', { body })).status).toBe(200)
    expect((await ask('POST', '/auth/password-reset', { body })).status).toBe(403)
    const login = { body: { email, password: body.password } }
    expect((await ask('POST', '/auth/login', login)).status).toBe(200)
  })

  test('tells a user that an operator created a password reset link, without the link', async () => {
    const { id, email } = await api.person()
    const before = mailbox.received.length
    const path = `/users/${id}/password-resets`
    const { body } = await ask('POST', path, { token: api.operator })
    await mailbox.until(before + 1)
    const { to, text } = required(mailbox.received[before])
    expect(to).toEqual([email])
    expect(text).toContain('An operator of the server created a link')
    expect(text).not.toContain(body.ticket)
  })

  test('has the same response whether or not the account exists, and is sent only if it does', async () => {
    const { email } = await verified()
    const before = mailbox.received.length
    const known = await ask('POST', '/auth/password-forgotten', { body: { email } })
    const nobody = { email: 'nobody@example.com' }
    const unknown = await ask('POST', '/auth/password-forgotten', { body: nobody })
    expect([unknown.status, unknown.text]).toEqual([known.status, known.text])
    await mailbox.until(before + 1)
    expect(mailbox.received.slice(before).map(({ to }) => to)).toEqual([[email]])
  })

  test('does not flood an address', async () => {
    const { email } = await verified()
    const before = mailbox.received.length - 1
    for (let n = 0; n < 22; n++) await ask('POST', '/auth/password-forgotten', { body: { email } })
    await mailbox.until(before + 20)
    // One more, to another recipient, arrives after anything that would have been sent.
    await verified()
    await mailbox.until(before + 21)
    const to = mailbox.received.slice(before).flatMap((mail) => mail.to)
    expect(to.filter((address) => address === email)).toHaveLength(20)
  })

  test('is rejected if mail is not configured', async () => {
    const body = { email: 'ada@example.com' }
    for (const [path, token] of [
      ['/auth/password-forgotten', undefined],
      ['/invites/mail', api.operator],
    ] as const) {
      const answer = await api.ask('POST', path, { body, token })
      expect([answer.status, answer.body.error.code]).toEqual([
        409,
        'ferryhook.mail_not_configured',
      ])
    }
    await expect(api.another({ FERRYHOOK_MAIL_FROM: 'a@b.example' })).rejects.toThrow(
      'FERRYHOOK_SMTP_URL and FERRYHOOK_MAIL_FROM belong together',
    )
  })

  test('that the mail server refuses is reported with its code', async () => {
    const email = 'refused@example.com'
    mailbox.refuseFor(email)
    const answer = await ask('POST', '/invites/mail', { token: api.operator, body: { email } })
    expect([answer.status, answer.body.error.code]).toEqual([502, 'ferryhook.mail_failed'])
    expect(answer.text).not.toContain(email)
    expect(api.logged.join('')).toContain('EENVELOPE, 550')
    expect(api.logged.join('')).not.toContain(email)
  })

  test('leaves no address and no ticket in the log', () => {
    const log = api.logged.join('')
    expect(log).toContain('invite mailed')
    for (const { to, text } of mailbox.received) {
      for (const address of to) expect(log).not.toContain(address)
      const [, ticket = 'no ticket'] = / this (?:invite|ticket): (\S+)/.exec(text) ?? []
      expect(log).not.toContain(ticket)
    }
  })
})
