/** Accounts of Ferryhook by command: by operators on a server and on the store, and by the account itself. */
import { join } from 'node:path'
import { appCode } from '@strongroom/kit/testing/authenticator-app'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FerryhookServer, ferryhookServer, send } from './ferryhook-server.ts'
import { inProcess } from './in-process.ts'
import { emptyDirectory } from './strongroom.ts'

let server: FerryhookServer
let admin: string
let elsewhere: string
beforeAll(async () => {
  server = await ferryhookServer()
  const { stdout } = await inProcess(['operator', 'add', 'ops'], { cwd: server.cwd })
  admin = stdout.trim()
  elsewhere = await emptyDirectory()
})
afterAll(() => server.close())

interface User {
  id: string
  email: string
  plan: string
  stripeCustomerId: string | null
  stripeSubId: string | null
}

const overServer = (...args: string[]) =>
  inProcess([...args, '--server', server.url], {
    cwd: elsewhere,
    env: { STRONGROOM_TOKEN: admin },
  })
const onStore = (...args: string[]) => inProcess([...args, '--local'], { cwd: server.cwd })

describe.each([
  { where: 'over a server', run: overServer, actor: /^operator:ops$/, operator: 'ops' },
  { where: 'on the store', run: onStore, actor: /^local:/, operator: 'command-line' },
])('strongroom user, $where,', ({ run, actor, operator }) => {
  const does = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args)
    expect([args, code, stderr]).toEqual([args, 0, expect.any(String)])
    return stdout
  }
  const json = async <T>(...args: string[]) => JSON.parse(await does(...args, '--json')) as T
  const email = (name: string) => `${name}-${operator}@example.com`
  const asKey = (key: string, path: string) =>
    fetch(`${server.url}/ferryhook/v1${path}`, { headers: { authorization: `Bearer ${key}` } })
  const lastEntry = async () => {
    const { stdout } = await onStore('audit', 'list', '--limit', '1', '--json')
    return (JSON.parse(stdout) as Record<string, unknown>[])[0]
  }

  test('adds accounts whose key works, lists them and shows one', async () => {
    const key = (await does('user', 'add', email('ada'), '--name', 'Ada', '--plan', 'pro')).trim()
    const account = await asKey(key, '/account')
    const { id } = (await account.json()) as User
    expect(await lastEntry()).toMatchObject({
      actor: expect.stringMatching(actor),
      action: 'ferryhook.user.added',
      target: id,
    })
    const again = await run('user', 'add', email('ada'))
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('exists')])

    const users = await json<User[]>('user', 'list')
    expect(users.find((user) => user.id === id)).toMatchObject({ email: email('ada'), plan: 'pro' })
    expect(await does('user', 'list')).toMatch(
      new RegExp(
        `^ID +EMAIL +NAME +PLAN +EVENTS +CREATED\\n(?:.*\\n)*${id} +${email('ada')} +Ada +pro +0 `,
      ),
    )
    expect(await json('user', 'list', '--limit', '1')).toHaveLength(1)
    expect(await json('user', 'show', id)).toEqual(await json('user', 'show', email('ada')))
    const text = await does('user', 'show', id)
    expect(text).toContain(`email                ${email('ada')} (not verified)\n`)
    expect(text).toContain('signs in with        nothing, only API keys\n')
  })

  test('shows the events of this month at once, by id and by address', async () => {
    const key = (await does('user', 'add', email('eve'))).trim()
    const authorization = `Bearer ${key}`
    const made = await fetch(`${server.url}/ferryhook/v1/sources`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Shop', provider: 'custom' }),
    })
    const { url } = (await made.json()) as { url: string }
    for (const body of ['one', 'two']) {
      expect((await fetch(url, { method: 'POST', body })).status).toBe(200)
    }
    const byAddress = await json<User>('user', 'show', email('eve'))
    expect(byAddress).toMatchObject({ usageThisMonth: 2, usageIsLowerBound: false })
    expect(await json('user', 'show', byAddress.id)).toEqual(byAddress)
    expect(await does('user', 'show', byAddress.id)).toMatch(/\nevents +2 since /)
  })

  test('sets a plan and Stripe ids, which it shows', async () => {
    await does('user', 'add', email('bob'))
    const stripe = ['--stripe-customer', 'cus_1', '--stripe-subscription', 'sub_1']
    const changed = await json<User>('user', 'plan', email('bob'), 'free', ...stripe)
    const expected = { plan: 'free', stripeCustomerId: 'cus_1', stripeSubId: 'sub_1' }
    expect(changed).toMatchObject(expected)
    expect(await json('user', 'show', changed.id)).toMatchObject(expected)
    const text = await does('user', 'plan', changed.id, 'team', '--stripe-subscription', 'none')
    expect(text).toContain('Stripe customer      cus_1\nStripe subscription  none\n')
    expect(await lastEntry()).toMatchObject({
      action: 'ferryhook.user.plan_changed',
      before: expected,
      after: { plan: 'team', stripeSubId: null },
    })
  })

  test('creates an invite link, and says if it cannot be mailed', async () => {
    const link = await json<{ url: string; ticket: string }>('user', 'invite')
    expect(link.url).toMatch(/^http:\/\/[^/]+\/console\/sign-up#invite=/)
    expect(link.url).toContain(link.ticket)
    expect(await does('user', 'invite')).toMatch(/#invite=\S+\n$/)
    const mailed = await run('user', 'invite', email('new'))
    expect([mailed.code, mailed.stderr]).toEqual([1, expect.stringContaining('FERRYHOOK_SMTP_URL')])
  })

  test('creates a password reset link with which the user signs in and sees who made it', async () => {
    await does('user', 'add', email('cleo'))
    const { ticket, url } = await json<{ ticket: string; url: string }>(
      'user',
      'reset',
      email('cleo'),
    )
    expect(url).toMatch(/^http:\/\/[^/]+\/console\/reset#ticket=/)
    const password = 'correct horse battery'
    const post = async (path: string, body: object) => {
      const headers = { 'content-type': 'application/json' }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      const response = await fetch(`${server.url}/ferryhook/v1${path}`, init)
      return (await response.json()) as { notices: unknown }
    }
    await post('/auth/password-reset', { ticket, password })
    const { notices } = await post('/auth/login', { email: email('cleo'), password })
    expect(notices).toMatchObject([{ kind: 'password_reset_offered', operator }])
  })

  test('removes the second factor of a user who lost it', async () => {
    const key = (await does('user', 'add', email('fay'))).trim()
    const none = await run('user', 'reset-2fa', email('fay'))
    expect([none.code, none.stderr]).toEqual([
      1,
      expect.stringContaining('No second factor is set up'),
    ])
    const { ticket } = await json<{ ticket: string }>('user', 'reset', email('fay'))
    const password = 'correct horse battery'
    const post = async <T>(path: string, body: object, token = key): Promise<T> => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      return (await fetch(`${server.url}/ferryhook/v1${path}`, init)).json() as Promise<T>
    }
    await post('/auth/password-reset', { ticket, password })
    const login = () =>
      post<{ accessToken: string; error?: { code: string } }>('/auth/login', {
        email: email('fay'),
        password,
      })
    const { accessToken } = await login()
    const path = '/account/second-factor/totp'
    const start = await post<{ secret: string }>(path, { currentPassword: password }, accessToken)
    await post(`${path}/confirm`, { code: appCode(start.secret, Date.now()) }, accessToken)
    expect((await login()).error?.code).toBe('ferryhook.second_factor_required')
    const { id } = await json<User>('user', 'show', email('fay'))
    expect(await json('user', 'reset-2fa', email('fay'))).toEqual({
      id,
      email: email('fay'),
      reset: true,
    })
    expect(await lastEntry()).toMatchObject({
      action: 'ferryhook.user.second_factor_reset',
      target: id,
    })
    expect((await login()).error).toBeUndefined()
  })

  test('removes an account that has no password, with everything in it', async () => {
    const key = (await does('user', 'add', email('dora'))).trim()
    const { id } = await json<User>('user', 'show', email('dora'))
    expect(await json('user', 'remove', email('dora'))).toEqual({
      id,
      email: email('dora'),
      removed: true,
    })
    expect((await asKey(key, '/account')).status).toBe(401)
    expect(await lastEntry()).toMatchObject({ action: 'ferryhook.user.removed', target: id })
    await does('user', 'add', email('dora'))
    expect(await does('user', 'remove', email('dora'))).toBe(`${email('dora')} was removed\n`)
  })

  test('refuses what is wrong and changes nothing', async () => {
    const before = await json<User[]>('user', 'list')
    for (const [args, message] of [
      [['add', 'nobody'], 'EMAIL must be an e-mail address'],
      [['add', email('eve'), '--plan', 'gold'], '--plan must be one of free, starter, pro, team'],
      [['add', email('eve'), '--name', ' '], '--name must have 1 to 100 characters'],
      [['plan', email('ada'), 'gold'], 'PLAN must be one of'],
      [['plan', email('ada')], 'Missing plan'],
      [['invite', 'nobody'], 'EMAIL must be an e-mail address'],
      [['list', '--limit', '0'], '--limit must be a number'],
    ] as const) {
      const { code, stdout, stderr } = await run('user', ...args)
      expect([args, code, stdout, stderr]).toEqual([args, 2, '', expect.stringContaining(message)])
    }
    for (const verb of ['show', 'reset', 'remove']) {
      const byAddress = await run('user', verb, 'nobody@example.com')
      expect([byAddress.code, byAddress.stderr]).toEqual([
        1,
        'No user has the address "nobody@example.com": see "strongroom user list"\n',
      ])
      const { code, stderr } = await run('user', verb, 'usr_0000000000000000')
      expect([code, stderr]).toEqual([1, 'User not found\n'])
    }
    expect(await json('user', 'list')).toEqual(before)
  })
})

