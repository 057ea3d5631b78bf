/** "Add to Slack": a browser, the service and the fake Slack. */
import { createAuditLog } from '@strongroom/kit/audit-log'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { beforeAll, describe, expect, test } from 'vitest'
import { sampleClient, sampleTeam } from '../../src/fake-slack/fixtures.ts'
import { createStores } from '../../src/stores.ts'
import { eventBody } from '../support/samples.ts'
import { signed } from '../support/signed.ts'
import { openDb } from '../support/test-checkers.ts'
import { createCluster, type Machine, otherTeam, SECRET, upstreamApp } from '../support/machine.ts'

const ORIGIN = 'https://strongroom.example/two-key'
const installation = { clientId: sampleClient.id, clientSecret: sampleClient.secret }

describe.each(serviceStores())('an installation, on $name', (store) => {
  const opened = openDb(store)
  const { clock, slack, start, logged } = createCluster(opened)
  const upstream = upstreamApp()
  let machine: Machine
  let url: string
  let made = 0
  beforeAll(async () => {
    machine = await start()
    url = await upstream.url()
    // The first app has no prefix in the tables.
    await newApp()
  })

  async function newApp(given: object = {}) {
    const name = `install-${++made}`
    const body = { name, signingSecret: SECRET, upstream: { url }, installation, ...given }
    const added = await machine.operate('POST', '/apps', body)
    expect([name, added.status]).toEqual([name, 201])
    return name
  }

  /** A browser with its cookies. */
  function browser(on: Machine = machine) {
    const cookies = new Map<string, string>()
    const open = async (address: string, headers: Record<string, string> = {}) => {
      // Installations are limited by client.
      clock.advance({ seconds: 3 })
      const { pathname, search } = new URL(address)
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const response = await on.request(pathname + search, { headers: { cookie, ...headers } })
      for (const set of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
        if (/Max-Age=0/i.test(set)) cookies.delete(name)
        else cookies.set(name, value)
      }
      const { status, headers: received } = response
      return { status, headers: received, text: await response.text() }
    }
    const begin = async (app: string, headers?: Record<string, string>) => {
      const response = await open(`${ORIGIN}/slack/${app}/install`, headers)
      return { ...response, atSlack: response.headers.get('location') ?? '' }
    }
    return {
      cookies,
      open,
      begin,
      install: async (app: string, choice?: Parameters<typeof slack.authorize>[1]) =>
        open(slack.authorize((await begin(app)).atSlack, choice)),
    }
  }
  const teams = async (app: string): Promise<string[]> =>
    (await machine.operate('GET', `/apps/${app}/tokens`)).body.items.map(
      ({ team }: { team: string }) => team,
    )

  const auditOf = async (target: string) =>
    createAuditLog({ db: opened.db, clock }).list({ target, limit: 10 })

  test('sends the browser to Slack with the scopes of both and a redirect URL of the public address', async () => {
    const app = await newApp({ installation: { ...installation, scopes: ['commands', 'im:read'] } })
    const { body } = await machine.operate('GET', `/apps/${app}`)
    expect(body.installation).toEqual({
      clientId: sampleClient.id,
      scopes: expect.arrayContaining(['users:read', 'im:read', 'commands']),
      installUrl: `${ORIGIN}/slack/${app}/install`,
      redirectUrl: `${ORIGIN}/slack/${app}/oauth/callback`,
    })
    const { status, headers, atSlack } = await browser().begin(app, {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
    })
    expect(status).toBe(303)
    const { origin, pathname, searchParams } = new URL(atSlack)
    expect(origin + pathname).toBe('https://slack.example/oauth/v2/authorize')
    expect(Object.fromEntries(searchParams)).toMatchObject({
      client_id: sampleClient.id,
      redirect_uri: `${ORIGIN}/slack/${app}/oauth/callback`,
      scope: body.installation.scopes.join(','),
      state: expect.stringMatching(/^[\w-]{43}$/),
    })
    const [cookie] = headers.getSetCookie()
    expect(cookie).toMatch(/^__Host-/)
    for (const part of ['HttpOnly', 'Secure', 'SameSite=Lax', 'Path=/', 'Max-Age=600'])
      expect(cookie).toContain(part)
  })

  test('stores the token encrypted, with the attributes of the table, and requests then pass', async () => {
    const app = await newApp()
    expect((await machine.send(app, 'message')).status).toBe(403)
    const page = await browser().install(app)
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('The app is installed')])
    expect(page.text).toContain(`Workspace ${sampleTeam.id}`)
    expect(await teams(app)).toEqual([sampleTeam.id])
    const { tokens } = createStores({ db: opened.db, clock, app })
    const item = await tokens.get(sampleTeam.id)
    expect(Object.keys(item ?? {}).toSorted()).toEqual([
      'bot_token',
      'installation_timestamp',
      'team_id',
    ])
    expect(Buffer.from(item?.bot_token ?? []).includes(sampleTeam.token)).toBe(false)
    clock.advance({ seconds: 6 })
    expect((await machine.send(app, 'message')).status).toBe(200)
    expect(logged.join('')).not.toMatch(/xoxb-|fake-client-secret|\.code\./)
  })

  test('shows pages that run nothing, are not stored, and leak no address', async () => {
    const app = await newApp()
    for (const page of [
      await browser().install(app),
      await browser().open(`${ORIGIN}/slack/${app}/oauth/callback?code=1&state=2`),
      await browser().open(`${ORIGIN}/slack/nobody/install`),
    ]) {
      const policy = page.headers.get('content-security-policy') ?? ''
      expect(policy).toContain("default-src 'none'")
      expect(policy).not.toMatch(/script-src|unsafe|\*/)
      expect(page.headers.get('cache-control')).toBe('no-store')
      expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    }
  })

  test('escapes the name that a workspace has chosen', async () => {
    const app = await newApp()
    const name = '<script>alert(1)</script>"\''
    slack.setTeam({ ...sampleTeam, access: { team: { id: sampleTeam.id, name } } })
    const { text } = await browser().install(app)
    slack.setTeam(sampleTeam)
    expect(text).toContain('&lt;script&gt;alert(1)')
    expect(text).not.toContain('<script')
  })

  test('is in the audit log, with the workspace and without the token', async () => {
    const app = await newApp()
    await browser().install(app)
    await machine.operate('DELETE', `/apps/${app}/tokens/${sampleTeam.id}`)
    const { items } = await auditOf(`${app}/${sampleTeam.id}`)
    expect(items.map(({ action, actor }) => [action, actor])).toEqual([
      ['two-key.token.deleted', expect.stringMatching(/^operator:ops-/)],
      ['two-key.token.set', 'slack:installation'],
    ])
    const changes = await auditOf(app)
    expect(JSON.stringify(changes)).toContain(sampleClient.id)
    expect(JSON.stringify([items, changes])).not.toMatch(/xoxb-|fake-client-secret/)
  })

  describe('is refused, stores nothing and says what to do', () => {
    const refuses = (page: { status: number; text: string }, status: number, text: string) =>
      expect([page.status, page.text]).toEqual([status, expect.stringContaining(text)])

    test('if another browser started it, as in a forged link', async () => {
      const app = await newApp()
      const attacker = browser()
      const link = slack.authorize((await attacker.begin(app)).atSlack)
      refuses(await browser().open(link), 400, 'not started in this browser')
      const victim = browser()
      await victim.begin(app)
      refuses(await victim.open(link), 400, 'not started in this browser')
      expect(await teams(app)).toEqual([])
      // The attacker's own browser can still finish it: the link was not used up.
      expect((await attacker.open(link)).status).toBe(200)
    })

    test('if it is finished a second time, on any machine, also with the cookie', async () => {
      const app = await newApp()
      const own = browser()
      const { atSlack } = await own.begin(app)
      const cookies = new Map(own.cookies)
      expect((await own.open(slack.authorize(atSlack))).status).toBe(200)
      await machine.operate('DELETE', `/apps/${app}/tokens/${sampleTeam.id}`)
      for (const on of [machine, await start()]) {
        const again = browser(on)
        for (const [name, value] of cookies) again.cookies.set(name, value)
        clock.advance({ seconds: 60 })
        refuses(await again.open(slack.authorize(atSlack)), 400, 'finished already')
      }
      expect(await teams(app)).toEqual([])
    })

    test('of two callbacks at the same time only one is accepted', async () => {
      const app = await newApp()
      const own = browser()
      const { atSlack } = await own.begin(app)
      const links = [slack.authorize(atSlack), slack.authorize(atSlack)]
      const pages = await Promise.all(links.map(async (link) => own.open(link)))
      expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([200, 400]))
    })

    test('if it took longer than ten minutes', async () => {
      const app = await newApp()
      const own = browser()
      const link = slack.authorize((await own.begin(app)).atSlack)
      clock.advance({ minutes: 10 })
      refuses(await own.open(link), 400, 'more than ten minutes ago')
      expect(await teams(app)).toEqual([])
    })

    test('if the state or cookie of one app is used for another', async () => {
      const [one, other] = [await newApp(), await newApp()]
      const own = browser()
      const link = slack.authorize((await own.begin(one)).atSlack)
      await own.begin(other)
      refuses(await own.open(link.replace(one, other)), 400, 'not started in this browser')
      const renamed = browser()
      await renamed.begin(one)
      const [cookie = ''] = renamed.cookies.values()
      renamed.cookies.set(`__Host-two-key-install-${other}`, cookie)
      const state = cookie.split('.')[1]
      const address = `${ORIGIN}/slack/${other}/oauth/callback?code=1&state=${state}`
      refuses(await renamed.open(address), 400, 'not started in this browser')
      expect([await teams(one), await teams(other)]).toEqual([[], []])
    })

    test('if parameters are sent twice, changed or missing', async () => {
      const app = await newApp()
      const calls = slack.calls('oauth.v2.access').length
      for (const change of [
        (link: string) => `${link}&state=other`,
        (link: string) => link.replace(/state=./, 'state=_'),
        (link: string) => link.replace(/state=[^&]*/, ''),
        (link: string) => link.replace('state=', 'State='),
        (link: string) => `${link}&code=other`,
        (link: string) => link.replace(/code=[^&]*/, `code=${'9'.repeat(600)}`),
      ]) {
        const own = browser()
        const link = slack.authorize((await own.begin(app)).atSlack)
        expect((await own.open(change(link))).status).toBe(400)
      }
      expect(slack.calls('oauth.v2.access')).toHaveLength(calls)
    })

    test('if the person cancels', async () => {
      const app = await newApp()
      refuses(await browser().install(app, { isCancelled: true }), 200, 'cancelled')
      expect(await teams(app)).toEqual([])
    })

    test.each<[string, object, number, string]>([
      ['Slack returns a token that expires', { refresh_token: 'xoxe-1' }, 502, 'token rotation'],
      ['it is for another app', { app_id: 'A0OTHER' }, 502, 'another app'],
      [
        'there is only a user token',
        { access_token: 'xoxp-1', token_type: 'user' },
        502,
        'bot token',
      ],
      ['there is no workspace', { team: null }, 502, 'bot token'],
      ['the token belongs to another workspace', { team: { id: otherTeam.id } }, 502, 'confirm'],
      ['the token does not work', { access_token: 'xoxb-never-existed' }, 502, 'confirm'],
      ['the response makes no sense', { team: 'T1' }, 503, 'cannot be reached'],
    ])('if %s', async (_, access, status, text) => {
      const app = await newApp({ appId: sampleClient.app })
      slack.setTeam({ ...sampleTeam, access: { ...access } })
      const page = await browser().install(app)
      slack.setTeam(sampleTeam)
      expect(page.status).toBe(status)
      expect(page.text.toLowerCase()).toContain(text.toLowerCase())
      expect(await teams(app)).toEqual([])
    })

    test('if Slack rejects the client, is down or fails', async () => {
      const wrong = { ...installation, clientSecret: 'another-client-secret' }
      const app = await newApp({ installation: wrong })
      refuses(await browser().install(app), 502, 'Ask the person who manages the app')
      const own = await newApp()
      for (const fault of [
        { kind: 'status', status: 503 },
        { kind: 'html' },
        { kind: 'reset' },
        { kind: 'rate_limit' },
      ] as const) {
        slack.break({ ...fault, method: 'oauth.v2.access', times: 1 })
        refuses(await browser().install(own), 503, 'Slack cannot be reached')
      }
      const closed = { kind: 'error', error: 'invalid_team_for_non_distributed_app' } as const
      slack.break({ ...closed, method: 'oauth.v2.access', times: 1 })
      refuses(await browser().install(own), 403, 'only in its own workspace')
      expect([await teams(app), await teams(own)]).toEqual([[], []])
    })

    test('if the app does not exist or is not set up for it: both look the same', async () => {
      const app = await newApp({ installation: undefined })
      const addresses = ['install', 'oauth/callback?code=1&state=2']
      for (const path of addresses) {
        const pages = await Promise.all(
          [app, 'nobody', 'Not%20A%20Name'].map(async (name) =>
            browser().open(`${ORIGIN}/slack/${name}/${path}`),
          ),
        )
        expect(pages.map(({ status }) => status)).toEqual([404, 404, 404])
        expect(new Set(pages.map(({ text }) => text)).size).toBe(1)
      }
    })

    test('if one network starts too many', async () => {
      const app = await newApp()
      const statuses: number[] = []
      for (let at = 0; at < 40; at++)
        statuses.push((await machine.request(`/two-key/slack/${app}/install`)).status)
      expect(statuses.at(0)).toBe(303)
      expect(statuses.at(-1)).toBe(429)
      clock.advance({ minutes: 2 })
    })
  })

  test('for a whole organisation is stored under its id and serves its workspaces', async () => {
    const app = await newApp()
    const org = {
      ...sampleTeam,
      id: 'T0INORG01',
      token: 'xoxb-fake-org-0001',
      enterprise: 'E00000001',
      orgWide: true,
    }
    slack.setTeam(org)
    expect((await browser().install(app, { team: org.id })).status).toBe(200)
    expect(await teams(app)).toEqual(['E00000001'])
    const authorizations = [
      { enterprise_id: 'E00000001', team_id: org.id, is_enterprise_install: true },
    ]
    const event = { type: 'app_home_opened', user: 'U00000001', channel: 'C00000001' }
    const outer = { team_id: org.id, context_team_id: org.id, authorizations }
    const body = JSON.stringify(eventBody(event, { ...outer, event_id: 'EvORG1' }))
    const timestamp = Math.floor(clock.now() / 1000)
    const { headers } = signed(body, { timestamp, secret: SECRET })
    expect((await machine.send(app, { body, headers })).status).toBe(200)
  })

  test('replaces an existing one, and concurrent ones leave one valid token', async () => {
    const app = await newApp()
    const machines = [machine, await start(), await start()]
    await browser().install(app)
    const before = await createStores({ db: opened.db, clock, app }).tokens.get(sampleTeam.id)
    const renewed = { ...sampleTeam, token: 'xoxb-fake-renewed' }
    slack.setTeam(renewed)
    const pages = await Promise.all(
      Array.from({ length: 9 }, async (_, at) => browser(machines[at % 3]).install(app)),
    )
    expect(pages.map(({ status }) => status)).toEqual(Array.from({ length: 9 }, () => 200))
    const after = await createStores({ db: opened.db, clock, app }).tokens.get(sampleTeam.id)
    expect(after?.bot_token).not.toEqual(before?.bot_token)
    expect(await teams(app)).toEqual([sampleTeam.id])
    expect((await (await start()).send(app, 'message')).status).toBe(200)
    slack.setTeam(sampleTeam)
  })

  test('that replaces a revoked token is used by other machines after one request', async () => {
    const app = await newApp()
    const other = await start()
    await browser().install(app)
    const send = async () => {
      clock.advance({ minutes: 1 })
      return (await other.send(app, 'command')).status
    }
    expect(await send()).toBe(200)
    slack.setTeam({ ...sampleTeam, token: 'xoxb-fake-reinstalled' })
    expect((await browser().install(app)).status).toBe(200)
    // What was verified before stays valid for five minutes.
    clock.advance({ minutes: 5 })
    const statuses = [await send(), await send()]
    slack.setTeam(sampleTeam)
    expect(statuses.at(-1)).toBe(200)
  })

  test('that finishes late does not replace a later one', async () => {
    const app = await newApp()
    const { tokens } = createStores({ db: opened.db, clock, app })
    const at = Math.floor(clock.now() / 1000)
    const put = (text: string, verifiedAt: number) =>
      tokens.putInstallation(sampleTeam.id, { encryptedToken: Buffer.from(text), verifiedAt })
    expect(await put('later', at + 5)).toBe(true)
    expect(await put('earlier', at)).toBe(false)
    expect(Buffer.from((await tokens.get(sampleTeam.id))?.bot_token ?? []).toString()).toBe('later')
    expect(await put('same second', at + 5)).toBe(true)
  })

  test('ends when the workspace uninstalls the app, and a forged report does not end it', async () => {
    const app = await newApp()
    await browser().install(app)
    clock.advance({ seconds: 6 })
    const report = async (id: string) => {
      const body = JSON.stringify(eventBody({ type: 'app_uninstalled' }, { event_id: id }))
      const timestamp = Math.floor(clock.now() / 1000)
      const { headers } = signed(body, { timestamp, secret: SECRET })
      return (await machine.send(app, { body, headers })).status
    }
    expect(await report('EvGONE1')).toBe(403)
    expect(await teams(app)).toEqual([sampleTeam.id])
    slack.setTeam({ ...sampleTeam, token: 'xoxb-fake-after' })
    expect(await report('EvGONE2')).toBe(200)
    expect(await teams(app)).toEqual([])
    const { items } = await auditOf(`${app}/${sampleTeam.id}`)
    expect(items[0]).toMatchObject({
      action: 'two-key.token.deleted',
      actor: 'slack:uninstallation',
    })
    slack.setTeam(sampleTeam)
  })

  test('needs a client secret once, which is never returned and belongs to one client id', async () => {
    const app = await newApp({ installation: undefined })
    const patch = async (change: object | null) =>
      machine.operate('PATCH', `/apps/${app}`, { installation: change })
    const missing = await patch({ clientId: '1.1' })
    expect(missing.body.error.code).toBe('two-key.client_secret_required')
    const set = await patch({ clientId: '1.1', clientSecret: 'a-client-secret' })
    expect(set.status).toBe(200)
    expect(JSON.stringify(set.body)).not.toContain('a-client-secret')
    expect((await patch({ clientId: '1.1', scopes: ['commands'] })).status).toBe(200)
    expect((await patch({ clientId: '2.2' })).body.error.code).toBe(
      'two-key.client_secret_required',
    )
    // Another change keeps it.
    const other = await machine.operate('PATCH', `/apps/${app}`, { appId: 'A0000009' })
    expect(other.body.installation).toMatchObject({ clientId: '1.1' })
    expect((await patch(null)).body.installation).toBeNull()
    expect((await browser().begin(app)).status).toBe(404)
  })
})
