/**
 * The bundles of all functions, run as Lambda runs them, on DynamoDB Local and our KMS: what people do
 * with each service, and that roles allow what functions do and nothing else.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemClock } from '@strongroom/platform/clock'
import { createAuditLog } from '@strongroom/kit/audit-log'
import { createOperatorService } from '@strongroom/server/operators/service'
import { secretsTable } from '@strongroom/sealed/tables'
import { storesOn } from '../../ferryhook/test/support/test-stores.ts'
import { createSealedApi } from '@strongroom/sealed/client/api'
import { openSecret } from '@strongroom/sealed/client/open-secret'
import { sealSecret } from '@strongroom/sealed/client/seal-secret'
import { deriveKeys } from '@strongroom/sealed/crypto/keys'
import { newClaim } from '@strongroom/sealed/crypto/seal'
import { SECRET } from '../../two-key/test/support/machine.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { calls } from '../../server/test/operator-calls.ts'
import {
  type Answer,
  type EveryService,
  openEveryService,
} from '../../server/test/every-service.ts'
import { eventBody, message } from '../../two-key/test/support/samples.ts'
import { signedServiceRequest } from '../../two-key/test/support/signed-request.ts'
import { lambdaFunctions } from '../src/functions.ts'
import { type Deployment, openDeployment, toEvent } from './support/deployment.ts'
import {
  addressOf,
  askAsSite,
  ferryhookOf,
  forgetAuditHead,
  submission,
} from './support/scenario.ts'
import { deniedCalls, unusedPermissions } from './support/granted.ts'
import { rarePermissions } from './support/rare-permissions.ts'
import { streamEvent } from './support/stream-records.ts'

const clock = {
  ...systemClock,
  advance(): never {
    throw new Error('Functions have the clock of the machine')
  },
}

let deployment: Deployment
let server: EveryService
let admin: string
/** Where deliveries go. */
let destination: { url: string; requests: string[]; close(): void }

/** Ten minutes ago, which is longer than the token of a creation is valid. */
async function backdate(id: string, attribute: string): Promise<void> {
  await server.db.updateItem({
    TableName: secretsTable.name,
    Key: { id },
    UpdateExpression: 'SET #attribute = :at',
    ExpressionAttributeNames: { '#attribute': attribute },
    ExpressionAttributeValues: { ':at': Math.floor(Date.now() / 1000) - 600 },
  })
}

/** As a person does who deploys: `strongroom operator bootstrap` prints the code. */
async function claimFirstAdmin(): Promise<string> {
  const { db } = server
  const operators = createOperatorService({ db, clock, auditLog: createAuditLog({ db, clock }) })
  const created = await operators.createCodeIfNeeded({ actor: 'cli' })
  const body = { code: created?.code }
  const claimed = await server.ask('POST', '/server/v1/bootstrap', { body })
  expect(claimed.body).toMatchObject({ token: expect.any(String) })
  return claimed.body.token
}

async function openDestination() {
  const requests: string[] = []
  const receiver = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      requests.push(Buffer.concat(chunks).toString())
      response.statusCode = request.url === '/failing' ? 500 : 200
      response.end()
    })
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const { port } = receiver.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, requests, close: () => void receiver.close() }
}

