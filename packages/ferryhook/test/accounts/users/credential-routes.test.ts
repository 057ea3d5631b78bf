import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { openApi, type Person } from '../../support/test-api.ts'

const PATH = '/account/unconfirmed-credentials'

describe.each(serviceStores())('credentials from before a password reset on $name', (store) => {
  const api = openApi(store)

  /** Resets the password with an operator's link, signs in and returns the session. */
  async function reset({ id, email }: Pick<Person, 'id' | 'email'>, password: string) {
    const token = api.operator
    const { body: link } = await api.ask('POST', `/users/${id}/password-resets`, { token })
    const body = { ticket: link.ticket, password }
    const { body: credentials } = await api.ask('POST', '/auth/password-reset', { body })
    return { credentials, session: await signIn(email, password) }
  }

  async function signIn(email: string, password: string) {
    const { body } = await api.ask('POST', '/auth/login', { body: { email, password } })
    const isUnconfirmed = ({ kind }: { kind: string }) => kind === 'credentials_unconfirmed'
    return { token: body.accessToken as string, notices: body.notices.filter(isUnconfirmed) }
  }

  /** A verified account with two keys and an identity, whose password was reset afterwards. */
  async function resetAccount(githubId: string) {
    const person = await api.person()
    // The first link verifies the address, so it revokes everything from before.
    const first = await reset(person, 'the first new password')
    expect(first.session.notices).toEqual([])
    api.clock.advance({ seconds: 1 })
    const owner = { ...person, token: first.session.token }
    const keys = [await api.key(owner, 'read'), await api.key(owner, 'admin')]
    await api.stores.users.update(person.id, { githubId })
    api.clock.advance({ seconds: 1 })
    return { person, keys, ...(await reset(person, 'the second new password')) }
  }

  const status = async (token = '') => (await api.ask('GET', '/account', { token })).status

  test('work on, and are shown at each sign-in until they are confirmed or revoked', async () => {
    const { person, keys, credentials, session } = await resetAccount('1')
    const { token } = session
    expect(credentials.remaining).toMatchObject({ identities: ['github'] })
    expect(await Promise.all(keys.map((key) => status(key)))).toEqual([200, 200])
    const at = new Date(api.clock.now() + 1).toISOString()
    const notice = { kind: 'credentials_unconfirmed', at, apiKeys: 2, identities: 1 }
    const again = await signIn(person.email, 'the second new password')
    expect([session.notices, again.notices]).toEqual([[notice], [notice]])

    api.clock.advance({ seconds: 1 })
    const later = await api.key({ ...person, token }, 'read')
    const { body: listed } = await api.ask('GET', PATH, { token })
    expect(listed).toMatchObject({
      since: at,
      apiKeys: credentials.remaining.apiKeys.map(({ id }: { id: string }) => ({ id })),
      identities: ['github'],
    })
    const [first, second] = listed.apiKeys.map(({ id }: { id: string }) => id)
    expect(listed.apiKeys).toHaveLength(2)

    const body = { revokeApiKeys: [first], revokeIdentities: ['github'] }
    const confirmed = await api.ask('POST', `${PATH}/confirm`, { token, body })
    expect([confirmed.status, confirmed.body]).toEqual([
      200,
      { revoked: { apiKeys: [listed.apiKeys[0]], identities: ['github'] } },
    ])
    const all = (await api.ask('GET', '/api-keys', { token })).body.items
    expect(all.map(({ id }: { id: string }) => id)).toContain(second)
    expect(all.map(({ id }: { id: string }) => id)).not.toContain(first)
    expect(await status(later)).toBe(200)
    const user = await api.stores.users.getById(person.id)
    expect(user).not.toHaveProperty('githubId')
    expect(user).not.toHaveProperty('credentialsUnconfirmedSince')
    expect((await signIn(person.email, 'the second new password')).notices).toEqual([])
    const none = { since: null, apiKeys: [], identities: [] }
    expect((await api.ask('GET', PATH, { token })).body).toEqual(none)
    const { body: audit } = await api.ask('GET', '/audit', { token })
    const actions = audit.items.map(({ action }: { action: string }) => action)
    expect(actions).toEqual(
      expect.arrayContaining([
        'account.credentials_confirmed',
        'identity.unlinked',
        'api_key.deleted',
      ]),
    )
  })

  test('are not revoked by a call that names something else', async () => {
    const { person, keys, session } = await resetAccount('2')
    const { token } = session
    api.clock.advance({ seconds: 1 })
    const later = { name: 'Later', permissions: 'read' }
    const made = await api.ask('POST', '/api-keys', { token, body: later })
    const { body: listed } = await api.ask('GET', PATH, { token })
    const known = listed.apiKeys[0].id
    for (const [body, code] of [
      [{ revokeApiKeys: [known, 'key_0000000000000000'] }, 'ferryhook.api_key_not_found'],
      [{ revokeApiKeys: [known, made.body.id] }, 'ferryhook.api_key_not_found'],
      [{ revokeApiKeys: [known], revokeIdentities: ['google'] }, 'request.invalid'],
      [{ revokeIdentities: ['facebook'] }, 'request.invalid'],
    ] as const) {
      const refused = await api.ask('POST', `${PATH}/confirm`, { token, body })
      expect([body, refused.body.error.code]).toEqual([body, code])
    }
    expect(await Promise.all(keys.map((key) => status(key)))).toEqual([200, 200])
    const [admin] = keys.slice(1)
    for (const [method, path] of [
      ['GET', PATH],
      ['POST', `${PATH}/confirm`],
    ] as const) {
      const call = { token: admin, ...(method === 'POST' && { body: {} }) }
      const refused = await api.ask(method, path, call)
      expect(refused.body.error.code).toBe('ferryhook.session_required')
    }
    expect((await signIn(person.email, 'the second new password')).notices).toHaveLength(1)
  })

  test('wait again if the password is reset during a confirmation', async () => {
    const { person, session } = await resetAccount('3')
    const before = await api.stores.users.getById(person.id)
    api.clock.advance({ seconds: 1 })
    const { session: latest } = await reset(person, 'the third new password')
    if (before) await api.stores.credentials.confirm(before)
    expect(latest.notices).toHaveLength(1)
    expect((await signIn(person.email, 'the third new password')).notices).toEqual(latest.notices)
    const { token } = session
    const ended = await api.ask('POST', `${PATH}/confirm`, { token, body: {} })
    expect(ended.body.error.code).toBe('ferryhook.unauthorized')
  })
})
