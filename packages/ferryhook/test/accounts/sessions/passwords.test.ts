import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test, vi } from 'vitest'
import { openApi, PASSWORD } from '../../support/test-api.ts'

const NEW_PASSWORD = 'another long password'

describe.each(serviceStores())('a password on $name', (store) => {
  const api = openApi(store)
  const login = (email: string, password: string) =>
    api.ask('POST', '/auth/login', { body: { email, password } })
  const resetLink = async (userId: string) =>
    (await api.ask('POST', `/users/${userId}/password-resets`, { token: api.operator })).body
  const reset = (ticket: string) =>
    api.ask('POST', '/auth/password-reset', { body: { ticket, password: NEW_PASSWORD } })
  const codeOf = (answer: { body: { error: { code: string } } }) => answer.body.error.code

  test('that is changed concurrently is changed once, and the other request is rejected', async () => {
    const { id, email, token } = await api.person()
    const other = (await login(email, PASSWORD)).body.accessToken
    const change = (by: string, newPassword: string) =>
      api.ask('PUT', '/account/password', {
        token: by,
        body: { currentPassword: PASSWORD, newPassword },
      })
    const hash = api.passwords.hash.bind(api.passwords)
    vi.spyOn(api.passwords, 'hash').mockImplementationOnce(async (password, owner) => {
      expect((await change(other, 'the faster password')).status).toBe(204)
      return hash(password, owner)
    })
    expect(codeOf(await change(token, 'the slower password'))).toBe('ferryhook.wrong_password')
    expect((await login(email, 'the faster password')).status).toBe(200)
    const { items } = await api.stores.audit.listByUser(id)
    const changes = items.filter(({ action }) => action === 'account.password_changed')
    expect(changes).toHaveLength(1)
  })

  test.each([
    ['a change of address', 'PATCH', '/account', { email: 'stolen@example.com' }],
    ['the deletion of the account', 'POST', '/account/delete', {}],
  ])('that is replaced during the check does not allow %s', async (_, method, path, given) => {
    const person = await api.person()
    const { id, token } = person
    const sourceId = await api.source(person)
    const { ticket } = await resetLink(id)
    vi.spyOn(api.passwords, 'verify').mockImplementationOnce(async () => {
      expect((await reset(ticket)).status).toBe(200)
      return true
    })
    const body = { ...given, currentPassword: PASSWORD }
    const refused = await api.ask(method, path, { token, body })
    expect(codeOf(refused)).toBe('ferryhook.wrong_password')
    expect(await api.stores.users.getById(id)).toMatchObject({ email: person.email })
    expect(await api.stores.sources.getOwned(sourceId, id)).not.toBeNull()
  })

  test.each(['changed', 'reset'])(
    'that is %s ends the other sessions even if the process crashes in between',
    async (way) => {
      const { id, email, token, cookies } = await api.person()
      const other = await login(email, PASSWORD)
      const { ticket } = await resetLink(id)
      const left = [other.body.accessToken, ...(way === 'reset' ? [token] : [])]
      const query = vi.spyOn(api.db, 'query').mockRejectedValueOnce(new Error('Ended'))
      const body = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD }
      const done = await (way === 'reset'
        ? reset(ticket)
        : api.ask('PUT', '/account/password', { token, body }))
      query.mockRestore()
      expect(done.status).toBe(500)
      for (const each of left) {
        expect((await api.ask('GET', '/account', { token: each })).status).toBe(401)
      }
      const refreshed = await api.ask('POST', '/auth/refresh', { cookies: other.cookies })
      expect(codeOf(refreshed)).toBe('ferryhook.session_ended')
      if (way === 'reset') return
      expect((await api.ask('GET', '/account', { token })).status).toBe(200)
      expect((await api.ask('POST', '/auth/refresh', { cookies })).status).toBe(200)
    },
  )
})