/** Twenty processes; CI runs them. */
describe.runIf(process.env['SLOW'])('the functions of a deployment', () => {
  beforeAll(async () => {
    deployment = await openDeployment()
    destination = await openDestination()
    const store = {
      name: 'a deployment',
      open: async () => ({ db: deployment.db, close: async () => {} }),
    }
    server = await openEveryService(store, {
      clock,
      async openApp({ env }) {
        deployment.configure({
          ...env,
          SEALED_DIFFICULTY: '0',
          SEALED_DIFFICULTY_PER_DOUBLING: '0',
          FERRYHOOK_ALLOW_HTTP: 'true',
          FERRYHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
        })
        return {
          fetch(request, from: { incoming?: { socket: { remoteAddress: string } } }) {
            const sourceIp = from.incoming?.socket.remoteAddress
            return deployment.fetch(request, { ...(sourceIp !== undefined && { sourceIp }) })
          },
          close: async () => {},
        }
      },
    })
    admin = await claimFirstAdmin()
  }, 300_000)

  afterAll(async () => {
    await server?.close()
    destination?.close()
    await deployment?.close()
  })

  test('let operators change everything that a server lets them change', async () => {
    const failed: string[] = []
    for (const [operation, prepare] of Object.entries(calls)) {
      const [method = ''] = operation.split(' ')
      const token = await server.operator()
      const { path, ...given } = await prepare(server, token)
      await forgetAuditHead(server)
      const { status, code } = await server.ask(method, path, { token, ...given })
      if (status >= 300) failed.push(`${operation}: ${status} ${code}`)
    }
    expect(failed).toEqual([])
  }, 300_000)

  test('keep a secret that opens once, and end what is over', async () => {
    const secrets = createSealedApi({
      base: 'https://strongroom.example/sealed/',
      fetch: async (url, init) => deployment.fetch(new Request(url as string, init)),
    })
    const seal = (passphrase?: string) =>
      sealSecret(secrets, {
        text: 'hunter2',
        ttlSeconds: 3600,
        maxViews: 1,
        receipt: true,
        passphrase,
      })
    const { secret, management } = await seal()
    const { id } = secret
    const keys = await deriveKeys(secret.fragment)
    const claim = newClaim()
    expect(await openSecret(secrets, { id, keys, claim })).toMatchObject({ text: 'hunter2' })
    await secrets.ack(id, claim)
    await expect(openSecret(secrets, { id, keys, claim: newClaim() })).rejects.toThrow()
    expect(await secrets.receipt(id, management.burnToken)).toMatchObject({ state: 'viewed' })
    const burned = await seal()
    await secrets.burn(burned.secret.id, burned.management.burnToken)
    const sealPlain = () => sealSecret(secrets, { text: 'hunter2', ttlSeconds: 3600, maxViews: 1 })
    const [ended, expired, unread] = [await sealPlain(), await sealPlain(), await seal()]
    await backdate(ended.secret.id, 'createdAt')
    await secrets.burn(ended.secret.id, ended.management.burnToken)
    for (const { secret: over } of [expired, unread]) {
      await backdate(over.id, 'createdAt')
      await backdate(over.id, 'expiresAt')
    }
    await deployment.invoke('sealed-sweep', { source: 'aws.events' })
    const created = await server.ask('POST', '/sealed/v1/api-tokens', {
      token: admin,
      body: { name: 'ci' },
    })
    const withToken = createSealedApi({
      base: 'https://strongroom.example/sealed/',
      apiToken: created.body.token,
      fetch: async (url, init) => deployment.fetch(new Request(url as string, init)),
    })
    await sealSecret(withToken, { text: 'hunter2', ttlSeconds: 3600, maxViews: 1 })
    const page = await deployment.fetch(new Request('https://strongroom.example/sealed/'))
    expect(page.status).toBe(200)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  })

  test('deliver a webhook: ingest, stream, worker', async () => {
    const account = await server.account()
    const ferryhook = ferryhookOf(server, account.token)
    const source = await ferryhook('POST', '/sources', { name: 'Shop', provider: 'custom' })
    const connection = await ferryhook('POST', `/sources/${source.id}/connections`, {
      name: 'Books',
      destinationUrl: destination.url,
    })
    const received = await server.ask('POST', `/in/${source.id}?x=%2F`, { body: { n: 1 } })
    expect(received).toMatchObject({ status: 200, body: { status: 'received' } })
    expect(destination.requests).toEqual([])
    const result = await deployment.invoke('ferryhook-worker', await streamEvent(server.db))
    expect(result).toEqual({ batchItemFailures: [] })
    expect(destination.requests).toEqual(['{"n":1}'])
    const event = await ferryhook('GET', `/events/${received.body.id}`)
    expect(event).toMatchObject({ status: 'delivered' })

    const login = { email: account.email, password: 'correct horse battery' }
    expect((await server.ask('POST', '/ferryhook/v1/auth/login', { body: login })).status).toBe(200)
    const { key } = await ferryhook('POST', '/api-keys', { name: 'CI', permissions: 'read' })
    await ferryhookOf(server, key)('GET', '/sources')
    const signed = {
      name: 'Signed',
      provider: 'custom',
      signingSecret: 'whsec',
      signingAlgorithm: 'hmac-sha256',
    }
    const verified = await server.ask('POST', '/ferryhook/v1/sources', {
      token: account.token,
      body: signed,
    })
    expect(verified.status).toBe(201)
    await server.ask('POST', `/in/${verified.body.id}`, { body: { n: 1 } })
    await ferryhook('POST', `/events/${received.body.id}/replay`, {})
    await deployment.invoke('ferryhook-worker', { source: 'aws.events' })
    expect(destination.requests).toHaveLength(2)
    const from = new Date(Date.now() - 60_000).toISOString()
    const replay = await server.ask('POST', '/ferryhook/v1/replays', {
      token: account.token,
      body: { sourceId: source.id, from },
    })
    expect(replay.status).toBeLessThan(300)
    await deployment.invoke('ferryhook-worker', { source: 'aws.events' })
    await deployment.invoke('ferryhook-worker', { source: 'aws.events' })
    const leaving = await server.account()
    await ferryhookOf(server, leaving.token)('POST', '/api-keys', {
      name: 'CI',
      permissions: 'read',
    })
    await ferryhookOf(server, leaving.token)('POST', '/sources', {
      name: 'Shop',
      provider: 'custom',
    })
    const stores = storesOn(server.db, clock)
    await stores.accountPurge.begin((await stores.users.getById(leaving.id))!)
    await deployment.invoke('ferryhook-worker', { source: 'aws.events' })
    const ids = {
      id: source.id,
      'sources.id': source.id,
      'connections.id': connection.id,
      'events.id': received.body.id,
      connectionId: connection.id,
      number: '1',
    }
    const failed: string[] = []
    for (const operation of server.operations) {
      const { method, permission } = operation
      if (method !== 'GET' || !['read', 'admin', 'session'].includes(permission)) continue
      const address = addressOf(operation, ids)
      if (address === undefined || address.endsWith('/stream')) continue
      const { status, code } = await server.ask('GET', address, { token: account.token })
      if (status >= 500) failed.push(`${address}: ${status} ${code}`)
    }
    expect(failed).toEqual([])
  }, 300_000)

  test('show operators everything that a server shows them', async () => {
    const { agency_id, api_key } = await server.agency(admin)
    const { site_id } = await server.site(api_key)
    const ids = {
      agency_id,
      site_id,
      scope: 'api',
      'rate-limits.id': site_id,
      slug: 'form-bridge',
      version: '1.1.0',
      'users.id': (await server.account()).id,
      'keys.id': (await server.ask('POST', '/key-store/v1/keys', { token: admin, body: {} })).body
        .id,
    }
    const failed: string[] = []
    for (const operation of server.operations) {
      const { method, permission } = operation
      if (method !== 'GET' || !/^operator:(viewer|editor|admin|self)$/.test(permission)) continue
      const address = addressOf(operation, ids)
      if (address === undefined) continue
      const query =
        { '/form-bridge/v1/abuse-patterns': '?type=api_abuse', '/key-store/v1/keys': '?limit=1' }[
          address
        ] ?? ''
      const { status, code } = await server.ask('GET', address + query, { token: admin })
      if (status >= 400) failed.push(`${address}: ${status} ${code}`)
    }
    expect(failed).toEqual([])
  }, 300_000)

  test('serve a connected site: status, heartbeat, rotation, submissions, updates', async () => {
    const agency = await server.agency(admin)
    const site = (await server.site(agency.api_key)) as { site_id: string; webhook_secret: string }
    const expectOk = (answer: Answer) =>
      expect([answer.status, answer.code]).toEqual([200, undefined])
    expectOk(await askAsSite(server, site, 'GET', '/site'))
    expectOk(await askAsSite(server, site, 'POST', '/site/heartbeat', { plugin_version: '1.0.0' }))
    const confirm = `/form-bridge/v1/agency/sites/${site.site_id}/confirm`
    await server.ask('POST', confirm, { token: agency.api_key, body: {} })
    const refused = await askAsSite(server, site, 'POST', '/webhook', submission())
    expect(refused.code).toBe('form-bridge.no_destination')
    const forged = { ...site, webhook_secret: 'x'.repeat(43) }
    expect((await askAsSite(server, forged, 'GET', '/site')).status).toBe(401)
    const rotated = await askAsSite(server, site, 'POST', '/site/rotate', {})
    expectOk(rotated)
    const renewed = { ...site, ...rotated.body }
    const check = '/updates/check?slug=form-bridge&current_version=1.0.0'
    const update = await askAsSite(server, renewed, 'GET', check)
    expectOk(update)
    const zip = await deployment.fetch(new Request(update.body.package))
    expect([zip.status, zip.headers.get('content-type')]).toEqual([200, 'application/zip'])
    expectOk(await server.ask('GET', '/form-bridge/v1/plugins/form-bridge'))
    for (const path of ['', '/sites', `/sites/${site.site_id}`, '/join-tokens']) {
      expectOk(await server.ask('GET', `/form-bridge/v1/agency${path}`, { token: agency.api_key }))
    }
    const registration = await server.ask('POST', '/form-bridge/v1/register', {
      body: { site_url: 'https://shop.example', wp_version: '6.8', plugin_version: '1.0.0' },
    })
    const { registration_id, temp_key } = registration.body
    const supersedes = { registration_id, temp_key }
    await server.ask('POST', '/form-bridge/v1/register', {
      body: {
        site_url: 'https://shop.example',
        wp_version: '6.8',
        plugin_version: '1.0.0',
        supersedes,
      },
    })
    const validated = { registration_id, temp_key, site_url: 'https://shop.example' }
    await server.ask('POST', '/form-bridge/v1/validate', { body: validated })
    const wrong = { ...validated, temp_key: `${temp_key.slice(0, -1)}x` }
    await server.ask('POST', '/form-bridge/v1/validate', { body: wrong })
    await server.ask('POST', '/form-bridge/v1/exchange', { body: wrong })
    const asAgency = (method: string, path: string, body?: object) =>
      server.ask(method, `/form-bridge/v1/agency${path}`, {
        token: agency.api_key,
        ...(body && { body }),
      })
    const joining = await asAgency('POST', '/join-tokens', {})
    expect((await asAgency('DELETE', `/join-tokens/${joining.body.id}`)).status).toBe(204)
    const url = server.upstream.replace('http:', 'https:')
    const set = await asAgency('PUT', `/sites/${site.site_id}/destination`, { url })
    expect(set.status).toBe(200)
    expect((await asAgency('DELETE', `/sites/${site.site_id}`)).status).toBe(204)
    expectOk(await askAsSite(server, renewed, 'POST', '/site/disconnect', {}))
    const other = await server.site(agency.api_key)
    const disable = `/form-bridge/v1/sites/${other.site_id}/disable`
    expect((await server.ask('POST', disable, { token: admin })).status).toBeLessThan(300)
  })

  test('verify a Slack request and send it to the app', async () => {
    const app = 'lambda-app'
    const added = await server.ask('POST', '/two-key/v1/apps', {
      token: admin,
      body: { name: app, signingSecret: SECRET, upstream: { url: destination.url, kind: 'app' } },
    })
    expect(added.status).toBe(201)
    const { team, token } = server.slack
    const path = `/two-key/v1/apps/${app}/tokens/${team}`
    expect((await server.ask('PUT', path, { token: admin, body: { token } })).status).toBe(200)
    const { body, headers } = signedServiceRequest(eventBody(message), Date.now())
    const sent = destination.requests.length
    const send = () =>
      server.ask('POST', `/two-key/slack/${app}/events`, { body: Buffer.from(body), headers })
    expect(await send()).toMatchObject({ status: 200 })
    // Slack repeats events.
    expect(await send()).toMatchObject({ status: 200 })
    expect(destination.requests.slice(sent)).toEqual([body])
    const forged = await server.ask('POST', `/two-key/slack/${app}/events`, {
      body: Buffer.from(`${body} `),
      headers,
    })
    expect(forged.status).toBe(401)
    await server.ask('PATCH', `/two-key/v1/apps/${app}`, {
      token: admin,
      body: { upstream: { url: `${destination.url}/failing`, kind: 'app' } },
    })
    const again = { ...eventBody(message), event_id: 'Ev00000002' }
    const refused = signedServiceRequest(again, Date.now())
    await server.ask('POST', `/two-key/slack/${app}/events`, {
      body: Buffer.from(refused.body),
      headers: refused.headers,
    })
  })

  test('run the jobs that operators start', async () => {
    // The one that another test cancelled ends first.
    await deployment.invoke('jobs', { source: 'aws.events' })
    await forgetAuditHead(server)
    const started = await server.ask('POST', '/server/v1/jobs', {
      token: admin,
      body: { kind: 'key-store.rotate-keys', input: { olderThanSeconds: 0, perSecond: 10 } },
    })
    await deployment.invoke('jobs', { source: 'aws.events' })
    const job = await server.ask('GET', `/server/v1/jobs/${started.body.id}`, { token: admin })
    expect(job.body).toMatchObject({ state: 'done' })
  })

  test('sign an operator in to the console', async () => {
    const page = await deployment.fetch(new Request('https://strongroom.example/console/'))
    expect(page.status).toBe(200)
    const cookie = await server.operatorCookie(admin)
    const session = await server.ask('GET', '/server/v1/session', { headers: { cookie } })
    expect(session.status).toBe(200)
    expect((await server.ask('DELETE', '/server/v1/session', { headers: { cookie } })).status).toBe(
      204,
    )
  })

  test('stream new events while they come', async () => {
    const account = await server.account()
    const ferryhook = ferryhookOf(server, account.token)
    const source = await ferryhook('POST', '/sources', { name: 'Shop', provider: 'custom' })
    const { key } = await ferryhook('POST', '/api-keys', { name: 'CI', permissions: 'read' })
    const live = await deployment.functionOf('ferryhook-live')
    const url = `https://live.example/ferryhook/v1/sources/${source.id}/stream`
    const request = new Request(url, { headers: { authorization: `Bearer ${key}` } })
    const withSession = new Request(url, { headers: { authorization: `Bearer ${account.token}` } })
    const watched = live.stream(await toEvent(withSession))
    expect(await watched.head).toMatchObject({ statusCode: 200 })
    watched.disconnect()
    await watched.ended
    const stream = live.stream(await toEvent(request))
    expect(await stream.head).toMatchObject({ statusCode: 200 })
    await expect.poll(stream.text).toContain('event: ready')
    const received = await server.ask('POST', `/in/${source.id}`, { body: { n: 2 } })
    await expect.poll(stream.text).toContain(received.body.id)
    stream.disconnect()
    await stream.ended
    const other = new Request('https://live.example/ferryhook/v1/sources')
    const refused = live.stream(await toEvent(other))
    expect(await refused.head).toMatchObject({ statusCode: 404 })
    await refused.ended
  })

  test('may do what they do, and nothing else', async () => {
    expect(deniedCalls(deployment.calls())).toEqual([])
    const unused = unusedPermissions(deployment.calls())
    expect(unused.filter((permission) => !(permission in rarePermissions))).toEqual([])
    const called = new Set(deployment.calls().map((call) => call.function))
    expect([...called].toSorted()).toEqual(lambdaFunctions.map(({ name }) => name).toSorted())
  })

  test('have no native library in their bundles, and one copy of each package', () => {
    for (const [name, inputs] of deployment.inputs) {
      const packages = inputs.flatMap(
        (input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? [],
      )
      const found = [...new Set(packages)]
      const names = found.map((path) => path.slice(path.lastIndexOf('node_modules/')))
      expect(
        names.filter((each) => /lmdb|msgpackr/.test(each)),
        name,
      ).toEqual([])
      const sdk = names.filter((each) => each.includes('@aws-sdk/') || each.includes('@smithy/'))
      expect(sdk.length, name).toBe(new Set(sdk).size)
    }
  })
})
