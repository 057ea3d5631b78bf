import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createFakeSlack } from '@strongroom/two-key/fake-slack/fake-slack'
import { sampleSecret } from '@strongroom/two-key/fake-slack/fixtures'
import { fakeRequest } from '@strongroom/two-key/fake-slack/requests'
import { serveFakeSlack } from '@strongroom/two-key/fake-slack/server'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { inProcess } from '../in-process.ts'
import { strongroom } from '../strongroom.ts'
import { copyFixture, type Known, revealBeaconKey, serveFixture } from './fixture.ts'

const RETRY_MS = 11 * 60_000

interface AllServices {
  siteId: string
  siteApiKey: string
  siteDomain: string
  slackTeam: string
  apiKey: string
  signingSecret: string
  sourceId: string
  eventId: string
  body: string
  heldSecret: string
  retriedSecret: string
}

interface Received {
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** Accepts everything. */
async function openSink() {
  const received: Received[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ path: request.url ?? '', headers: request.headers, body })
      return response.end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

/** Commands and calls as the first admin of the fixture. */
function clientOf(url: string, known: Known & Partial<AllServices>) {
  const env = { STRONGROOM_TOKEN: known.operatorToken, FERRYHOOK_API_KEY: known.apiKey ?? '' }
  return {
    async run<T>(...args: string[]): Promise<T> {
      const done = await inProcess([...args, '--server', url, '--json'], { env })
      expect([args, done.code, done.stderr]).toEqual([args, 0, expect.any(String)])
      return JSON.parse(done.stdout) as T
    },
    async call<T>(method: string, path: string, body?: object, bearer = known.operatorToken) {
      const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }
      const response = await fetch(url + path, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: (await response.json()) as T }
    },
    async open(): Promise<string> {
      const opened = await strongroom(['open'], { stdin: known.link.replace(known.url, url) })
      return opened.stdout + opened.stderr
    },
    async signIn(): Promise<unknown> {
      const response = await fetch(`${url}/server/v1/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: url },
        body: JSON.stringify({ token: known.operatorToken }),
      })
      return response.json()
    },
  }
}

function formatIn(directory: string): Promise<unknown> {
  return readFile(join(directory, 'format.json'), 'utf8').then(JSON.parse)
}

function backupsIn(directory: string): string[] {
  return readdirSync(directory).filter((name) => name.startsWith('backup-format-'))
}

describe('a server on a data directory of an earlier build', () => {
  test('has the secrets, keys, sites, Slack apps, operators and audit log of that build', async () => {
    const fixture = await copyFixture<AllServices>('format-2')
    const { known, clock, directory } = fixture
    const sink = await openSink()
    const slack = await serveFakeSlack(createFakeSlack(), 0)
    onTestFinished(() => slack.close())
    const server = await serveFixture(fixture, {
      TWO_KEY_ALLOWED_NETWORKS: '127.0.0.0/8',
      TWO_KEY_ALLOW_HTTP: 'true',
      TWO_KEY_SLACK_API_URL: slack.url,
    })
    expect(server.conversions.map(({ kind }) => kind)).toEqual([
      'copying',
      'converting',
      'converting',
      'converting',
      'converting',
      'converted',
    ])
    expect([backupsIn(directory).length, server.bootstrap]).toEqual([1, undefined])
    const { run, call, open, signIn } = clientOf(server.url, known)

    expect(await signIn()).toMatchObject({ operator: { name: 'admin', role: 'admin' } })
    expect(await run('operator', 'list')).toMatchObject([
      { name: 'admin', role: 'admin' },
      { name: 'auditor', role: 'viewer' },
    ])
    const log = await run<{ action: string }[]>('audit', 'list')
    expect(log.map(({ action }) => action)).toEqual([
      'server.session.created',
      'ferryhook.user.added',
      'two-key.token.set',
      'two-key.app.added',
      'key-store.key.rotated',
      'key-store.key.created',
      'server.operator.added',
      'server.bootstrap.claimed',
      'server.bootstrap.created',
    ])
    expect(await run('audit', 'verify')).toMatchObject({ findings: [] })

    expect(await open()).toBe(known.secret)
    expect(await run('keys', 'list')).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ id: 'tenant' })]) as unknown,
      unreadable: [],
    })
    expect(await run('sites', 'list')).toMatchObject([
      { site_id: known.siteId, domain: known.siteDomain, status: 'active' },
    ])
    const site = await call('GET', '/form-bridge/v1/site', undefined, known.siteApiKey)
    expect(site).toMatchObject({ status: 200, body: { site_id: known.siteId } })

    expect(await run('slack', 'apps')).toMatchObject([{ name: 'demo' }])
    expect(await run('slack', 'tokens', 'demo')).toMatchObject([{ team: known.slackTeam }])
    const upstream = { url: `${sink.url}/slack`, kind: 'app' }
    expect(await call('PATCH', '/two-key/v1/apps/demo', { upstream })).toMatchObject({
      status: 200,
    })
    const request = fakeRequest('message', { signingSecret: sampleSecret, nowMs: clock.now() })
    const events = `${server.url}/two-key/slack/demo/events`
    expect((await fetch(events, { method: 'POST', ...request })).status).toBe(200)
    expect(sink.received).toMatchObject([{ path: '/slack', body: request.body }])

    await server.close()
    expect(await revealBeaconKey(fixture, 'tenant')).toBe(known.beaconKey)
  })

  test('lists the events of that build and delivers those that it held or failed to deliver', async () => {
    const fixture = await copyFixture<AllServices>('format-2')
    const { known, clock } = fixture
    const sink = await openSink()
    const server = await serveFixture(fixture, {
      FERRYHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      FERRYHOOK_ALLOW_HTTP: 'true',
    })
    const { run } = clientOf(server.url, known)
    expect(await run('sources', 'list')).toMatchObject([{ id: known.sourceId, name: 'Shop' }])
    const deliveries = async () => {
      const found = await run<{ deliveries: { state: string; attemptsMade: number }[] }>(
        'events',
        'show',
        known.eventId,
      )
      return found.deliveries.map(({ state }) => state).toSorted()
    }
    expect(await run('events', 'list', 'Shop')).toMatchObject([{ id: known.eventId }])
    expect(await deliveries()).toEqual(['delivered', 'held', 'retrying'])
    await run('connections', 'change', 'Held', '--url', `${sink.url}/held`)
    await run('connections', 'change', 'Retried', '--url', `${sink.url}/retried`)
    await run('connections', 'resume', 'Held')
    clock.advance(RETRY_MS)
    await vi.waitFor(
      async () => expect(await deliveries()).toEqual(['delivered', 'delivered', 'delivered']),
      { timeout: 20_000, interval: 200 },
    )
    for (const [path, secret] of [
      ['/held', known.heldSecret],
      ['/retried', known.retriedSecret],
    ] as const) {
      const { headers, body } = sink.received.find((each) => each.path === path)!
      const { 'webhook-id': id, 'webhook-timestamp': time } = headers
      const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
      const mac = createHmac('sha256', key)
        .update(`${String(id)}.${String(time)}.${body}`)
        .digest('base64')
      expect([body, headers['webhook-signature']]).toEqual([known.body, `v1,${mac}`])
    }

    // The source still verifies with the secret that it had.
    const body = JSON.stringify({ hello: 'again' })
    const signature = createHmac('sha256', known.signingSecret).update(body).digest('hex')
    const headers = { 'x-github-event': 'push', 'x-hub-signature-256': `sha256=${signature}` }
    const source = `${server.url}/in/${known.sourceId}`
    expect((await fetch(source, { method: 'POST', headers, body })).status).toBe(200)
    expect((await fetch(source, { method: 'POST', headers, body: '{}' })).status).toBe(401)
  })

  test('copies and converts the directory once if that build wrote an older format, and has its items', async () => {
    const fixture = await copyFixture('format-1')
    const { known, directory } = fixture
    const server = await serveFixture(fixture)
    expect(server.conversions.map(({ kind }) => kind)).toEqual([
      'copying',
      'converting',
      'converting',
      'converting',
      'converting',
      'converting',
      'converted',
    ])
    expect(await formatIn(directory)).toEqual({ name: 'strongroom-engine', format: 5 })
    const [backup = '', ...others] = backupsIn(directory)
    expect(others).toEqual([])
    expect(await formatIn(join(directory, backup))).toEqual({
      name: 'strongroom-engine',
      format: 1,
    })
    expect(existsSync(join(directory, backup, 'data.mdb'))).toBe(true)
    await server.close()

    const again = await serveFixture(fixture)
    expect([again.conversions, backupsIn(directory)]).toEqual([[], [backup]])
    const { run, open, signIn } = clientOf(again.url, known)
    expect(await open()).toBe(known.secret)
    expect(await signIn()).toMatchObject({ operator: { name: 'ada', role: 'admin' } })
    expect(await run('keys', 'show', 'tenant')).toMatchObject({
      active: { encryptionContext: { tenant: 'one' } },
      unreadable: [],
    })
    await again.close()
    expect(await revealBeaconKey(fixture, 'tenant')).toBe(known.beaconKey)
  })
})

test('strongroom serve refuses a data directory of a newer version and changes nothing in it', async () => {
  const { directory } = await copyFixture('format-2')
  await writeFile(
    join(directory, 'format.json'),
    `${JSON.stringify({ name: 'strongroom-engine', format: 6 })}\n`,
  )
  const before = [await formatIn(directory), await readFile(join(directory, 'data.mdb'))]
  const args = ['serve', '--port', '0', '--data', directory]
  expect(await strongroom(args, { stdin: '' })).toEqual({
    code: 1,
    stdout: '',
    stderr: `Cannot open the data directory "${directory}": it was written by a newer version (format 6, and this version knows formats up to 5): start that version again, or restore a backup that this version made\n`,
  })
  expect([await formatIn(directory), await readFile(join(directory, 'data.mdb'))]).toEqual(before)
  expect(backupsIn(directory)).toEqual([])
})
