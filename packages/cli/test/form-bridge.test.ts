import { createHash, createHmac, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FormBridgeServer, openFormBridge } from './form-bridge-server.ts'
import { inProcess } from './in-process.ts'
import { pluginZip } from './plugin-zip.ts'
import { emptyDirectory, strongroom as strongroomProcess } from './strongroom.ts'

describe('operators of Form-Bridge', () => {
  let server: FormBridgeServer
  beforeAll(async () => {
    server = await openFormBridge()
  })
  afterAll(() => server.close())

  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await server.strongroom(...args)
    expect([args, code, stderr]).toEqual([args, 0, ''])
    return stdout
  }
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever the command prints
  const json = async (...args: string[]): Promise<any> => JSON.parse(await run(...args, '--json'))
  const refused = async (...args: string[]) => {
    const { code, stdout, stderr } = await server.strongroom(...args)
    return [code, stdout, stderr]
  }
  const newAgency = (max = '5') =>
    json('agencies', 'add', 'Nine Sites', '--email', 'office@nine.example', '--max-sites', max)
  const joinAgency = async (path: string, api_key: string) => {
    const { token } = await server.post<{ token: string }>('/agency/join-tokens', {}, api_key)
    return server.connect(path, { join_token: token })
  }

  test('create, list, show and change agencies, and replace their keys', async () => {
    const { agency_id, api_key } = await newAgency()
    expect(api_key).toMatch(/^fb_agency_/)
    expect(await run('agencies', 'list')).toContain(`${agency_id}  Nine Sites  0 of 5 sites\n`)
    expect(await run('agencies', 'show', agency_id)).toContain('office@nine.example\n')
    const changed = await json('agencies', 'change', agency_id, '--max-sites', '7')
    expect(changed).toMatchObject({ agency_id, max_sites: 7, status: 'active' })
    const rotated = await run('agencies', 'rotate', agency_id)
    expect(rotated).toMatch(/^fb_agency_\S+\n$/)
    expect(rotated.trim()).not.toBe(api_key)
    expect(await run('agencies', 'change', agency_id, '--status', 'suspended')).toContain(
      'suspended',
    )
    expect(await run('agencies', 'list', '--status', 'suspended')).toContain(agency_id)
    expect(await json('agencies', 'check', agency_id)).toEqual({
      consistent: true,
      entries: [{ name: 'active', in_table: false, in_index: false }],
    })
  })

  test('see the sites of an agency and change its role', async () => {
    const { agency_id, api_key } = await newAgency()
    expect(await run('agencies', 'sites', agency_id)).toBe('The agency has no sites\n')
    const { site_id, domain } = await joinAgency('/role', api_key)
    expect(await run('agencies', 'sites', agency_id)).toBe(`${site_id}  ${domain}  owner\n`)
    expect(await run('agencies', 'role', agency_id, site_id, 'viewer')).toBe(
      `The agency is viewer of ${domain}\n`,
    )
    expect(await json('agencies', 'sites', agency_id)).toMatchObject([{ site_id, role: 'viewer' }])
    expect(await run('sites', 'check', site_id)).toBe(
      `active${' '.repeat(agency_id.length - 6)}  agrees\nkey version 1${' '.repeat(agency_id.length - 13)}  agrees\n${agency_id}  agrees\n`,
    )
  })

  test('create a join token of an agency once, list and revoke it', async () => {
    const { agency_id } = await newAgency()
    const options = ['--uses', '3', '--expires', '7d']
    const { token } = await json('agencies', 'invite', agency_id, ...options)
    expect(token).toMatch(/^fb_join_/)
    const [listed] = await json('agencies', 'tokens', agency_id)
    expect(listed).toMatchObject({ role: 'owner', uses: 0, max_uses: 3 })
    expect(await run('agencies', 'tokens', agency_id)).toContain('owner  0 of 3 uses  expires ')
    expect(await run('agencies', 'revoke', agency_id, listed.id)).toBe(
      'The join token is revoked\n',
    )
    expect(await run('agencies', 'tokens', agency_id)).toBe('The agency has no join tokens\n')
  })

  test('see the history of a site with reasons, its limits, and adoption by day', async () => {
    const { site_id } = await server.connect()
    await run('sites', 'suspend', site_id, '--reason', 'Sends spam')
    await run('sites', 'resume', site_id)
    const history = await run('sites', 'history', site_id)
    expect(history).toMatch(/site\.resumed .*\n.*site\.suspended +operator:\S+ +Sends spam\n/)
    expect(await run('rate-limits', 'show', 'api', site_id)).toMatch(/^minute +0 of \d+/)
    expect(await run('adoption', 'days', '--days', '2')).toBe('No site checked for updates\n')
  })

  test('list registrations, find one by its temporary key and show its validation', async () => {
    const { registration_id, temp_key, domain } = await server.register('/pending')
    expect(await run('registrations', 'list')).toContain(`${registration_id}  ${domain}  pending`)
    expect(await json('registrations', 'list', '--domain', domain)).toMatchObject([
      { registration_id, wp_version: '6.8' },
    ])
    expect(await run('registrations', 'list', '--domain', 'unknown.example.org')).toBe(
      'There are no registrations\n',
    )
    const find = (stdin: string) =>
      strongroomProcess(['registrations', 'find', '--server', server.base], {
        cwd: server.cwd,
        env: { STRONGROOM_TOKEN: server.token },
        stdin,
      })
    expect((await find(`${temp_key}\n`)).stdout).toContain(registration_id)
    expect(await find('another key')).toMatchObject({
      code: 1,
      stdout: 'There is no registration with this key\n',
    })
    expect(await refused('registrations', 'validation', registration_id)).toEqual([
      1,
      '',
      'Validation not found or expired\n',
    ])
    const body = { registration_id, temp_key, site_url: server.siteUrl('/pending') }
    await server.post('/validate', body)
    const shown = await run('registrations', 'validation', registration_id)
    expect(shown).toMatch(/^domain +127\.0\.0\.1:\d+\/pending\nresult +\w+ basic\nscore +\d+\n/)
    expect(await json('registrations', 'validation', registration_id)).toMatchObject({
      registration_id,
      validation_level: 'basic',
    })
  })

  test('list security events by type and by site', async () => {
    const { site_id, domain } = await server.connect('/events')
    const headers = { authorization: 'Bearer guess' }
    await fetch(`${server.base}/form-bridge/v1/site`, { headers })
    expect(await run('security-events', 'list')).toMatch(/ {2}auth_failure {2}unauthorized {2}/)
    await server.connect('/events')
    expect(await run('security-events', 'list', '--site', site_id)).toContain(
      `suspicious_activity  reconnected  ${domain}  ip_`,
    )
    expect(await json('security-events', 'list', '--limit', '1')).toHaveLength(1)
    expect(await run('security-events', 'list', '--type', 'rate_limit')).toBe(
      'There are no such events\n',
    )
    expect((await refused('security-events', 'list', '--type', 'x'))[0]).toBe(2)
    const both = ['--type', 'rate_limit', '--site', site_id]
    expect(await refused('security-events', 'list', ...both)).toEqual([
      2,
      '',
      'Use either --type or --site, not both\n',
    ])
  })

  test('list abuse and lift its block', async () => {
    expect(await run('abuse', 'list')).toBe('No abuse was detected\n')
    const body = { site_url: 'http://10.0.0.1/', wp_version: '6.8', plugin_version: '1.0.0' }
    for (let n = 0; n < 30; n++) await server.post('/register', body)
    const [newest] = await json('abuse', 'list', '--type', 'invalid_domains')
    expect(newest).toMatchObject({ severity: 'high', identifier: expect.stringMatching(/^ip_/) })
    expect(await run('abuse', 'list')).toMatch(
      /invalid_domains {2}high +ip_\S+ {2}blocked for 1 h\n/,
    )
    const unblock = ['abuse', 'unblock', 'invalid_domains', newest.identifier]
    expect(await run(...unblock)).toBe(
      `${newest.identifier} is not blocked for invalid_domains any more\n`,
    )
    expect((await server.register('/unblocked')).registration_id).toMatch(/^reg_/)
    expect(await refused(...unblock)).toEqual([1, '', 'Abuse pattern not found\n'])
    expect((await refused('abuse', 'unblock', 'x', 'y'))[0]).toBe(2)
  })

  test('set, list and remove rate limits, and see requests by minute', async () => {
    const { site_id, api_key } = await server.connect('/limits')
    const set = await run('rate-limits', 'set', 'api', site_id, '--minute', '7', '--day', '900')
    expect(set).toBe(`${site_id}: 7 per minute, 900 per day\n`)
    expect(await run('rate-limits', 'list')).toContain(
      `api  ${site_id}  7 per minute, 900 per day\n`,
    )
    const headers = { authorization: `Bearer ${api_key}` }
    const { limits } = (await (
      await fetch(`${server.base}/form-bridge/v1/site`, { headers })
    ).json()) as { limits: object }
    expect(limits).toEqual({ minute: 7, hour: 2000, day: 900 })
    expect(await json('rate-limits', 'usage', 'api', site_id)).toEqual({
      total: 1,
      items: [{ start: expect.stringMatching(/:00\.000Z$/), requests: 1 }],
    })
    expect(await run('rate-limits', 'usage', 'webhook', site_id, '--since', '1h')).toBe(
      'No requests\n',
    )
    expect(await run('rate-limits', 'remove', 'api', site_id)).toBe(
      `The default limits apply to ${site_id}\n`,
    )
    expect(await refused('rate-limits', 'remove', 'api', site_id)).toEqual([
      1,
      '',
      'Rate limit override not found\n',
    ])
    expect((await refused('rate-limits', 'set', 'api', site_id))[0]).toBe(2)
    expect((await refused('rate-limits', 'usage', 'agency', 'x'))[0]).toBe(2)
  })

  test("see versions, a site's keys and update checks, and withdraw a release", async () => {
    const zip = join(server.cwd, 'form-bridge-1.2.0.zip')
    await writeFile(zip, pluginZip('1.2.0'))
    const key = join(server.cwd, 'release.key')
    await inProcess(['plugin', 'sign', zip, '--key', key], { cwd: server.cwd })
    await run('plugin', 'publish', zip)
    const site = await server.connect('/updates')
    expect(await run('sites', 'updates', site.site_id)).toBe(
      'The site has not checked for updates\n',
    )
    expect(await run('adoption', 'sites', '1.0.0')).toBe('No site has this version\n')
    await checkForUpdates(site, '1.0.0')
    expect(await run('sites', 'updates', site.site_id)).toMatch(
      / {2}has 1\.0\.0 {2}newest 1\.2\.0\n$/,
    )
    expect(await run('adoption', 'show')).toBe('1.0.0  1 site\n')
    expect(await json('adoption', 'show')).toMatchObject({ versions: { '1.0.0': 1 } })
    expect(await run('adoption', 'show', '--date', '2020-01-01')).toBe(
      'No site checked for updates on 2020-01-01\n',
    )
    expect(await run('adoption', 'sites', '1.0.0')).toContain(`${site.site_id}  ${site.domain}`)
    expect(await run('sites', 'keys', site.site_id)).toMatch(/^version 1 {2}current {2}last used /)
    expect(await run('plugin', 'show', '1.2.0')).toMatch(
      /status +published\n[^]*cached +yes, sites are offered it\n/,
    )
    expect(await run('plugin', 'withdraw', '1.2.0')).toBe('form-bridge 1.2.0 is withdrawn\n')
    expect(await json('plugin', 'show', '1.2.0')).toMatchObject({
      status: 'withdrawn',
      is_cached: false,
    })
    expect(await refused('plugin', 'withdraw', '1.2.0')).toEqual([
      1,
      '',
      'Release not found or withdrawn\n',
    ])
    expect((await refused('adoption', 'show', '--date', 'today'))[0]).toBe(2)
  })

  test("set and remove the destination of a site's submissions", async () => {
    const { site_id, domain } = await server.connect('/destination')
    const secret = join(await emptyDirectory(), 'secret')
    await writeFile(secret, `whsec_${randomBytes(32).toString('base64')}\n`)
    const set = ['sites', 'destination', site_id, 'https://crm.example.org/hooks']
    expect(await run(...set, '--secret-file', secret)).toBe(`Destination of ${domain}: its own\n`)
    expect(await run('sites', 'show', site_id)).toContain('destination   its own\n')
    expect(await run('sites', 'destination', site_id, '--remove')).toMatch(
      /: none: submissions wait/,
    )
    for (const [line, message] of [
      [['sites', 'destination', site_id], 'Give a URL, or --remove'],
      [[...set, '--remove'], 'Give a URL, or --remove'],
      [
        ['sites', 'destination', site_id, '--remove', '--secret-file', secret],
        '--remove excludes a signing secret: omit one of them',
      ],
    ] as const) {
      expect(await refused(...line)).toEqual([2, '', expect.stringContaining(message)])
    }
    const [code, , stderr] = await refused('sites', 'destination', site_id, 'nonsense')
    expect([code, stderr]).toEqual([1, expect.stringMatching(/./)])
  })

  test('let a site that has lost its secret move to another address', async () => {
    const { site_id } = await server.connect('/old')
    const domain = server.siteUrl('/new').slice('http://'.length)
    expect(await run('sites', 'move', site_id, server.siteUrl('/new'))).toMatch(
      new RegExp(`^It may move to ${domain} until .*Z\\n$`),
    )
    expect(await server.connect('/new')).toMatchObject({ result: 'moved', site_id, domain })
    expect(await refused('sites', 'move', site_id, server.siteUrl('/new'))).toEqual([
      1,
      '',
      'The domain already has a site. Reconnect that site instead.\n',
    ])
  })

  test('get a clear error for an invalid id, before any request', async () => {
    for (const line of [
      ['agencies', 'show', 'Nine Sites'],
      ['agencies', 'role', 'agency_0123456789abcdef', 'x', 'owner'],
      ['registrations', 'validation', 'x'],
      ['sites', 'keys', 'example.com'],
      ['agencies', 'change', 'agency_0123456789abcdef'],
      ['agencies', 'add', 'Name', '--email', 'a@example.org'],
      ['agencies', 'add', 'Name', '--max-sites', '5'],
      ['agencies', 'add', 'Name', '--email', 'a@example.org', '--max-sites', 'many'],
      ['security-events', 'list', '--limit', '0'],
      ['rate-limits', 'usage', 'api', 'x', '--since', 'yesterday'],
    ]) {
      const [code, stdout, stderr] = await refused(...line)
      expect([line, code, stdout]).toEqual([line, 2, ''])
      expect(stderr).toMatch(/^[A-Z-].*\n$/)
    }
    expect(await refused('agencies', 'show', 'agency_0123456789abcdef')).toEqual([
      1,
      '',
      'Agency not found\n',
    ])
  })

  async function checkForUpdates(
    { site_id, webhook_secret }: { site_id: string; webhook_secret: string },
    version: string,
  ) {
    const path = `/form-bridge/v1/updates/check?slug=form-bridge&current_version=${version}`
    const [timestamp, nonce] = [Math.floor(Date.now() / 1000), randomBytes(16).toString('hex')]
    const digest = createHash('sha256').update('').digest('hex')
    const signed = `FB1\n${timestamp}\n${nonce}\nGET\n${path}\n${digest}`
    const mac = createHmac('sha256', webhook_secret).update(signed).digest('hex')
    const response = await fetch(server.base + path, {
      headers: {
        'x-fb-site': site_id,
        'x-fb-timestamp': String(timestamp),
        'x-fb-nonce': nonce,
        'x-fb-signature': `v1=${mac}`,
      },
    })
    expect(response.status).toBe(200)
  }
})
