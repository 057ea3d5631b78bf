/** The installation store with Bolt's own InstallProvider, and with the service on the same table. */
import { randomBytes } from 'node:crypto'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { App, HTTPReceiver, LogLevel } from '@slack/bolt'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { existenceCheck } from '../../src/adapters/bolt.ts'
import { createSlackApi } from '../../src/existence/slack-api.ts'
import { createFakeSlack } from '../../src/fake-slack/fake-slack.ts'
import { sampleClient, sampleSecret, sampleTeam } from '../../src/fake-slack/fixtures.ts'
import { fakeRequest } from '../../src/fake-slack/requests.ts'
import { type FakeSlackServer, serveFakeSlack } from '../../src/fake-slack/server.ts'
import { createInstallationStore } from '../../src/installations/bolt-store.ts'
import { createKeyBox } from '../../src/installations/key-box.ts'
import { createStores } from '../../src/stores.ts'
import { createTokenService } from '../../src/tokens/service.ts'
import { openDb } from '../support/test-checkers.ts'

const box = createKeyBox(randomBytes(32))
const logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  getLevel: () => LogLevel.ERROR,
  setName() {},
}

describe.each(serviceStores())('the installation store, on $name', (testStore) => {
  const opened = openDb(testStore)
  const slack = createFakeSlack()
  let made = 0

  function newStore(app = `bolt-${++made}`) {
    const clock = testClock()
    const { tokens } = createStores({ db: opened.db, clock, app })
    const service = () => createTokenService({ app, tokens, box, clock })
    const api = createSlackApi({ clock, fetch: slack.fetch })
    const installationStore = createInstallationStore({ tokens: service(), api, clock })
    return { app, clock, tokens, service, installationStore }
  }
  const query = {
    teamId: sampleTeam.id,
    enterpriseId: undefined,
    isEnterpriseInstall: false,
  } as const
  const installation = {
    team: { id: sampleTeam.id },
    enterprise: undefined,
    isEnterpriseInstall: false,
    bot: { token: sampleTeam.token },
  }

  describe('with Bolt’s own InstallProvider', () => {
    let fake: FakeSlackServer
    let server: Server
    let origin: string
    const handled: string[] = []
    let own: ReturnType<typeof newStore>
    beforeAll(async () => {
      own = newStore('real-bolt')
      fake = await serveFakeSlack(slack, 0)
      let listener: RequestListener = () => {}
      server = createServer((req, res) => listener(req, res))
      await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
      origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const receiver = new HTTPReceiver({
        signingSecret: sampleSecret,
        clientId: sampleClient.id,
        clientSecret: sampleClient.secret,
        stateSecret: 'a-state-secret-of-bolt',
        scopes: ['users:read'],
        installationStore: own.installationStore,
        redirectUri: `${origin}/slack/oauth_redirect`,
        installerOptions: {
          redirectUriPath: '/slack/oauth_redirect',
          directInstall: true,
          authorizationUrl: new URL('../oauth/v2/authorize', fake.url).href,
          clientOptions: { slackApiUrl: fake.url },
        },
        logger,
      })
      listener = (req, res) => receiver.requestListener(req, res)
      const app = new App({ receiver, logger, clientOptions: { slackApiUrl: fake.url } })
      const { tokenOf, onUninstalled } = own.installationStore
      app.use(existenceCheck({ slackApiUrl: fake.url, tokenOf, onUninstalled }))
      app.command('/fake', async ({ ack, context }) => {
        handled.push(String(context.botToken))
        await ack('done')
      })
    })
    afterAll(async () => {
      await fake.close()
      server.closeAllConnections()
      await new Promise((resolve) => void server.close(resolve))
    })

    test('an installation in the browser stores the token, and a command then reaches its listener', async () => {
      const started = await fetch(`${origin}/slack/install`, { redirect: 'manual' })
      const atSlack = started.headers.get('location') ?? ''
      const cookie = (started.headers.getSetCookie()[0] ?? '').split(';')[0] ?? ''
      const back = await fetch(atSlack, { redirect: 'manual' })
      const finished = await fetch(back.headers.get('location') ?? '', { headers: { cookie } })
      expect([finished.status, await finished.text()]).toEqual([
        200,
        expect.stringContaining('Thank you'),
      ])
      expect(await own.installationStore.tokenOf(sampleTeam.id)).toBe(sampleTeam.token)
      const item = await own.tokens.get(sampleTeam.id)
      expect(Buffer.from(item?.bot_token ?? []).includes(sampleTeam.token)).toBe(false)
      const request = fakeRequest('command', { signingSecret: sampleSecret, nowMs: Date.now() })
      const response = await fetch(`${origin}/slack/events`, { method: 'POST', ...request })
      expect([response.status, await response.text()]).toEqual([200, 'done'])
      expect(handled).toEqual([sampleTeam.token])
    })
  })

  test('reads what the service stored, and the service reads what Bolt stored', async () => {
    const { installationStore, service, clock } = newStore()
    await service().install(sampleTeam.id, sampleTeam.token, Math.floor(clock.now() / 1000))
    expect(await installationStore.fetchInstallation(query)).toMatchObject({
      team: { id: sampleTeam.id },
      bot: { token: sampleTeam.token, id: 'B00000001', userId: 'U0000BOT1' },
      isEnterpriseInstall: false,
      authVersion: 'v2',
    })
    await installationStore.deleteInstallation(query)
    expect(await service().tokenOf(sampleTeam.id)).toBeUndefined()
    await expect(installationStore.fetchInstallation(query)).rejects.toThrow('not installed')
    await installationStore.storeInstallation(installation)
    expect(await service().tokenOf(sampleTeam.id)).toBe(sampleTeam.token)
  })

  test('stores only a bot token that Slack confirms for the workspace and that does not expire', async () => {
    const { installationStore, tokens } = newStore()
    const store = (change: object) =>
      installationStore.storeInstallation({ ...installation, ...change })
    await expect(store({ bot: undefined })).rejects.toThrow('no bot token')
    await expect(store({ team: { id: 'T0OTHER' } })).rejects.toThrow('another team')
    await expect(store({ bot: { token: 'xoxb-wrong-000' } })).rejects.toThrow('rejected')
    const expiring = { token: sampleTeam.token, refreshToken: 'xoxe-1' }
    await expect(store({ bot: expiring })).rejects.toThrow('expire')
    expect(await tokens.list()).toEqual([])
  })

  test('serves an organisation’s workspaces with its token, and no other organisation', async () => {
    const { installationStore } = newStore()
    const org = {
      ...sampleTeam,
      id: 'T0ORGTEAM',
      token: 'xoxb-org-000001',
      enterprise: 'E1',
      orgWide: true,
    }
    slack.setTeam(org)
    await installationStore.storeInstallation({
      enterprise: { id: 'E1' },
      isEnterpriseInstall: true,
      bot: { token: org.token },
    })
    const wide = { teamId: undefined, enterpriseId: 'E1', isEnterpriseInstall: true }
    const found = await installationStore.fetchInstallation(wide)
    expect(found).toMatchObject({ team: undefined, enterprise: { id: 'E1' }, bot: {} })
    const inTeam = { teamId: org.id, enterpriseId: 'E1', isEnterpriseInstall: false }
    expect(await installationStore.fetchInstallation(inTeam)).toMatchObject({
      bot: { token: org.token },
    })
    const other = { ...wide, enterpriseId: 'E2' }
    await expect(installationStore.fetchInstallation(other)).rejects.toThrow('not installed')
  })

  test('does not return a token that Slack no longer accepts, nor one under a foreign key', async () => {
    const { installationStore, service, clock } = newStore()
    const at = Math.floor(clock.now() / 1000)
    await service().install(sampleTeam.id, 'xoxb-revoked-1', at)
    await expect(installationStore.fetchInstallation(query)).rejects.toThrow('Reinstall the app')
    await service().install('T0MOVED', sampleTeam.token, at)
    const moved = { ...query, teamId: 'T0MOVED' }
    await expect(installationStore.fetchInstallation(moved)).rejects.toThrow('another workspace')
  })
})