test('a viewer of Ferryhook lists users but changes none', async () => {
  const add = ['operator', 'add', 'reader', '--role', 'viewer', '--service', 'ferryhook']
  const { stdout } = await onStore(...add)
  const env = { STRONGROOM_TOKEN: stdout.trim() }
  const run = (...args: string[]) => inProcess([...args, '--server', server.url], { env })
  expect((await run('user', 'list')).code).toBe(0)
  const refused = await run('user', 'add', 'eve@example.com')
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining('requires the operator role editor for ferryhook'),
  ])
})

describe('strongroom api-keys', () => {
  test('creates a key that works until it is revoked, and lists keys', async () => {
    const { does, json, key, tries } = await server.account()
    const made = await json<{ id: string; key: string }>('api-keys', 'create', 'CI')
    expect(made).toMatchObject({ name: 'CI', permissions: 'read' })
    const asNew = (...args: string[]) => tries(args, { FERRYHOOK_API_KEY: made.key })
    expect((await asNew('sources', 'list')).code).toBe(0)
    const refused = await asNew('api-keys', 'list')
    expect([refused.code, refused.stderr]).toEqual([
      1,
      'This API key lacks permission: use one with the permission admin\n',
    ])
    const listed = await does('api-keys', 'list')
    expect(listed).toMatch(/^ID +NAME +PREFIX +PERMISSION +LAST USED +CREATED\n/)
    expect(listed).toMatch(new RegExp(`${made.id} +CI +${made.key.slice(8, 16)} +read `))
    expect(listed).not.toContain(made.key)
    expect(await json('api-keys', 'revoke', 'CI')).toEqual({
      id: made.id,
      name: 'CI',
      revoked: true,
    })
    const ended = await asNew('sources', 'list')
    expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining('rejects this API key')])
    const writing = await does('api-keys', 'create', 'Deploy', '--permission', 'write')
    expect(writing).toMatch(/^fh_live_\S+\n$/)
    expect(writing.trim()).not.toBe(key)
  })

  test('refuses what is wrong and does not repeat a key', async () => {
    const { tries, does, key } = await server.account()
    const wrong = await tries(['api-keys', 'create', 'CI', '--permission', 'all'])
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      '--permission must be one of read, write, admin\n',
    ])
    const pasted = await tries(['api-keys', 'revoke', key])
    expect([pasted.code, pasted.stderr]).toEqual([
      2,
      'KEY must be the id or the name: see "strongroom api-keys list"\n',
    ])
    const unknown = await tries(['api-keys', 'revoke', 'Nothing'])
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      'No API key is called "Nothing": see "strongroom api-keys list"\n',
    ])
    await does('api-keys', 'create', 'Twin')
    await does('api-keys', 'create', 'Twin')
    const twins = await tries(['api-keys', 'revoke', 'Twin'])
    expect([twins.code, twins.stderr]).toEqual([2, expect.stringContaining('Several API keys')])
  })
})

