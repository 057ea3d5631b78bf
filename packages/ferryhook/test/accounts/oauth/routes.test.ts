import { appCode } from '@strongroom/kit/testing/authenticator-app'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Answer, type Ask, openApi, ORIGIN, type Person } from '../../support/test-api.ts'
import { type GithubUser, type LocalGithub, openGithub } from '../../support/local-github.ts'
import { type LocalGoogle, openGoogle } from '../../support/local-google.ts'
import { visit } from '../../support/local-provider.ts'
import { secondStep } from '../../support/second-factors.ts'
import { openMailbox } from '../../support/mailbox.ts'

const SIGN_IN = '__Host-ferryhook-sign-in'
const SESSION = '__Host-ferryhook-session'
const callbackOf = (provider: string) => `${ORIGIN}/ferryhook/v1/auth/${provider}/callback`

let numbers = 1000
const githubUser = (given: Partial<GithubUser> = {}): GithubUser => {
  const id = ++numbers
  const email = `octocat-${id}@example.com`
  const emails = [
    { email: `other-${id}@example.com`, primary: false, verified: true },
    { email, primary: true, verified: true },
  ]
  return { id, login: `octocat-${id}`, name: 'Mona Lisa', emails, ...given }
}
const googleUser = (given: object = {}) => {
  const sub = String(++numbers).padStart(21, '1')
  const user = { sub, email: `g-${sub}@example.com`, email_verified: true, name: 'Grace Hopper' }
  return { ...user, ...given }
}