describe('a secret box with keys of the app', () => {
  const place = { service: 'two-key', tenant: 'T1', entity: 'app', attribute: 'bot_token' }
  const bytes = Buffer.from('xoxb-1')

  test('opens only with its key, unchanged, and at the same place', async () => {
    const sealed = await box.seal(bytes, place)
    expect(Buffer.from(await box.open(sealed, place)).toString()).toBe('xoxb-1')
    const changed = Uint8Array.from(sealed)
    changed[20] = (changed[20] ?? 0) ^ 1
    const other = createKeyBox(randomBytes(32))
    for (const open of [
      other.open(sealed, place),
      box.open(changed, place),
      box.open(sealed, { ...place, tenant: 'T2' }),
      box.open(sealed.subarray(0, 20), place),
      box.open(new Uint8Array(), place),
    ])
      await expect(open).rejects.toThrow('not encrypted with a key')
  })

  test('still opens with an old key after it was replaced', async () => {
    const [old, current] = [randomBytes(32), randomBytes(32)]
    const sealed = await createKeyBox(old).seal(bytes, place)
    const opened = await createKeyBox([current, old]).open(sealed, place)
    expect(Buffer.from(opened).toString()).toBe('xoxb-1')
  })

  test('needs 32 bytes', () => {
    expect(() => createKeyBox(randomBytes(16))).toThrow('32 random bytes')
    expect(() => createKeyBox([])).toThrow('32 random bytes')
  })
})