describe('strongroom connections dry-run', () => {
  test('shows what the connection does to an event or a sample, and delivers nothing', async () => {
    const { does, json, tries } = await server.account()
    const { url } = await json<{ url: string }>('sources', 'add', 'Shop')
    const filter = await server.file('filter.json', '[{"path":"$.n","operator":"gt","value":1}]')
    const twice = 'function transform(e) { return { twice: e.body.n * 2 } }'
    const script = await server.file('twice.js', twice)
    const add = ['connections', 'add', 'Shop', 'http://127.0.0.1:3000/', '--name', 'Books']
    await does(...add, '--filter', filter)
    await does('connections', 'pause', 'Books')
    const dryRun = ['connections', 'dry-run', 'Books']
    const { id } = await send(url, '{"n":5}', { 'content-type': 'application/json' })
    expect(await json(...dryRun, '--event', id)).toMatchObject({
      outcome: 'delivered',
      body: '{"n":5}',
    })
    const sample = await server.file('sample.json', '{"n":1}')
    expect(await does(...dryRun, '--sample', sample)).toMatch(/^outcome +filtered\nreason +/)
    expect(await json(...dryRun, '--sample', sample, '--filter', 'none')).toMatchObject({
      outcome: 'delivered',
      body: '{"n":1}',
    })
    const text = await does(...dryRun, '--event', id, '--transform', script)
    expect(text).toMatch(/^outcome +delivered\n(?:.*\n)*\n\{"twice":10\}\n$/)
    const broken = await server.file('broken.js', 'function transform(e) { throw new Error("no") }')
    const failed = await tries([...dryRun, '--event', id, '--transform', broken])
    expect([failed.code, failed.stdout]).toEqual([1, expect.stringMatching(/^outcome +failed\n/)])
    expect(await json('connections', 'show', 'Books')).toMatchObject({
      deliveryCount: 0,
      transform: { type: 'passthrough' },
    })
  })

  test('refuses what is wrong', async () => {
    const { tries, does } = await server.account()
    await does('sources', 'add', 'Shop')
    await does('connections', 'add', 'Shop', 'http://127.0.0.1:3000/', '--name', 'Books')
    const big = await server.file('big.json', ' '.repeat(262_145))
    for (const [args, message] of [
      [[], 'Pass either --event or --sample'],
      [['--event', 'x'], '--event must be an id'],
      [['--event', 'evt_0123456789abcdef', '--sample', big], 'Pass either'],
      [['--event', 'evt_0123456789abcdef', '--content-type', 'a/b'], 'only for --sample'],
      [['--sample', big], 'over 262144 bytes'],
    ] as const) {
      const { code, stderr } = await tries(['connections', 'dry-run', 'Books', ...args])
      expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(message)])
    }
    const unknown = ['connections', 'dry-run', 'Books', '--event', 'evt_0123456789abcdef']
    expect((await tries(unknown)).stderr).toContain('Event not found')
    const missing = ['connections', 'dry-run', 'Books', '--sample', join(server.cwd, 'none')]
    expect((await tries(missing)).stderr).toContain('check its path')
  })
})