describe.each(serviceStores())('sign-in through providers on $name', (store) => {
  const api = openApi(store)
  let github: LocalGithub
  let google: LocalGoogle
  let quiet: LocalGoogle
  let ask: Ask
  let settings: Record<string, string>

  beforeAll(async () => {
    github = await openGithub(callbackOf('github'))
    google = await openGoogle({ redirectUri: callbackOf('google') })
    quiet = await openGoogle({ redirectUri: callbackOf('google'), tellsEmailInToken: false })
    settings = {
      FERRYHOOK_GITHUB_URL: github.url,
      FERRYHOOK_GITHUB_API_URL: github.apiUrl,
      FERRYHOOK_GITHUB_CLIENT_ID: github.clientId,
      FERRYHOOK_GITHUB_CLIENT_SECRET: github.clientSecret,
      FERRYHOOK_GOOGLE_ISSUER: google.issuer,
      FERRYHOOK_GOOGLE_CLIENT_ID: google.clientId,
      FERRYHOOK_GOOGLE_CLIENT_SECRET: google.clientSecret,
    }
    ask = await api.another(settings)
  })
  afterAll(() => Promise.all([github, google, quiet].map((each) => each.close())))

  /** To the provider and back, with the cookie of the browser by default. */
  async function signIn(
    provider: 'github' | 'google',
    options: { as?: Ask; query?: string; cookies?: Record<string, string> } = {},
  ): Promise<Answer> {
    const { as = ask, query = '' } = options
    const start = await as('GET', `/auth/${provider}${query}`)
    expect(start.status, start.text).toBe(303)
    return comeBack(
      provider,
      start.headers.get('location') ?? '',
      options.cookies ?? start.cookies,
      as,
    )
  }

  async function comeBack(
    provider: string,
    address: string,
    cookies: Record<string, string>,
    as = ask,
  ): Promise<Answer> {
    const back = await visit(address)
    expect(back.origin + back.pathname).toBe(callbackOf(provider))
    return as('GET', `/auth/${provider}/callback${back.search}`, { cookies })
  }

  const failure = ({ status, headers }: Answer) => {
    expect(status).toBe(303)
    return headers.get('location')?.replace(`${ORIGIN}/console/sign-in#error=`, '')
  }

  async function whoIs(answer: Answer) {
    expect(answer.headers.get('location')).toBe(`${ORIGIN}/console/`)
    const refreshed = await ask('POST', '/auth/refresh', {
      cookies: { [SESSION]: answer.cookies[SESSION] ?? '' },
    })
    expect(refreshed.status).toBe(200)
    return { ...refreshed.body.user, token: refreshed.body.accessToken }
  }

  test('the redirect to a provider has PKCE and a state, and for OpenID a nonce', async () => {
    const start = await ask('GET', '/auth/google')
    const { searchParams } = new URL(start.headers.get('location') ?? '')
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: google.clientId,
      response_type: 'code',
      redirect_uri: callbackOf('google'),
      scope: 'openid email profile',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    const [cookie = ''] = start.headers.getSetCookie()
    for (const part of [SIGN_IN, 'HttpOnly', 'Secure', 'SameSite=Lax', 'Max-Age=600'])
      expect(cookie).toContain(part)
    for (const secret of [searchParams.get('state'), searchParams.get('nonce')])
      expect(cookie).not.toContain(secret)
  })

  test.each(['github', 'google'] as const)(
    'a new user gets an account with the address that %s verified, and signs in to it again',
    async (provider) => {
      github.user = githubUser()
      google.user = googleUser()
      const first = await signIn(provider)
      expect(first.cookies[SIGN_IN]).toBe('')
      const user = await whoIs(first)
      expect(user).toMatchObject({
        email: provider === 'github' ? github.user.emails[1]?.email : google.user.email,
        name: provider === 'github' ? 'Mona Lisa' : 'Grace Hopper',
        plan: 'team',
        hasPassword: false,
        identities: [provider],
      })
      expect((await whoIs(await signIn(provider))).id).toBe(user.id)
    },
  )

  test('an address that is missing in the token is requested from the provider', async () => {
    const asks = await api.another({ ...settings, FERRYHOOK_GOOGLE_ISSUER: quiet.issuer })
    quiet.user = googleUser()
    const user = await whoIs(await signIn('google', { as: asks }))
    expect(user.email).toBe(quiet.user.email)
  })

  test.each([
    ['Mona\n\u001b[31mLisa', 'Mona [31mLisa'],
    [`${'x'.repeat(99)}\u{1f600}`, 'x'.repeat(99)],
  ])('a name from the provider (%j) is reduced to a valid name', async (told, name) => {
    github.user = githubUser({ name: told })
    expect((await whoIs(await signIn('github'))).name).toBe(name)
  })

  test('two concurrent sign-ins of one person create one account', async () => {
    google.user = googleUser()
    const answers = await Promise.all([signIn('google'), signIn('google'), signIn('google')])
    const people = await Promise.all(answers.map((answer) => whoIs(answer)))
    expect(new Set(people.map(({ id }) => id)).size).toBe(1)
  })

  test('an unverified address does not create an account', async () => {
    const [email] = githubUser().emails
    github.user = githubUser({
      emails: [{ email: email?.email ?? '', primary: true, verified: false }],
    })
    expect(failure(await signIn('github'))).toBe('ferryhook.email_unverified')
    for (const given of [{ email_verified: false }, { email_verified: undefined }]) {
      google.user = googleUser(given)
      expect(failure(await signIn('google'))).toBe('ferryhook.email_unverified')
    }
  })

  /** A person whose address Ferryhook has verified. */
  async function verifiedPerson(): Promise<Person> {
    const person = await api.person()
    const { ticket } = await api.stores.tickets.create({
      kind: 'email_verification',
      userId: person.id,
      createdBy: 'mail',
      lifetimeSeconds: 60,
    })
    const user = { userId: person.id, email: person.email }
    await api.stores.users.verifyEmail(user, { ticket: api.stores.tickets.usePart(ticket) })
    return person
  }

  test('with mail, an account is matched by an address that both sides verified', async () => {
    const mailbox = await openMailbox()
    onTestFinished(() => mailbox.close())
    const withMail = await api.another({ ...settings, ...mailbox.env })
    const [verified, unverified] = [await verifiedPerson(), await api.person()]
    google.user = googleUser({ email: verified.email.toUpperCase() })
    const matched = await whoIs(await signIn('google', { as: withMail }))
    expect(matched).toMatchObject({ id: verified.id, identities: ['google'] })
    // Another identity with the same address replaces nothing.
    google.user = googleUser({ email: verified.email })
    expect(failure(await signIn('google', { as: withMail }))).toBe('ferryhook.email_taken')

    google.user = googleUser({ email: unverified.email })
    expect(failure(await signIn('google', { as: withMail }))).toBe('ferryhook.email_taken')
  })

  test('without mail, an account is never matched by its address, not even a verified one', async () => {
    const person = await verifiedPerson()
    google.user = googleUser({ email: person.email.toUpperCase() })
    const answer = await signIn('google')
    expect(failure(answer)).toBe('ferryhook.email_taken')
    expect(answer.cookies).not.toHaveProperty(SESSION)
    const { body } = await ask('GET', '/account', { token: person.token })
    expect(body.identities).toEqual([])
  })

  test('an identity stays with its account when its address at the provider changes', async () => {
    const user = githubUser()
    github.user = user
    const before = await whoIs(await signIn('github'))
    github.user = {
      ...user,
      emails: [{ email: 'elsewhere@example.com', primary: true, verified: false }],
    }
    expect(await whoIs(await signIn('github'))).toMatchObject({
      id: before.id,
      email: before.email,
    })
  })

  test('a user who declines at the provider is not signed in', async () => {
    github.user = undefined
    expect(failure(await signIn('github'))).toBe('ferryhook.sign_in_failed')
  })

  test('a callback without the cookie of its sign-in, or with another one, is rejected', async () => {
    github.user = githubUser()
    const other = await ask('GET', '/auth/github')
    const google1 = await ask('GET', '/auth/google')
    for (const cookies of [{}, { [SIGN_IN]: 'x' }, other.cookies, google1.cookies]) {
      const answer = await signIn('github', { cookies })
      expect(failure(answer)).toBe('ferryhook.sign_in_failed')
      expect(answer.cookies).not.toHaveProperty(SESSION)
    }
    expect(await api.stores.users.getByOAuth('github', String(github.user.id))).toBeNull()
  })

  test('a callback that is too late or repeated is rejected', async () => {
    github.user = githubUser()
    const start = await ask('GET', '/auth/github')
    const back = await visit(start.headers.get('location') ?? '')
    const arrive = () =>
      ask('GET', `/auth/github/callback${back.search}`, { cookies: start.cookies })
    expect((await arrive()).headers.get('location')).toBe(`${ORIGIN}/console/`)
    expect(failure(await arrive())).toBe('ferryhook.sign_in_failed')
    const late = await ask('GET', '/auth/github')
    api.clock.advance({ minutes: 10 })
    const answer = await comeBack('github', late.headers.get('location') ?? '', late.cookies)
    expect(failure(answer)).toBe('ferryhook.sign_in_failed')
  })

  test('an unavailable provider is reported differently from a denied sign-in', async () => {
    github.user = githubUser()
    github.apiFailure = 503
    expect(failure(await signIn('github'))).toBe('ferryhook.provider_unavailable')
    github.apiFailure = undefined
    const gone = await api.another({ ...settings, FERRYHOOK_GOOGLE_ISSUER: 'http://127.0.0.1:9' })
    const answer = await gone('GET', '/auth/google')
    expect(answer.status).toBe(502)
    expect(answer.body.error.code).toBe('ferryhook.provider_unavailable')
  })

  test('a provider that is not configured cannot be used', async () => {
    for (const provider of ['github', 'google']) {
      const answer = await api.ask('GET', `/auth/${provider}`)
      expect(answer.status).toBe(404)
      expect(answer.body.error.code).toBe('ferryhook.provider_not_configured')
    }
    expect((await api.ask('GET', '/auth/gitlab')).status).toBe(400)
  })

  test('new users need an invite if the policy requires it, and sign in again without one', async () => {
    const byInvite = await api.another({ ...settings, FERRYHOOK_SIGNUP: 'invite' })
    google.user = googleUser()
    const as = byInvite
    expect(failure(await signIn('google', { as }))).toBe('ferryhook.invite_required')
    expect(failure(await signIn('google', { as, query: '?invite=x' }))).toBe(
      'ferryhook.invalid_invite',
    )
    const { body } = await api.ask('POST', '/invites', { token: api.operator })
    const made = await whoIs(await signIn('google', { as, query: `?invite=${body.ticket}` }))
    expect((await whoIs(await signIn('google', { as }))).id).toBe(made.id)
    const closed = await api.another({ ...settings, FERRYHOOK_SIGNUP: 'closed' })
    google.user = googleUser()
    expect(failure(await signIn('google', { as: closed }))).toBe('ferryhook.signup_closed')
  })

  describe('an identity', () => {
    const link = async (person: Pick<Person, 'token'>, provider: 'github' | 'google') => {
      const start = await ask('POST', `/auth/identities/${provider}`, { token: person.token })
      expect(start.status).toBe(200)
      return comeBack(provider, start.body.url, start.cookies)
    }
    const unlink = (token: string, provider: string) =>
      ask('DELETE', `/auth/identities/${provider}`, { token })

    test('is linked to the account of the signed-in user, whatever its address', async () => {
      const person = await api.person()
      github.user = githubUser({ emails: [] })
      const linked = await link(person, 'github')
      expect(linked.headers.get('location')).toBe(`${ORIGIN}/console/account/identities`)
      expect(linked.cookies).not.toHaveProperty(SESSION)
      const { body: account } = await ask('GET', '/account', { token: person.token })
      expect(account).toMatchObject({ email: person.email, identities: ['github'] })
      expect((await whoIs(await signIn('github'))).id).toBe(person.id)
      const { body } = await ask('GET', '/audit?limit=10', { token: person.token })
      expect(body.items).toContainEqual(
        expect.objectContaining({ action: 'identity.linked', target: 'github' }),
      )
    })

    test('that belongs to another account cannot be linked', async () => {
      github.user = githubUser()
      const owner = await whoIs(await signIn('github'))
      const person = await api.person()
      expect(failure(await link(person, 'github'))).toBe('ferryhook.identity_taken')
      expect((await whoIs(await signIn('github'))).id).toBe(owner.id)
    })

    test('is not linked if the session ended or the account was deleted in the meantime', async () => {
      const currentPassword = 'correct horse battery'
      const newPassword = 'a new password for all'
      const ends = [
        (person: Person) =>
          ask('POST', '/auth/logout', { cookies: person.cookies, headers: { origin: ORIGIN } }),
        async (person: Person) => {
          const { body } = await ask('POST', '/auth/login', {
            body: { email: person.email, password: currentPassword },
          })
          const change = { currentPassword, newPassword }
          return ask('PUT', '/account/password', { token: body.accessToken, body: change })
        },
        ({ token }: Person) => ask('POST', '/account/delete', { token, body: { currentPassword } }),
      ]
      for (const end of ends) {
        const person = await api.person()
        github.user = githubUser()
        const start = await ask('POST', '/auth/identities/github', { token: person.token })
        expect((await end(person)).status).toBe(204)
        const answer = await comeBack('github', start.body.url, start.cookies)
        expect(failure(answer)).toBe('ferryhook.session_ended')
        expect(await api.stores.users.getByOAuth('github', String(github.user.id))).toBeNull()
      }
    })

    test('is unlinked, unless it is the only way to sign in', async () => {
      google.user = googleUser()
      const { token } = await whoIs(await signIn('google'))
      const refused = await unlink(token, 'google')
      expect(refused.status).toBe(409)
      expect(refused.body.error.code).toBe('ferryhook.only_sign_in')
      const body = { newPassword: 'a password at last' }
      expect((await ask('PUT', '/account/password', { token, body })).status).toBe(204)
      const bare = await unlink(token, 'google')
      expect(bare.body).toMatchObject({ hasPassword: true, identities: [] })
      expect(failure(await signIn('google'))).toBe('ferryhook.email_taken')
    })

    test('remains if two are unlinked concurrently', async () => {
      for (let round = 0; round < 5; round++) {
        google.user = googleUser()
        github.user = githubUser()
        const person = await whoIs(await signIn('google'))
        await link(person, 'github')
        const answers = await Promise.all([
          unlink(person.token, 'google'),
          unlink(person.token, 'github'),
        ])
        expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
        const { body } = await ask('GET', '/account', { token: person.token })
        expect(body.identities).toHaveLength(1)
      }
    })

    test('an account without a password can be deleted by its signed-in user', async () => {
      google.user = googleUser()
      const { token } = await whoIs(await signIn('google'))
      expect((await ask('POST', '/account/delete', { token, body: {} })).status).toBe(204)
      const login = { email: google.user.email, password: '' }
      expect((await ask('POST', '/auth/login', { body: login })).status).toBe(401)
    })
  })

  test('a sign-in leads to the page of the console that it was started for, and to no other', async () => {
    github.user = githubUser()
    const arriveFrom = async (next: string) => {
      const answer = await signIn('github', {
        query: `?${new URLSearchParams({ next }).toString()}`,
      })
      return answer.headers.get('location')?.replace(ORIGIN, '')
    }
    expect(await arriveFrom('/console/events?status=failed&q=a%20b')).toBe(
      '/console/events?status=failed&q=a%20b',
    )
    const foreign = [
      'https://evil.example/console/',
      '//evil.example/console/',
      '/\\evil.example/console/',
      '/console/../sealed/',
      '/console/..//evil.example',
      '/sealed/',
      'console/',
      'javascript:alert(1)',
      '',
    ]
    for (const next of foreign) expect(await arriveFrom(next), next).toBe('/console/')
  })

  test('a page starts a sign-in with an invite that is in no address', async () => {
    const invited = await api.another({ ...settings, FERRYHOOK_SIGNUP: 'invite' })
    const { body } = await api.ask('POST', '/invites', { token: api.operator })
    github.user = githubUser()
    const start = await invited('POST', '/auth/github', {
      body: { invite: body.ticket, next: '/console/sources/new' },
      headers: { origin: ORIGIN },
    })
    expect(start.status, start.text).toBe(200)
    expect(start.body.url).not.toContain(body.ticket)
    const arrived = await comeBack('github', start.body.url, start.cookies, invited)
    expect(arrived.headers.get('location')).toBe(`${ORIGIN}/console/sources/new`)
    expect(arrived.cookies).toHaveProperty(SESSION)
    expect((await whoIs(await signIn('github'))).email).toBe(github.user.emails[1]?.email)
    const elsewhere = await invited('POST', '/auth/github', {
      body: {},
      headers: { origin: 'https://evil.example' },
    })
    expect(elsewhere.body.error.code).toBe('ferryhook.foreign_origin')
    const unconfigured = await api.ask('POST', '/auth/github', { body: {} })
    expect(unconfigured.body.error.code).toBe('ferryhook.provider_not_configured')
  })

  test('a sign-in through a provider requires the second factor, and leads to its page', async () => {
    github.user = githubUser()
    const { body } = await ask('POST', '/auth/refresh', {
      cookies: (await signIn('github')).cookies,
      headers: { origin: ORIGIN },
    })
    const token = body.accessToken
    const path = '/account/second-factor/totp'
    // The account has no password, so the session is enough for the first factor.
    const { secret } = (await ask('POST', path, { token, body: {} })).body
    const code = () => appCode(secret, api.clock.now())
    await ask('POST', `${path}/confirm`, { token, body: { code: code() } })
    const removal = await ask('POST', `${path}/remove`, { token, body: {} })
    expect(removal.body.error.code).toBe('ferryhook.confirmation_required')
    const arrived = await signIn('github', { query: '?next=/console/events' })
    expect(arrived.headers.get('location')).toBe(
      `${ORIGIN}/console/sign-in?next=%2Fconsole%2Fevents#second-factor`,
    )
    expect(arrived.cookies).not.toHaveProperty(SESSION)
    api.clock.advance({ seconds: 30 })
    const second = await secondStep(api, arrived, { method: 'totp', code: code() })
    expect(second.body.user.id).toBe(body.user.id)
    const { items } = (await ask('GET', '/audit', { token: second.body.accessToken })).body
    expect(items[0]).toMatchObject({ action: 'account.signed_in', target: 'github' })
  })

  test('anyone can see which ways to sign in and sign up there are', async () => {
    const answer = await ask('GET', '/auth/options')
    expect(answer.body).toEqual({ signup: 'open', providers: ['github', 'google'], mail: false })
    const closed = await api.another({ FERRYHOOK_SIGNUP: 'closed' })
    expect((await closed('GET', '/auth/options')).body).toEqual({
      signup: 'closed',
      providers: [],
      mail: false,
    })
  })

  test('an account lists the providers that are configured or linked, with the time of the link', async () => {
    github.user = githubUser()
    const { cookies } = await signIn('github')
    const refreshed = await ask('POST', '/auth/refresh', { cookies, headers: { origin: ORIGIN } })
    const { accessToken: token, user } = refreshed.body
    const listed = await ask('GET', '/auth/identities', { token })
    expect(listed.body.items).toEqual([
      { provider: 'github', configured: true, linkedAt: user.createdAt },
      { provider: 'google', configured: true, linkedAt: null },
    ])
    expect((await api.ask('GET', '/auth/identities', { token })).body.items).toEqual([
      { provider: 'github', configured: false, linkedAt: user.createdAt },
    ])
    expect((await ask('GET', '/auth/identities')).status).toBe(401)
  })
})
