import { serviceStores } from '@strongroom/kit/testing/stores'
import { beforeAll, describe, expect, test } from 'vitest'
import { sampleTeam } from '../../src/fake-slack/fixtures.ts'
import { signed } from '../support/signed.ts'
import { openDb } from '../support/test-checkers.ts'
import {
  losingDb,
  type Machine,
  newApp,
  otherTeam,
  SECRET,
  upstreamApp,
  createCluster,
} from '../support/machine.ts'

const DAY = 86_400

describe.each(serviceStores())('operators of Two-key, on $name', (store) => {
  const opened = openDb(store)
  const { clock, slack, start, logged } = createCluster(opened)
  const upstream = upstreamApp()
  let machine: Machine
  let url: string
  beforeAll(async () => {
    machine = await start()
    url = await upstream.url()
  })
  const app = (name: string) => ({ name, signingSecret: SECRET, upstream: { url } })

  test('add an app, whose response has the request URL and never the secret', async () => {
    const { status, body } = await machine.operate('POST', '/apps', app('deploy-bot'))
    expect(status).toBe(201)
    expect(body).toEqual({
      name: 'deploy-bot',
      appId: null,
      url: 'https://strongroom.example/two-key/slack/deploy-bot/events',
      upstream: { url, kind: 'app' },
      policy: {},
      signingSecrets: [{ createdAt: new Date(clock.now()).toISOString(), expiresAt: null }],
      installation: null,
      createdAt: new Date(clock.now()).toISOString(),
    })
    expect((await machine.operate('GET', '/apps/deploy-bot')).body).toEqual(body)
    expect((await machine.operate('GET', '/apps')).body.items).toContainEqual(body)
    const again = await machine.operate('POST', '/apps', app('deploy-bot'))
    expect(again).toMatchObject({ status: 409, body: { error: { code: 'two-key.app_exists' } } })
  })

  test('have exactly one first app even if several are added concurrently, and only its keys have no prefix', async () => {
    const names = Array.from({ length: 6 }, (_, at) => `racing-${at}`)
    await Promise.all(names.map(async (name) => machine.operate('POST', '/apps', app(name))))
    const { Items = [] } = await opened.db.query({
      TableName: 'strongroom-server',
      KeyConditionExpression: 'PK = :pk',
      ExpressionAttributeValues: { ':pk': 'SLACKAPP' },
      ConsistentRead: true,
    })
    const first = Items.filter(({ isFirst }) => isFirst === true).map(({ SK }) => SK)
    expect(first).toEqual(['deploy-bot'])
    const path = (name: string) => `/apps/${name}/tokens/${sampleTeam.id}`
    await machine.operate('PUT', path('deploy-bot'), { token: sampleTeam.token })
    await machine.operate('PUT', path('racing-1'), { token: sampleTeam.token })
    const { Items: tokens = [] } = await opened.db.scan({ TableName: 'slack-workspace-tokens' })
    const keys = tokens.map(({ team_id }) => team_id)
    expect(keys).toEqual(expect.arrayContaining([sampleTeam.id, `racing-1:${sampleTeam.id}`]))
    const listed = await machine.operate('GET', '/apps/deploy-bot/tokens')
    expect(listed.body.items).toMatchObject([{ team: sampleTeam.id }])
    await machine.operate('DELETE', '/apps/racing-1')
    const { Items: left = [] } = await opened.db.scan({ TableName: 'slack-workspace-tokens' })
    expect(left.map(({ team_id }) => team_id)).not.toContain(`racing-1:${sampleTeam.id}`)
    expect(left.map(({ team_id }) => team_id)).toContain(sampleTeam.id)
  })

  test('who add the same name concurrently create one app', async () => {
    const racers = Array.from({ length: 5 }, async () =>
      machine.operate('POST', '/apps', app('same-name')),
    )
    const statuses = (await Promise.all(racers)).map(({ status }) => status)
    expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409, 409])
  })

  test('change an app, and other machines follow within ten seconds', async () => {
    const name = await newApp(machine, url)
    const other = await start()
    expect(await other.send(name, 'message')).toMatchObject({ status: 200 })
    const changed = await machine.operate('PATCH', `/apps/${name}`, { appId: 'A404' })
    expect(changed.body.appId).toBe('A404')
    clock.advance({ seconds: 1 })
    expect(await machine.send(name, 'message')).toMatchObject({ status: 403 })
    clock.advance({ seconds: 10 })
    expect(await other.send(name, 'message')).toMatchObject({ status: 403 })
    const cleared = await machine.operate('PATCH', `/apps/${name}`, {
      appId: null,
      policy: { rejectStatus: 200, onMissingToken: 'skip', onUndecidable: 'reject' },
    })
    expect(cleared.body).toMatchObject({ appId: null, policy: { rejectStatus: 200 } })
    const invented = await machine.send(name, 'message', { user: 'U0INVENTED' })
    expect(invented).toMatchObject({ status: 200, text: '' })
    const received = upstream.received.length
    clock.advance({ seconds: 1 })
    await machine.send(name, 'message', { team: 'T0NOTOKEN', user: 'U1', channel: 'C1' })
    expect(upstream.received).toHaveLength(received + 1)
  })

  test('change settings of an app without losing its caches', async () => {
    const name = await newApp(machine, url)
    const send = async () => {
      clock.advance({ seconds: 11 })
      expect(await machine.send(name, 'message')).toMatchObject({ status: 200 })
      return slack.calls('users.info').length
    }
    await send()
    await machine.operate('PATCH', `/apps/${name}`, { policy: { deletedUser: 'allow' } })
    // The new policy may change the result for a user, so Slack is called exactly once more.
    const calls = await send()
    await machine.operate('PATCH', `/apps/${name}`, {
      policy: { deletedUser: 'allow', rejectStatus: 200 },
    })
    expect(await send()).toBe(calls)
    expect(await send()).toBe(calls)
  })

  test('rotate the signing secret with an overlap: both are valid, then only the new one', async () => {
    const name = await newApp(machine, url)
    const rotated = await machine.operate('POST', `/apps/${name}/signing-secrets`, {
      signingSecret: 'another-secret',
      overlapSeconds: DAY,
    })
    expect(rotated.status).toBe(201)
    expect(rotated.body.signingSecrets).toHaveLength(2)
    const status = async (signingSecret: string) => {
      clock.advance({ seconds: 1 })
      return (await machine.send(name, 'command', { signingSecret })).status
    }
    expect([await status(SECRET), await status('another-secret')]).toEqual([200, 200])
    clock.advance({ seconds: DAY })
    expect([await status(SECRET), await status('another-secret')]).toEqual([401, 200])
    const path = `/apps/${name}/signing-secrets`
    const rotate = async (at: number) =>
      machine.operate('POST', path, {
        signingSecret: `number-${at}-secret`,
        overlapSeconds: DAY,
      })
    for (let at = 0; at < 4; at++) expect((await rotate(at)).status).toBe(201)
    expect((await rotate(4)).body.error.code).toBe('two-key.too_many_secrets')
    const ended = { signingSecret: 'the-last-secret', overlapSeconds: 0 }
    expect((await machine.operate('POST', path, ended)).body.signingSecrets).toHaveLength(1)
  })

  test('rotate a leaked signing secret: the old one ends immediately', async () => {
    const name = await newApp(machine, url)
    const path = `/apps/${name}/signing-secrets`
    const { body } = await machine.operate('POST', path, { signingSecret: 'another-secret' })
    expect(body.signingSecrets).toMatchObject([{ expiresAt: null }])
    expect((await machine.send(name, 'command')).status).toBe(401)
    const signingSecret = 'another-secret'
    expect((await machine.send(name, 'command', { signingSecret })).status).toBe(200)
  })

  test('see which channels were unseen and which scopes are missing, and so does the app', async () => {
    const name = await newApp(machine, url)
    const newest = async () => {
      const path = `/apps/${name}/decisions?limit=1`
      return (await machine.operate('GET', path)).body.items[0]
    }
    const before = upstream.received.length
    expect(await machine.send(name, 'command', { channel: 'G0000HIDE' })).toMatchObject({
      status: 200,
    })
    expect(await newest()).toMatchObject({ outcome: 'accepted', channel: 'unseen' })
    expect(upstream.received[before]?.headers).toMatchObject({
      'x-two-key-user': 'verified',
      'x-two-key-channel': 'unseen',
    })
    slack.setTeam({ ...sampleTeam, scopes: ['team:read', 'channels:read'] })
    const undecided = await machine.send(name, 'command', { user: 'U00000002' })
    slack.setTeam(sampleTeam)
    expect(undecided).toMatchObject({ status: 503 })
    expect(undecided.text).toContain('needs attention')
    expect(await newest()).toMatchObject({
      outcome: 'undecidable',
      code: 'missing_scope',
      missingScopes: ['users:read'],
    })
  })

  test('see only types that Slack may have sent', async () => {
    const name = await newApp(machine, url)
    const body = JSON.stringify({
      type: 'event_callback',
      team_id: sampleTeam.id,
      event_id: 'Ev1',
      event: { type: 'xoxb-a-secret'.repeat(20) },
    })
    const timestamp = Math.floor(clock.now() / 1000)
    await machine.send(name, { body, headers: signed(body, { timestamp, secret: SECRET }).headers })
    const { items } = (await machine.operate('GET', `/apps/${name}/decisions?limit=1`)).body
    expect(items).toMatchObject([{ outcome: 'accepted', type: null }])
  })

  test('set a token only if Slack confirms that it belongs to the team, and get its missing scopes', async () => {
    const name = await newApp(machine, url)
    const put = async (team: string, token: string) =>
      machine.operate('PUT', `/apps/${name}/tokens/${team}`, { token })
    expect((await put(sampleTeam.id, sampleTeam.token)).body).toEqual({
      team: sampleTeam.id,
      missingScopes: [],
    })
    expect((await put(otherTeam.id, otherTeam.token)).body.missingScopes).toEqual([
      'team:read',
      'im:read',
    ])
    const other = await put(sampleTeam.id, otherTeam.token)
    expect(other).toMatchObject({ status: 400 })
    expect(other.body.error.code).toBe('two-key.token_of_other_team')
    const dead = await put(sampleTeam.id, 'xoxb-never-existed')
    expect(dead.body.error.code).toBe('two-key.token_rejected')
    slack.break({ kind: 'status', status: 503, times: 1 })
    const down = await put(sampleTeam.id, sampleTeam.token)
    expect(down).toMatchObject({ status: 503 })
    expect(down.body.error.code).toBe('two-key.slack_unavailable')
  })

  test('delete a token, and requests of that workspace are then rejected', async () => {
    const name = await newApp(machine, url)
    const other = await start()
    clock.advance({ seconds: 1 })
    expect(await machine.send(name, 'message')).toMatchObject({ status: 200 })
    expect(await other.send(name, 'command')).toMatchObject({ status: 200 })
    const path = `/apps/${name}/tokens/${sampleTeam.id}`
    expect((await machine.operate('DELETE', path)).status).toBe(204)
    expect((await machine.operate('DELETE', path)).body.error.code).toBe('two-key.token_not_found')
    clock.advance({ seconds: 1 })
    expect(await machine.send(name, 'message')).toMatchObject({ status: 403 })
    clock.advance({ seconds: 300 })
    expect(await other.send(name, 'command')).toMatchObject({ status: 403 })
  })

  test('have deleted a token even if the response of the store was lost', async () => {
    const name = await newApp(machine, url)
    const { db, lose } = losingDb(opened.db, 'slack-workspace-tokens')
    const other = await start(db)
    expect(await other.send(name, 'command')).toMatchObject({ status: 200 })
    const path = `/apps/${name}/tokens/${sampleTeam.id}`
    lose()
    expect((await other.operate('DELETE', path)).status).toBeGreaterThanOrEqual(500)
    expect((await other.operate('DELETE', path)).body.error.code).toBe('two-key.token_not_found')
    expect(await other.send(name, 'command')).toMatchObject({ status: 403 })
  })

  test('delete an app, and a new app with the same name does not inherit its data', async () => {
    const name = await newApp(machine, url)
    expect(await machine.send(name, 'command')).toMatchObject({ status: 200 })
    await machine.operate('DELETE', `/apps/${name}`)
    await machine.operate('POST', '/apps', app(name))
    expect((await machine.operate('GET', `/apps/${name}/decisions`)).body.items).toEqual([])
    expect(await machine.send(name, 'command')).toMatchObject({ status: 403 })
  })

  test('list recent decisions, the newest first, with the ids and never the contents', async () => {
    const name = await newApp(machine, url)
    await machine.send(name, 'command', { text: 'my words' })
    await machine.send(name, 'command', { user: 'U0INVENTED' })
    await machine.send(name, 'command', { signingSecret: 'wrong' })
    await machine.send(name, 'command', { user: 'not an id' })
    const { body } = await machine.operate('GET', `/apps/${name}/decisions?limit=4`)
    const [malformed, unsigned, invented, accepted] = body.items
    expect(malformed).toMatchObject({ outcome: 'refused', code: 'bad_id', type: null, ids: null })
    expect(unsigned).toMatchObject({ outcome: 'refused', code: 'wrong_signature', ids: null })
    expect(invented).toMatchObject({
      outcome: 'refused',
      code: 'user_not_found',
      type: 'slash_command',
      channel: null,
    })
    expect(invented.ids).toMatchObject({ team: sampleTeam.id, user: 'U0INVENTED' })
    expect(accepted).toMatchObject({
      outcome: 'accepted',
      code: 'slack',
      type: 'slash_command',
      user: 'verified',
      channel: 'verified',
    })
    expect(JSON.stringify(body)).not.toContain('my words')
    for (let at = 0; at < 210; at++) await machine.send(name, 'command', { signingSecret: 'no' })
    const many = await machine.operate('GET', `/apps/${name}/decisions?limit=200`)
    expect(many.body.items).toHaveLength(200)
  })

  test('follow decisions as they happen, by outcome, and count them by minute', async () => {
    const name = await newApp(machine, url)
    await machine.send(name, 'command')
    await machine.send(name, 'command', { signingSecret: 'wrong' })
    const list = async (query: string) =>
      (await machine.operate('GET', `/apps/${name}/decisions?${query}`)).body.items
    const [refused, accepted] = await list('')
    expect([refused, accepted]).toMatchObject([
      { number: 2, outcome: 'refused', stage: 'signature' },
      { number: 1, outcome: 'accepted', stage: 'existence' },
    ])
    expect(await list('outcome=refused')).toEqual([refused])
    expect(await list('after=2')).toEqual([])
    await machine.send(name, 'command', { user: 'U0INVENTED' })
    expect(await list('after=2')).toMatchObject([{ number: 3, code: 'user_not_found' }])
    expect(await list('after=2&outcome=accepted')).toEqual([])
    expect((await machine.operate('GET', `/apps/${name}/decisions?outcome=no`)).status).toBe(400)
    const counts = async (query = '') =>
      (await machine.operate('GET', `/apps/${name}/decision-counts${query}`)).body.items
    const minutes = await counts()
    expect(minutes).toHaveLength(180)
    expect(minutes.at(-1)).toMatchObject({ accepted: 1, refused: 2, undecidable: 0 })
    expect(minutes.at(-2)).toMatchObject({ accepted: 0, refused: 0, undecidable: 0 })
    const unknown = await machine.operate('GET', '/apps/nobody/decision-counts')
    expect(unknown.body.error.code).toBe('two-key.app_not_found')
  })

  test('get an error that names the problem', async () => {
    const wrong: [string, string, unknown, string][] = [
      ['POST', '/apps', { ...app('x'), name: 'Not A Name' }, 'request.invalid'],
      ['POST', '/apps', { ...app('x'), signingSecret: 'xoxb-1-2-3-4' }, 'request.invalid'],
      ['POST', '/apps', { ...app('x'), upstream: { url: 'http://10.0.0.1/' } }, INVALID_UPSTREAM],
      ['POST', '/apps', { ...app('x'), upstream: { url: 'no url' } }, INVALID_UPSTREAM],
      ['PATCH', '/apps/nobody', {}, 'two-key.app_not_found'],
      ['PATCH', '/apps/deploy-bot', { upstream: { url: 'ftp://x/' } }, INVALID_UPSTREAM],
      ['GET', '/apps/nobody', undefined, 'two-key.app_not_found'],
      ['DELETE', '/apps/nobody', undefined, 'two-key.app_not_found'],
      ['GET', '/apps/nobody/tokens', undefined, 'two-key.app_not_found'],
      ['GET', '/apps/nobody/decisions', undefined, 'two-key.app_not_found'],
      ['PUT', '/apps/nobody/tokens/T1', { token: 'xoxb-123456' }, 'two-key.app_not_found'],
      ['PUT', '/apps/deploy-bot/tokens/T1', { token: 'secret' }, 'request.invalid'],
      ['PUT', '/apps/deploy-bot/tokens/t', { token: 'xoxb-123456' }, 'request.invalid'],
    ]
    for (const [method, path, body, code] of wrong) {
      const response = await machine.operate(method, path, body)
      expect([path, response.body.error.code]).toEqual([path, code])
    }
  })

  test('need their token for every route but Slack’s and those of an installation', async () => {
    const { paths = {} } = machine.document()
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods ?? {}).map((method) => ({ method: method.toUpperCase(), path })),
    )
    const guarded = routes.filter(({ path }) => path.startsWith('/v1/'))
    expect(guarded.length).toBeGreaterThanOrEqual(10)
    expect(routes.length - guarded.length).toBe(3)
    for (const { method, path } of guarded) {
      const concrete = path.slice(3).replace('{app}', 'deploy-bot').replace('{team}', 'T1')
      for (const token of [null, 'sro_ops.wrong', 'garbage']) {
        const { status, body } = await machine.operate(method, concrete, undefined, token)
        expect([path, status, body.error.code]).toEqual([path, 401, 'operator.unauthorized'])
      }
    }
  })

  test('see the metrics of the check under their documented names', async () => {
    const name = await newApp(machine, url)
    await machine.send(name, 'command')
    await machine.send(name, 'command')
    await machine.send(name, 'command', { user: 'U0INVENTED' })
    const text = await machine.metrics()
    expect(text).toMatch(/^ExistenceCheckCacheHit [1-9]/m)
    expect(text).toMatch(/^ExistenceCheckCacheMiss [1-9]/m)
    expect(text).toMatch(/^ExistenceCheckFailed\{reason="user"\} [1-9]/m)
    expect(text).toMatch(/^SlackAPILatency_count\{method="users.info"\} [1-9]/m)
    expect(text).toMatch(/^strongroom_two_key_hand_overs_total\{outcome="answered"\} [1-9]/m)
  })

  test('find no token, secret or Slack id in the log, or unencrypted in the store', async () => {
    const name = await newApp(machine, url)
    clock.advance({ seconds: 1 })
    await machine.send(name, 'message')
    await machine.send(name, 'command', { user: 'U0INVENTED' })
    slack.break({ kind: 'error', error: 'token_revoked', method: 'users.info', times: 1 })
    await machine.send(name, 'command', { user: 'U0SECOND' })
    const secrets = [SECRET, 'another-secret', 'the-last-secret', sampleTeam.token, otherTeam.token]
    const ids = [sampleTeam.id, otherTeam.id, 'U00000001', 'U0INVENTED', 'U0SECOND', 'C00000001']
    const log = logged.join('')
    expect(log).toContain('user_not_found')
    for (const text of [...secrets, ...ids]) expect(log).not.toContain(text)
    const tables = ['strongroom-server', 'slack-workspace-tokens', 'slack-event-dedupe']
    for (const TableName of [...tables, 'slack-existence-check-cache']) {
      const { Items = [] } = await opened.db.scan({ TableName })
      const stored = Items.map((item) =>
        JSON.stringify(item, (_, value: unknown) =>
          value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
        ),
      ).join('')
      for (const secret of secrets) expect(stored).not.toContain(secret)
    }
  })
})

const INVALID_UPSTREAM = 'two-key.invalid_upstream'
