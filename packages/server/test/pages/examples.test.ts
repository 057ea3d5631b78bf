/**
 * The examples of the API reference: each call is made against a server, and the fields that it sends are
 * compared with the file that the reference shows. `UPDATE_EXAMPLES=1 npm test -- examples` writes it.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { snapshotText } from '../contract/json.ts'
import { type EveryService, openEveryService } from '../every-service.ts'
import { calls } from '../operator-calls.ts'

const file = new URL('../../src/pages/reference/examples.json', import.meta.url)
/** Longer lists are cut in examples. */
const MAX_ITEMS = 2

interface Example {
  request?: unknown
  status: number
  response?: unknown
}

describe('the examples of the API reference', () => {
  const [store] = serviceStores()
  let server: EveryService
  const examples: Record<string, Example> = {}

  beforeAll(async () => {
    server = await openEveryService(store!)
  })
  afterAll(() => server.close())

  async function record<T>(
    name: string,
    path: string,
    given: Parameters<EveryService['ask']>[2] = {},
  ): Promise<T> {
    const [method = ''] = name.split(' ')
    const { status, body } = await server.ask(method, path, given)
    expect([name, status < 300 || body]).toEqual([name, true])
    const isJson = given.body !== undefined && !(given.body instanceof Uint8Array)
    examples[name] = {
      ...(isJson && { request: given.body }),
      status,
      ...(typeof body === 'object' && body !== null && { response: body }),
    }
    return body as T
  }

  async function recordFerryhook(): Promise<void> {
    const { token } = await server.account()
    const v1 = '/ferryhook/v1'
    const source = await record<{ id: string }>('POST /ferryhook/v1/sources', `${v1}/sources`, {
      token,
      body: { name: 'GitHub acme/shop', provider: 'github', signingSecret: 'a long random text' },
    })
    const at = `${v1}/sources/${source.id}`
    const connection = await record<{ id: string }>(
      'POST /ferryhook/v1/sources/{id}/connections',
      `${at}/connections`,
      { token, body: { name: 'Test destination', destinationUrl: 'test:200' } },
    )
    await record('POST /ferryhook/v1/sources/{id}/test-event', `${at}/test-event`, { token })
    const events = await record<{ items: { id: string }[] }>(
      'GET /ferryhook/v1/events',
      `${v1}/events`,
      { token },
    )
    const event = events.items[0]?.id ?? ''
    await record('POST /ferryhook/v1/sources/{id}/dry-run', `${at}/dry-run`, {
      token,
      body: {
        eventId: event,
        transform: { type: 'field_map', rules: [{ from: '$.type', to: 'kind' }] },
      },
    })
    await record('POST /ferryhook/v1/api-keys', `${v1}/api-keys`, {
      token,
      body: { name: 'ci', permissions: 'read' },
    })
    for (const [name, path] of [
      ['GET /ferryhook/v1/account', '/account'],
      ['GET /ferryhook/v1/account/sessions', '/account/sessions'],
      ['GET /ferryhook/v1/alerts', '/alerts'],
      ['GET /ferryhook/v1/analytics/overview', '/analytics/overview'],
      ['GET /ferryhook/v1/api-keys', '/api-keys'],
      ['GET /ferryhook/v1/audit', '/audit'],
      ['GET /ferryhook/v1/connections', '/connections'],
      ['GET /ferryhook/v1/connections/{id}', `/connections/${connection.id}`],
      ['GET /ferryhook/v1/events/{id}', `/events/${event}`],
      ['GET /ferryhook/v1/plans', '/plans'],
      ['GET /ferryhook/v1/sources', '/sources'],
      ['GET /ferryhook/v1/sources/{id}', `/sources/${source.id}`],
      ['GET /ferryhook/v1/usage', '/usage'],
    ] as const) {
      await record(name, v1 + path, { token })
    }
  }

  async function recordOperators(): Promise<void> {
    const token = await server.operator()
    for (const [name, prepare] of Object.entries(calls)) {
      const { path, ...given } = await prepare(server, token)
      await record(name, path, { token, ...given })
    }
    const agency = await server.agency(token)
    const site = await server.site(agency.api_key)
    const key = (await server.ask('POST', '/key-store/v1/keys', { token, body: {} })).body.id
    for (const [name, path = name.slice(4)] of [
      ['GET /ferryhook/v1/users'],
      ['GET /form-bridge/v1/agencies'],
      ['GET /form-bridge/v1/agencies/{agency_id}', `/form-bridge/v1/agencies/${agency.agency_id}`],
      [
        'GET /form-bridge/v1/plugins/{slug}/versions',
        '/form-bridge/v1/plugins/form-bridge/versions',
      ],
      ['GET /form-bridge/v1/registrations'],
      ['GET /form-bridge/v1/security-events'],
      ['GET /form-bridge/v1/site-counts'],
      ['GET /form-bridge/v1/sites'],
      ['GET /form-bridge/v1/sites/{site_id}', `/form-bridge/v1/sites/${site.site_id}`],
      ['GET /key-store/v1/keys'],
      ['GET /key-store/v1/keys/{id}', `/key-store/v1/keys/${key}`],
      ['GET /sealed/v1/api-tokens'],
      ['GET /sealed/v1/figures'],
      ['GET /server/v1/about'],
      ['GET /server/v1/audit'],
      ['GET /server/v1/jobs'],
      ['GET /server/v1/operators'],
      ['GET /server/v1/secrets'],
      ['GET /two-key/v1/apps'],
    ] as [name: string, path?: string][]) {
      await record(name, path, { token })
    }
  }

  test('have the fields that the server sends', async () => {
    await recordFerryhook()
    await recordOperators()
    const found = toExamples(examples)
    if (process.env['UPDATE_EXAMPLES'] === '1') writeFileSync(file, snapshotText(found))
    const shown: unknown = JSON.parse(readFileSync(file, 'utf8'))
    expect(fieldsOf(shown)).toEqual(fieldsOf(found))
  }, 120_000)

  test('contain no secret', () => {
    expect(readFileSync(file, 'utf8')).not.toMatch(/sro_[\w-]+\.[\w-]{43}|fh_live_\w{20}/)
  })
})

const SECRET = /token|secret|password|key$|url$/i

/** Without secrets, with addresses that readers understand, and with short lists. */
function toExamples(value: unknown, key = ''): unknown {
  if (typeof value === 'string') {
    const isSecret = SECRET.test(key) && /[\w+/-]{32}/.test(value)
    return (isSecret ? value.replaceAll(/[\w+/-]{16,}=*/g, '…') : value)
      .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'https://shop.example.com')
      .replaceAll(/127\.0\.0\.1:\d+/g, 'shop.example.com')
      .replaceAll(/\b10\.\d+\.\d+\.1\b/g, '192.0.2.1')
      .replaceAll(/\b2100-/g, '2030-')
  }
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => toExamples(item))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, toExamples(each, name)]),
  )
}

/** The names of the fields of each request and response. Their values differ with each run. */
function fieldsOf(value: unknown, depth = 0): unknown {
  if (depth === 3 || value === null || typeof value !== 'object' || Array.isArray(value))
    return true
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, fieldsOf(each, depth + 1)]),
  )
}
