/** What can be set of sources, connections and alerts, by commands, on a server that runs. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asGitHubSigns, type FerryhookServer, ferryhookServer, send } from './ferryhook-server.ts'
import { inShell } from './in-shell.ts'
import { localProgram } from './listen-server.ts'
import { launcher } from './strongroom.ts'

let server: FerryhookServer
beforeAll(async () => {
  server = await ferryhookServer()
})
afterAll(() => server.close())

describe('strongroom connections change', () => {
  test('changes and resets each setting of a connection', async () => {
    const { does, json } = await server.account()
    await does('sources', 'add', 'Shop')
    const limits = ['--concurrency', '5', '--per-second', '0.5']
    const to = 'http://127.0.0.1:3000'
    const add = ['connections', 'add', 'Shop', `${to}/a`, '--name', 'Books']
    await does(...add, '--retry', '0s,30s,2m', ...limits)
    const shown = await does('connections', 'show', 'Books')
    expect(shown).toContain('circuit      closed\n')
    expect(shown).toContain('retries      immediately, then after 30s, 2m\n')
    expect(shown).toContain('limits       5 concurrent, 0.5 per second\n')

    const change = (...args: string[]) => json('connections', 'change', 'Books', ...args)
    expect(await change('--per-second', '10')).toMatchObject({
      retryConfig: [0, 30, 120],
      limits: { concurrency: 5, perSecond: 10 },
    })
    expect(await change('--concurrency', 'none')).toMatchObject({ limits: { perSecond: 10 } })
    const filter = await server.file('f.json', '[{"path":"$.n","operator":"gt","value":1}]')
    const script = await server.file('t.js', 'function transform(e) { return e.body }')
    const headers = await server.file('h.json', '{"x-credential":"open-sesame"}')
    const files = ['--filter', filter, '--transform', script, '--headers', headers]
    expect(await change(...files)).toMatchObject({
      filters: [{ path: '$.n', operator: 'gt', value: 1 }],
      transform: { type: 'javascript' },
      headerNames: ['x-credential'],
      retryConfig: [0, 30, 120],
    })
    const none = ['--filter', '--transform', '--headers', '--per-second'].flatMap((option) => [
      option,
      'none',
    ])
    expect(await change(...none, '--retry', 'standard')).toMatchObject({
      filters: [],
      transform: { type: 'passthrough' },
      headerNames: [],
      retryConfig: null,
      limits: {},
    })
    const moved = await does('connections', 'change', 'Books', '--url', `${to}/b`, '--name', 'B')
    expect(moved).toMatch(/\nname {9}B\n[^]*\ndestination {2}http:\/\/127\.0\.0\.1:3000\/b\n/)
    expect(moved).toContain('retries      standard (8 attempts over 41 h)\nlimits       none\n')
  })

  test('reads a file only once, so it may be a pipe', async () => {
    const { key, does } = await server.account()
    await does('sources', 'add', 'Shop')
    await does('connections', 'add', 'Shop', 'http://127.0.0.1:3000', '--name', 'Books')
    const env = { FERRYHOOK_API_KEY: key, STRONGROOM_SERVER: server.url }
    const line = `$STRONGROOM connections change Books --headers <(echo '{"x-key":"hush"}') --json`
    const { code, stdout } = await inShell(line, env)
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { headerNames: ['x-key'] }])
  })

  test('tests a destination with one signed event', async () => {
    const { does, tries } = await server.account()
    const answers = [500]
    const program = await localProgram((response) => response.writeHead(answers.pop() ?? 200).end())
    await does('sources', 'add', 'Shop')
    await does('connections', 'add', 'Shop', program.url, '--name', 'Books')
    const failed = await tries(['connections', 'test', 'Books'])
    expect([failed.code, failed.stderr]).toEqual([1, ''])
    expect(failed.stdout).toMatch(/^Not delivered: http_error, status 500 after \d+ ms\n$/)
    expect(await does('connections', 'test', 'Books')).toMatch(
      /^Delivered: status 200 after \d+ ms\n$/,
    )
    expect(program.got[1]?.request.headers['webhook-signature']).toMatch(/^v1,/)
  })
})

describe('strongroom sources change', () => {
  test('renames a source, enables verification and disables it', async () => {
    const { does, json } = await server.account()
    const url = (await does('sources', 'add', 'Shop')).trim()
    expect(await does('sources', 'change', 'Shop', '--name', 'Code')).toMatch(/\nname +Code\n/)
    const secret = await server.file('new-secret', 'hush\n')
    const signed = ['--provider', 'github', '--secret-file', secret]
    expect(await json('sources', 'change', 'Code', ...signed)).toMatchObject({
      provider: 'github',
      hasSigningSecret: true,
    })
    expect((await send(url, '{}')).status).toBe(401)
    expect((await send(url, '{}', asGitHubSigns('hush', '{}'))).status).toBe(200)
    await does('sources', 'change', 'Code', '--unsigned')
    expect((await send(url, '{}')).status).toBe(200)
    expect(await json('sources', 'list')).toMatchObject([{ name: 'Code', verifies: false }])
    await does('sources', 'change', 'Code', '--secret-file', secret)
    expect((await send(url, '{}')).status).toBe(401)
  })

  test('selects the methods that a source accepts', async () => {
    const { does, json } = await server.account()
    const url = (await does('sources', 'add', 'Shop', '--methods', 'post,delete')).trim()
    const remove = async () => (await fetch(url, { method: 'DELETE' })).status
    expect(await remove()).toBe(200)
    expect(await does('sources', 'show', 'Shop')).toMatch(/\nmethods +POST, DELETE\n/)
    await does('sources', 'change', 'Shop', '--methods', 'standard')
    expect(await json('sources', 'show', 'Shop')).toMatchObject({ methods: ['POST', 'PUT'] })
    expect(await remove()).toBe(405)
  })

  test('ignores the signing secret in the environment', async () => {
    const { does, json, tries } = await server.account()
    await does('sources', 'add', 'Shop')
    const env = { FERRYHOOK_SIGNING_SECRET: 'hush' }
    expect(await tries(['sources', 'change', 'Shop', '--name', 'B'], env)).toMatchObject({
      code: 0,
    })
    expect(await json('sources', 'show', 'B')).toMatchObject({ hasSigningSecret: false })
  })

  test('sets further headers that are credentials', async () => {
    const { does, json } = await server.account()
    await does('sources', 'add', 'Shop', '--credential-headers', 'X-Acme-Auth, x-pin')
    expect(await does('sources', 'show', 'Shop')).toContain(
      'credentials   standard, x-acme-auth, x-pin\n',
    )
    const change = async (names: string) =>
      (await json('sources', 'change', 'Shop', '--credential-headers', names))['credentialHeaders']
    expect(await change('x-other')).toEqual(['x-other'])
    expect(await change('none')).toEqual([])
    expect(await does('sources', 'show', 'Shop')).toContain('credentials   standard\n')
  })

  test('changes how duplicates are recognised', async () => {
    const { does, json } = await server.account()
    const url = (await does('sources', 'add', 'Shop', '--dedup', '$.id')).trim()
    const first = await send(url, '{"id":1}')
    expect(await send(url, '{"id":1,"again":true}')).toEqual(first)
    expect(await does('sources', 'show', 'Shop')).toContain('event id      $.id in the body\n')
    const change = async (rule: string) =>
      (await json('sources', 'change', 'Shop', '--dedup', rule))['dedup']
    expect(await change('x-event-id')).toEqual({ by: 'header', name: 'x-event-id' })
    expect(await change('none')).toEqual({ by: 'none' })
    expect(await change('standard')).toBeNull()
    expect(await does('sources', 'show', 'Shop')).toContain(
      'event id      standard of the provider\n',
    )
  })

  test('changes where the type of an event is', async () => {
    const { does, json } = await server.account()
    const url = (await does('sources', 'add', 'Shop', '--event-type', '$.kind')).trim()
    const { id } = await send(url, '{"kind":"sale"}')
    expect(await does('events', 'list', '--type', 'sale')).toMatch(/ Shop +sale /)
    expect(await json('events', 'show', id)).toMatchObject({ type: 'sale', sourceName: 'Shop' })
    expect(await does('sources', 'show', 'Shop')).toContain('event type    $.kind in the body\n')
    await does('sources', 'change', 'Shop', '--event-type', 'x-kind')
    await fetch(url, { method: 'POST', body: '', headers: { 'x-kind': 'refund' } })
    expect(await json('events', 'list', '--type', 'refund')).toHaveLength(1)
    expect(await json('events', 'list', '--type', 're*')).toHaveLength(1)
  })
})

describe('strongroom alerts', () => {
  test('sets a webhook, shows its secret once, tests it, rotates the secret and removes it', async () => {
    const { does, json } = await server.account()
    const program = await localProgram()
    expect(await does('alerts', 'show')).toBe('webhook  none\nmail     no\nkinds    none\n')
    const set = await does('alerts', 'set', '--webhook', program.url)
    const [, secret = ''] = /\nsecret {3}(whsec_\S+)\n/.exec(set) ?? []
    expect(secret).not.toBe('')
    const circuit = 'connection.circuit_opened, connection.circuit_closed'
    const all = `delivery.failed, connection.warning, connection.paused, ${circuit}, limit.reached`
    expect(set).toContain(`webhook  ${program.url}\nmail     no\nkinds    ${all}\n`)
    expect(await does('alerts', 'test')).toMatch(/^Delivered: status 200 after \d+ ms\n$/)

    const some = ['--kind', 'delivery.failed', '--kind', 'limit.reached']
    const kinds = ['delivery.failed', 'limit.reached']
    expect(await json('alerts', 'set', ...some)).toMatchObject({ webhookUrl: program.url, kinds })
    const shown = await does('alerts', 'show')
    expect(shown).toContain(`webhook  ${program.url}\n`)
    expect(shown).not.toContain('whsec_')
    const rotated = (await does('alerts', 'rotate')).trim()
    expect(rotated).toMatch(/^whsec_/)
    expect(rotated).not.toBe(secret)
    expect(await json('alerts', 'set', '--webhook', 'none')).toMatchObject({
      webhookUrl: null,
      kinds,
    })
  })
})

describe('an invalid setting is reported in one line and changes nothing', () => {
  test.each([
    [
      ['connections', 'change', 'Books'],
      2,
      'Nothing to change: run "strongroom connections change --help"',
    ],
    [['sources', 'change', 'Shop'], 2, 'Nothing to change: run "strongroom sources change --help"'],
    [['alerts', 'set'], 2, 'Nothing to change: run "strongroom alerts set --help"'],
    [
      ['connections', 'change', 'Books', '--retry', '0s,soon'],
      2,
      '--retry takes a number and one of s, m, h, d, w: such as 30d',
    ],
    [
      ['connections', 'change', 'Books', '--concurrency', 'many'],
      2,
      '--concurrency must be a number, or none',
    ],
    [
      ['connections', 'change', 'Books', '--url', 'nowhere'],
      2,
      'URL must be absolute, such as https://shop.example.com/hooks, or test:200',
    ],
    [
      ['sources', 'change', 'Shop', '--methods', 'POST,PTCH'],
      2,
      '--methods has no value "PTCH": did you mean PATCH?',
    ],
    [
      ['sources', 'change', 'Shop', '--unsigned', '--algorithm', 'hmac-sha256'],
      2,
      '--unsigned excludes --algorithm: omit one of them',
    ],
    [
      // Any file that exists.
      ['sources', 'change', 'Shop', '--unsigned', '--secret-file', launcher],
      2,
      '--unsigned excludes a signing secret: omit one of them',
    ],
    [
      ['alerts', 'set', '--kind', 'all', '--kind', 'delivery.faild'],
      2,
      '--kind has no value "delivery.faild": did you mean delivery.failed?',
    ],
    [['alerts', 'set', '--mail', 'maybe'], 2, '--mail must be yes or no'],
    [
      ['alerts', 'test'],
      1,
      'Alerts have no webhook: set one with "strongroom alerts set --webhook URL"',
    ],
  ] as [string[], number, string][])('%s', async (args, code, line) => {
    const { tries, json, does } = await server.account()
    await does('sources', 'add', 'Shop')
    await does('connections', 'add', 'Shop', 'http://127.0.0.1:3000', '--name', 'Books')
    const before = [await json('connections', 'list'), await json('sources', 'list')]
    expect(await tries(args)).toEqual({ code, stdout: '', stderr: `${line}\n` })
    expect([await json('connections', 'list'), await json('sources', 'list')]).toEqual(before)
  })

  test('if it requests mail from a server without mail', async () => {
    const { tries } = await server.account()
    const { code, stderr } = await tries(['alerts', 'set', '--mail', 'yes'])
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^[^\n]+ mail[^\n]+\n$/i)])
  })
})
