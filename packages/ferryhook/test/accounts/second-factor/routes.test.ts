import { appCode } from '@strongroom/kit/testing/authenticator-app'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { testAuthenticator } from '@strongroom/kit/testing/test-authenticator'
import { describe, expect, test } from 'vitest'
import { confirmation, enrol, firstStep, secondStep } from '../../support/second-factors.ts'
import { type Answer, openApi, ORIGIN, type Person } from '../../support/test-api.ts'

const PATH = '/account/second-factor'

describe.each(serviceStores())('second factors of an account on $name', (store) => {
  const api = openApi(store)

  const codeOf = (answer: Answer): string => answer.body.error?.code
  const post = (person: Pick<Person, 'token'>, path: string, body?: object) =>
    api.ask('POST', PATH + path, { token: person.token, ...(body && { body }) })
  const summary = async ({ token }: Person) => (await api.ask('GET', PATH, { token })).body
  const newestOf = async ({ token }: Person) =>
    (await api.ask('GET', '/audit', { token })).body.items[0]

  async function addPasskey(person: Person, name = 'Laptop') {
    const passkey = testAuthenticator({ origin: ORIGIN })
    const options = await post(person, '/passkeys', confirmation)
    expect(options.status, options.text).toBe(200)
    const response = passkey.create(options.body)
    return { passkey, response, added: await post(person, '/passkeys/confirm', { name, response }) }
  }

  test('are none at first', async () => {
    expect(await summary(await api.person())).toEqual({
      enabled: false,
      totp: null,
      passkeys: [],
      recoveryCodesLeft: 0,
      canUsePasskeys: true,
    })
  })

  test('an app counts when a code confirms it, and brings ten recovery codes', async () => {
    const ada = await api.person()
    const start = await post(ada, '/totp', confirmation)
    expect(start.body).toEqual({
      secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
      uri: expect.stringContaining('otpauth://totp/Ferryhook:'),
    })
    expect((await summary(ada)).enabled).toBe(false)
    expect(codeOf(await post(ada, '/totp/confirm', { code: '000000' }))).toBe(
      'second-factor.wrong_code',
    )
    const code = appCode(start.body.secret, api.clock.now())
    const confirmed = await post(ada, '/totp/confirm', { code })
    expect(confirmed.body.recoveryCodes).toHaveLength(10)
    expect(await summary(ada)).toMatchObject({
      enabled: true,
      totp: { createdAt: expect.stringMatching(/^2/) },
      recoveryCodesLeft: 10,
    })
    expect(await newestOf(ada)).toMatchObject({
      action: 'account.second_factor_added',
      target: 'totp',
      actor: `user:${ada.id}`,
    })
    // The code that confirmed the app does not sign in as well.
    const reused = await secondStep(api, await firstStep(api, ada), { method: 'totp', code })
    expect(codeOf(reused)).toBe('second-factor.wrong_code')
    expect(codeOf(await post(ada, '/totp/confirm', { code }))).toBe('second-factor.setup_expired')
  })

  test('a setup expires after ten minutes and belongs to the session that started it', async () => {
    const ada = await api.person()
    const other = await firstStep(api, ada)
    const start = await post(ada, '/totp', confirmation)
    const code = () => ({ code: appCode(start.body.secret, api.clock.now()) })
    const elsewhere = await post({ token: other.body.accessToken }, '/totp/confirm', code())
    expect(codeOf(elsewhere)).toBe('second-factor.setup_expired')
    api.clock.advance({ seconds: 601 })
    expect(codeOf(await post(ada, '/totp/confirm', code()))).toBe('second-factor.setup_expired')
  })

  test('the first factor ends all other sessions', async () => {
    const ada = await api.person()
    const other = await firstStep(api, ada)
    await enrol(api, ada)
    const isValid = async (token: string) =>
      (await api.ask('GET', '/account', { token })).status === 200
    expect(await isValid(ada.token)).toBe(true)
    expect(await isValid(other.body.accessToken)).toBe(false)
  })

  test('changes need the password or a factor', async () => {
    const ada = await enrol(api, await api.person())
    await addPasskey(ada)
    const { passkeys } = await summary(ada)
    const changes = [
      '/totp',
      '/totp/remove',
      '/passkeys',
      `/passkeys/${passkeys[0].id}/remove`,
      '/recovery-codes',
    ]
    for (const path of changes) {
      expect(codeOf(await post(ada, path, {})), path).toBe('ferryhook.confirmation_required')
      const wrong = await post(ada, path, { currentPassword: 'incorrect horse' })
      expect(codeOf(wrong), path).toBe('ferryhook.wrong_password')
    }
    const wrongCode = { secondFactor: { method: 'totp', code: '000000' } }
    expect(codeOf(await post(ada, '/totp/remove', wrongCode))).toBe('second-factor.wrong_code')
    expect(await summary(ada)).toMatchObject({ enabled: true, totp: expect.anything() })
    const byCode = { secondFactor: { method: 'totp', code: ada.code() } }
    expect((await post(ada, '/totp/remove', byCode)).status).toBe(204)
    expect(await summary(ada)).toMatchObject({ enabled: true, totp: null })
    expect(codeOf(await post(ada, '/totp/remove', confirmation))).toBe(
      'second-factor.totp_not_found',
    )
  })

  test('a change can be confirmed with a passkey of this session', async () => {
    const ada = await api.person()
    const { passkey } = await addPasskey(ada)
    const asked = await post(ada, '/challenge')
    const secondFactor = { method: 'passkey', response: passkey.get(asked.body) }
    const replaced = await post(ada, '/recovery-codes', { secondFactor })
    expect(replaced.body.recoveryCodes).toHaveLength(10)
    expect(codeOf(await post(ada, '/recovery-codes', { secondFactor }))).toBe(
      'second-factor.challenge_expired',
    )
    const bob = await api.person()
    expect(codeOf(await post(bob, '/challenge'))).toBe('second-factor.passkeys_unavailable')
  })

  test('new recovery codes replace the old ones', async () => {
    const ada = await enrol(api, await api.person())
    const { body } = await post(ada, '/recovery-codes', confirmation)
    expect(body.recoveryCodes).toHaveLength(10)
    expect(await newestOf(ada)).toMatchObject({ action: 'account.recovery_codes_replaced' })
    const use = async (code: string) =>
      secondStep(api, await firstStep(api, ada), { method: 'recovery_code', code })
    expect(codeOf(await use(ada.recoveryCodes[0] ?? ''))).toBe('second-factor.wrong_code')
    expect((await use(body.recoveryCodes[0])).status).toBe(200)
    const bob = await api.person()
    expect(codeOf(await post(bob, '/recovery-codes', confirmation))).toBe(
      'second-factor.not_enrolled',
    )
  })

  test('passkeys are added, renamed and removed, and with the last factor the second step ends', async () => {
    const ada = await api.person()
    const { added, response } = await addPasskey(ada)
    expect(added.body.recoveryCodes).toHaveLength(10)
    const { id } = added.body
    const token = ada.token
    const renamed = await api.ask('PATCH', `${PATH}/passkeys/${id}`, {
      token,
      body: { name: 'Phone' },
    })
    expect(renamed.status).toBe(204)
    expect((await summary(ada)).passkeys).toEqual([
      { id, name: 'Phone', synced: false, createdAt: expect.any(String), lastUsedAt: null },
    ])
    const unknown = await api.ask('PATCH', `${PATH}/passkeys/unknown`, {
      token,
      body: { name: 'Phone' },
    })
    expect(codeOf(unknown)).toBe('second-factor.passkey_not_found')
    const again = await post(ada, '/passkeys/confirm', { name: 'Again', response })
    expect(codeOf(again)).toBe('second-factor.challenge_expired')
    expect((await post(ada, `/passkeys/${id}/remove`, confirmation)).status).toBe(204)
    expect(await newestOf(ada)).toMatchObject({
      action: 'account.second_factor_removed',
      target: 'passkey',
    })
    expect(await summary(ada)).toMatchObject({ enabled: false, recoveryCodesLeft: 0 })
    expect((await firstStep(api, ada)).status).toBe(200)
  })

  test('an account has at most ten passkeys, and each once', async () => {
    const ada = await api.person()
    const { passkey } = await addPasskey(ada)
    const options = await post(ada, '/passkeys', confirmation)
    const twice = await post(ada, '/passkeys/confirm', {
      name: 'Again',
      response: passkey.create(options.body),
    })
    expect(codeOf(twice)).toBe('second-factor.passkey_exists')
    for (let number = 2; number <= 10; number++) {
      api.clock.advance({ minutes: 3 })
      expect((await addPasskey(ada, `Key ${number}`)).added.status).toBe(200)
    }
    const full = await post(ada, '/passkeys', confirmation)
    expect(codeOf(full)).toBe('second-factor.too_many_passkeys')
  })

  test('a passkey that did not check its user is rejected', async () => {
    const ada = await api.person()
    const options = await post(ada, '/passkeys', confirmation)
    const passkey = testAuthenticator({ origin: ORIGIN })
    passkey.verifiesUser = false
    const response = passkey.create(options.body)
    const rejected = await post(ada, '/passkeys/confirm', { name: 'Key', response })
    expect(codeOf(rejected)).toBe('second-factor.passkey_rejected')
    expect((await summary(ada)).enabled).toBe(false)
  })

  test('API keys neither see nor change them', async () => {
    const ada = await api.person()
    const token = await api.key(ada, 'admin')
    expect(codeOf(await api.ask('GET', PATH, { token }))).toBe('ferryhook.session_required')
    expect(codeOf(await post({ token }, '/totp', confirmation))).toBe('ferryhook.session_required')
  })

  test('of two accounts never meet', async () => {
    const [ada, bob] = [await api.person(), await api.person()]
    const { added, passkey } = await addPasskey(ada)
    const removed = await post(bob, `/passkeys/${added.body.id}/remove`, confirmation)
    expect(codeOf(removed)).toBe('second-factor.passkey_not_found')
    await enrol(api, bob)
    const first = await firstStep(api, bob)
    const { cookies } = await firstStep(api, ada)
    const asked = await api.ask('POST', '/auth/second-factor/passkey', { cookies })
    const proof = { method: 'passkey', response: passkey.get(asked.body) }
    expect((await secondStep(api, first, proof)).status).toBe(409)
    expect((await secondStep(api, { cookies }, proof)).body.user.id).toBe(ada.id)
  })

  test('are stored under the user with the secret of the app encrypted and codes hashed', async () => {
    const ada = await enrol(api, await api.person())
    const Key = { PK: `USER#${ada.id}`, SK: '2FA' }
    const { Item } = await api.db.getItem({ TableName: 'ferryhook-main', Key })
    expect(Item).toEqual({
      ...Key,
      revision: expect.any(String),
      totp: {
        sealed: expect.any(Uint8Array),
        createdAt: expect.any(Number),
        lastStep: expect.any(Number),
      },
      recoveryCodes: Array(10).fill(expect.stringMatching(/^[0-9a-f]{64}$/)),
    })
    const stored = JSON.stringify(Item)
    for (const code of ada.recoveryCodes) expect(stored).not.toContain(code)
  })

  test('are deleted with the account', async () => {
    const ada = await enrol(api, await api.person())
    const gone = await api.ask('POST', '/account/delete', { token: ada.token, body: confirmation })
    expect(gone.status).toBe(204)
    expect(await api.stores.secondFactors.load(ada.id)).toBeUndefined()
  })

  test('a setup that a deletion overtakes leaves nothing behind', async () => {
    const ada = await api.person()
    const user = await api.stores.users.getById(ada.id)
    await api.ask('POST', '/account/delete', { token: ada.token, body: confirmation })
    const write = api.stores.secondFactors.replace(user as never, {
      before: undefined,
      after: { revision: 'x' },
      by: [],
    })
    await expect(write).rejects.toThrow('password_changed')
    expect(await api.stores.secondFactors.load(ada.id)).toBeUndefined()
  })

  describe('a reset by an operator', () => {
    const reset = (id: string, token = api.operator) =>
      api.ask('DELETE', `/users/${id}/second-factor`, { token })

    test('removes them, ends all sessions, and is in both audit logs', async () => {
      const ada = await enrol(api, await api.person())
      const pending = await firstStep(api, ada)
      expect((await reset(ada.id)).status).toBe(204)
      expect((await api.ask('GET', '/account', { token: ada.token })).status).toBe(401)
      const stale = await secondStep(api, pending, { method: 'totp', code: ada.code() })
      expect(stale.status).not.toBe(200)
      const signedIn = await firstStep(api, ada)
      expect(signedIn.status).toBe(200)
      const { items } = (await api.ask('GET', '/audit', { token: signedIn.body.accessToken })).body
      expect(items).toContainEqual(
        expect.objectContaining({ action: 'account.second_factor_reset', actor: 'operator:ops' }),
      )
      const { Items = [] } = await api.db.scan({ TableName: 'strongroom-operations' })
      expect(Items).toContainEqual(
        expect.objectContaining({
          action: 'ferryhook.user.second_factor_reset',
          actor: 'operator:ops',
          target: ada.id,
        }),
      )
    })

    test('is refused for a user without a factor, an unknown one, and by a user', async () => {
      const ada = await api.person()
      expect(codeOf(await reset(ada.id))).toBe('second-factor.not_enrolled')
      expect(codeOf(await reset('usr_0000000000000000'))).toBe('ferryhook.user_not_found')
      expect((await reset(ada.id, ada.token)).status).toBe(401)
    })
  })
})
