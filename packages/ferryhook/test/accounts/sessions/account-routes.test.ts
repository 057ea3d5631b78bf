import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { type Answer, openApi, ORIGIN, PASSWORD, type Person } from '../../support/test-api.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

describe.each(serviceStores())('the sessions of an account on $name', (store) => {
  const api = openApi(store)

  const login = (email: string, headers: Record<string, string> = {}, peer = '203.0.113.7') =>
    api.ask('POST', '/auth/login', { body: { email, password: PASSWORD }, headers, peer })
  const list = (token: string) => api.ask('GET', '/account/sessions', { token })
  const currentOf = async ({ body }: Answer) => {
    const { items } = (await list(body.accessToken)).body
    return items.find((each: { current: boolean }) => each.current)
  }
  const isValid = async (token: string) =>
    (await api.ask('GET', '/account', { token })).status === 200

  /** A person who is signed in in three browsers. */
  async function threeSessions(): Promise<{ person: Person; others: [string, string] }> {
    const person = await api.person()
    const second = (await login(person.email)).body.accessToken
    const third = (await login(person.email)).body.accessToken
    return { person, others: [second, third] }
  }

  test('are listed last used first, each with its address and browser, and the own one is current', async () => {
    const { id, email, token } = await api.person()
    api.clock.advance({ seconds: 60 })
    const second = await login(email, { 'user-agent': FIREFOX })
    const { body, status } = await list(second.body.accessToken)
    expect(status).toBe(200)
    const now = new Date(api.clock.now()).toISOString()
    const [stored] = (await api.stores.sessions.listByUser(id)).filter(({ userAgent }) => userAgent)
    expect(body.items).toEqual([
      {
        id: stored?.familyId,
        current: true,
        createdAt: now,
        lastUsedAt: now,
        expiresAt: new Date(api.clock.now() + 30 * 86_400_000)
          .toISOString()
          .replace(/\d{3}Z/, '000Z'),
        address: '203.0.113.7',
        userAgent: FIREFOX,
      },
      expect.objectContaining({ current: false, address: expect.any(String), userAgent: null }),
    ])
    const first = await list(token)
    expect(first.body.items.map((each: { current: boolean }) => each.current)).toEqual([
      false,
      true,
    ])
    for (const secret of ['familyKey', 'tokenHash', 'passwordMark'])
      expect(first.text).not.toContain(secret)
  })

  test('have the address and browser of their last refresh', async () => {
    const { email } = await api.person()
    const { cookies } = await login(email, { 'user-agent': FIREFOX })
    const refreshed = await api.ask('POST', '/auth/refresh', {
      cookies,
      headers: { origin: ORIGIN, 'user-agent': 'curl/8' },
      peer: '2001:db8::7',
    })
    expect(await currentOf(refreshed)).toMatchObject({
      address: '2001:db8::7',
      userAgent: 'curl/8',
    })
  })

  test('store at most 200 characters of a user agent, and none of an empty one', async () => {
    const { email } = await api.person()
    const long = await login(email, { 'user-agent': `${'x'.repeat(150)}\t${'y'.repeat(5000)}` })
    expect((await currentOf(long)).userAgent).toBe(`${'x'.repeat(150)} ${'y'.repeat(49)}`)
    const empty = await login(email, { 'user-agent': ' ' })
    expect((await currentOf(empty)).userAgent).toBeNull()
  })

  test('one that is ended cannot be used from then on, and the audit log says so', async () => {
    const { person, others } = await threeSessions()
    const { items } = (await list(others[0])).body
    const own = items.find((each: { current: boolean }) => each.current)
    const ended = await api.ask('DELETE', `/account/sessions/${own.id}`, { token: person.token })
    expect(ended.status).toBe(204)
    expect(await isValid(others[0])).toBe(false)
    expect(await isValid(others[1])).toBe(true)
    const [entry] = (await api.ask('GET', '/audit', { token: person.token })).body.items
    expect(entry).toMatchObject({
      action: 'account.session_ended',
      actor: `user:${person.id}`,
      target: own.id,
    })
  })

  test('end all at once except the current one', async () => {
    const { person, others } = await threeSessions()
    const answer = await api.ask('DELETE', '/account/sessions', { token: person.token })
    expect(answer.body).toEqual({ ended: 2 })
    expect(await isValid(person.token)).toBe(true)
    for (const token of others) expect(await isValid(token)).toBe(false)
    const { items } = (await api.ask('GET', '/audit', { token: person.token })).body
    expect(
      items.filter(({ action }: { action: string }) => action === 'account.session_ended'),
    ).toHaveLength(2)
    const again = await api.ask('DELETE', '/account/sessions', { token: person.token })
    expect(again.body).toEqual({ ended: 0 })
  })

  test('of another user are not found, like unknown and ended ones, and go on', async () => {
    const [person, other] = [await api.person(), await api.person()]
    const [theirs] = (await list(other.token)).body.items
    const answers = []
    for (const id of [theirs.id, 'rtk_0000000000000000', 'nonsense']) {
      answers.push(await api.ask('DELETE', `/account/sessions/${id}`, { token: person.token }))
    }
    expect(answers.map(({ text }) => text)).toEqual(Array(3).fill(answers[0]?.text))
    expect(answers[0]?.body.error.code).toBe('ferryhook.session_not_found')
    expect(await isValid(other.token)).toBe(true)
  })

  test('are not shown to an API key, and an API key ends none', async () => {
    const person = await api.person()
    const token = await api.key(person, 'admin')
    for (const method of ['GET', 'DELETE']) {
      const answer = await api.ask(method, '/account/sessions', { token })
      expect(answer.body.error.code).toBe('ferryhook.session_required')
    }
    expect(await isValid(person.token)).toBe(true)
  })

  test('one of ten concurrent requests to end a session ends it, and there is one audit entry', async () => {
    const { person, others } = await threeSessions()
    const { items } = (await list(others[0])).body
    const { id } = items.find((each: { current: boolean }) => each.current)
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        api.ask('DELETE', `/account/sessions/${id}`, { token: person.token }),
      ),
    )
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
    const audit = (await api.ask('GET', '/audit', { token: person.token })).body.items
    expect(audit.filter(({ target }: { target: string }) => target === id)).toHaveLength(1)
  })
})
