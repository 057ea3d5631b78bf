/**
 * Every operation of the API, called by everyone: the response must be what the operation declares
 * under `x-permission`.
 */
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type EveryService, openEveryService, type Operation } from './every-service.ts'

/** What a caller gets that is not allowed to call an operation. */
const REFUSALS = new Set([
  'operator.unauthorized',
  'operator.forbidden',
  'operator.session_required',
  'operator.session_ended',
  'operator.foreign_origin',
  'ferryhook.unauthorized',
  'ferryhook.permission_required',
  'ferryhook.session_required',
  'form-bridge.unauthorized',
  'form-bridge.agency_unauthorized',
  'form-bridge.signature_required',
])

/** Public routes that reject wrong credentials but need none: a signed link, a proof of work. */
const CHECKS_OPTIONAL_CREDENTIALS = new Set([
  '/form-bridge/v1/plugins/{slug}/{version}/download',
  '/sealed/v1/token',
])

const ROLES = ['viewer', 'editor', 'admin']
const KEYS = ['read', 'write', 'admin']

interface Caller {
  name: string
  kind: 'none' | 'operator' | 'account' | 'agency' | 'site'
  /** Of an operator. */
  role?: string
  /** The service that an operator is limited to. */
  only?: string
  /** The permission of an API key; undefined for a session. */
  key?: string
  token: string | undefined
  /** Of an operator in the console. */
  cookie?: string
}

/** The error that an operation must refuse a caller with; undefined if it must let the caller in. */
function expectedRefusal({ path, permission, schemes }: Operation, caller: Caller) {
  const { kind, role = '', only, key, cookie } = caller
  if (permission === 'public') return undefined
  if (permission.startsWith('operator:')) {
    if (kind !== 'operator') return 'operator.unauthorized'
    if (permission === 'operator:self') return undefined
    if (permission === 'operator:session') return cookie ? undefined : 'operator.session_required'
    const hasRole = ROLES.indexOf(role) >= ROLES.indexOf(permission.slice('operator:'.length))
    // A job belongs to the service of its kind.
    const isOwn =
      only === undefined || path.startsWith(`/${only}/`) || path.startsWith('/server/v1/jobs')
    return hasRole && isOwn ? undefined : 'operator.forbidden'
  }
  if (permission === 'agency') {
    return kind === 'agency' ? undefined : 'form-bridge.agency_unauthorized'
  }
  if (permission === 'site') {
    if (kind !== 'site') return 'form-bridge.unauthorized'
    return schemes.includes('formBridgeKey') ? undefined : 'form-bridge.signature_required'
  }
  if (kind !== 'account') return 'ferryhook.unauthorized'
  if (permission === 'session') return key === undefined ? undefined : 'ferryhook.session_required'
  const isEnough = key === undefined || KEYS.indexOf(key) >= KEYS.indexOf(permission)
  return isEnough ? undefined : 'ferryhook.permission_required'
}

/** Of nothing that exists, so that a call that is let in changes nothing. */
const UNKNOWN: Record<string, string> = {
  action: 'suspend',
  agency_id: 'agency_0000000000000000',
  app: 'unknown',
  connectionId: 'con_0000000000000000',
  identifier: 'unknown',
  name: 'unknown',
  provider: 'github',
  scope: 'api',
  site_id: 'site_0000000000000000',
  slug: 'unknown',
  sourceId: 'src_0000000000000000',
  team: 'T00000000',
  type: 'api_abuse',
  version: '0.0.1',
}

function pathOf({ path }: Operation, ids: Record<string, string> = {}): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? UNKNOWN[name] ?? 'unknown')
}

describe.each(serviceStores())('every operation on $name', (store) => {
  let server: EveryService
  let callers: Caller[]
  let root: string

  beforeAll(async () => {
    server = await openEveryService(store)
    root = await server.operator()
    const operators = await Promise.all(
      ROLES.map(async (role): Promise<Caller> => {
        const token = await server.operator({ role: role as 'viewer' })
        return { name: role, kind: 'operator', role, token }
      }),
    )
    const only = 'form-bridge'
    const limited = await server.operator({ role: 'admin', services: [only] })
    const sessions = await Promise.all(
      operators.map(async ({ name, token, ...operator }): Promise<Caller> => {
        const cookie = await server.operatorCookie(token ?? '')
        return { ...operator, name: `${name} in the console`, token: undefined, cookie }
      }),
    )
    const account = await server.account()
    const keys = await Promise.all(
      KEYS.map(async (permissions): Promise<Caller> => {
        const body = { name: 'CI', permissions }
        const path = '/ferryhook/v1/api-keys'
        const { body: made } = await server.ask('POST', path, { token: account.token, body })
        return { name: `${permissions} key`, kind: 'account', key: permissions, token: made.key }
      }),
    )
    const { api_key: agencyKey } = await server.agency(root)
    const { api_key: siteKey } = await server.site()
    const expired = await server.operator({ expiresAt: server.clock.now() / 1000 + 1 })
    server.clock.advance({ seconds: 1 })
    callers = [
      { name: 'none', kind: 'none', token: undefined },
      { name: 'nonsense', kind: 'none', token: 'nonsense' },
      { name: 'expired operator', kind: 'none', token: expired },
      ...operators,
      ...sessions,
      { name: 'admin of form-bridge', kind: 'operator', role: 'admin', only, token: limited },
      { name: 'session', kind: 'account', token: account.token },
      ...keys,
      { name: 'agency', kind: 'agency', token: agencyKey },
      { name: 'site', kind: 'site', token: siteKey },
    ]
  })
  afterAll(() => server.close())

  test('declares a permission', () => {
    const known = ['public', 'agency', 'site', 'session', ...KEYS]
    const roles = ROLES.map((role) => `operator:${role}`)
    const own = ['operator:self', 'operator:session']
    expect(server.operations.length).toBeGreaterThan(120)
    for (const { method, path, permission } of server.operations) {
      expect([...known, ...roles, ...own], `${method} ${path}`).toContain(permission)
    }
    const { operations } = server
    const changes = operations.filter(({ method }) => method !== 'GET')
    for (const { path, permission } of changes) expect([path, permission]).not.toContain(roles[0])
  })

  test('responds to each caller as it declares', async () => {
    const wrong: string[] = []
    for (const operation of server.operations) {
      const { method, path } = operation
      const body = method === 'GET' || method === 'DELETE' ? {} : { body: {} }
      for (const caller of callers) {
        const { token, cookie } = caller
        // It would end the session of the caller.
        if (cookie && method === 'DELETE' && path === '/server/v1/session') continue
        const headers = cookie ? { headers: { cookie } } : {}
        const answer = await server.ask(method, pathOf(operation), { token, ...headers, ...body })
        const expected = expectedRefusal(operation, caller)
        const code = answer.code ?? ''
        const isRight =
          CHECKS_OPTIONAL_CREDENTIALS.has(path) ||
          (expected === undefined ? !REFUSALS.has(code) : code === expected)
        const isForbidden = code === 'operator.forbidden'
        const required = `operator:${answer.body?.error?.data?.requiredRole}`
        const namesRole = !isForbidden || required === operation.permission
        if (!isRight || !namesRole || answer.status >= 500) {
          wrong.push(`${caller.name}: ${method} ${path}: ${answer.status} ${code}`)
        }
        // Routes that replace the caller's own key.
        if (caller.kind === 'agency' && answer.body?.api_key) caller.token = answer.body.api_key
      }
    }
    expect(wrong).toEqual([])
  }, 300_000)

  test('does not find what belongs to another account or agency', async () => {
    const [owner, other] = [await server.account(), await server.account()]
    const post = async (path: string, body: object, token = owner.token) => {
      const answer = await server.ask('POST', `/ferryhook/v1${path}`, { token, body })
      expect([path, answer.status]).toEqual([path, 201])
      return answer.body
    }
    const source = await post('/sources', { name: 'Shop', provider: 'custom' })
    const connection = await post(`/sources/${source.id}/connections`, {
      name: 'Books',
      destinationUrl: 'https://shop.example/hooks',
    })
    const key = await post('/api-keys', { name: 'CI', permissions: 'read' })
    const event = (await server.ask('POST', `/in/${source.id}`, { body: { n: 1 } })).body
    const idsByNoun: Record<string, string> = {
      sources: source.id,
      connections: connection.id,
      'api-keys': key.id,
      events: event.id,
    }
    const agency = await server.agency(root)
    const foreign = await server.agency(root)
    const { site_id } = await server.site(agency.api_key)
    const adminKey = (await post('/api-keys', { name: 'CI', permissions: 'admin' }, other.token))
      .key

    const found: string[] = []
    let tried = 0
    for (const operation of server.operations) {
      const { method, path, permission } = operation
      const isFerryhook = ['read', 'write', 'admin', 'session'].includes(permission)
      const [, noun = ''] = /\/v1\/([\w-]+)\/\{/.exec(path) ?? []
      const id = isFerryhook ? idsByNoun[noun] : permission === 'agency' ? site_id : undefined
      if (id === undefined || !path.includes('{')) continue
      const ids = { id, sourceId: source.id, connectionId: connection.id, site_id, deliveryId: id }
      for (const token of isFerryhook ? [other.token, adminKey] : [foreign.api_key]) {
        tried += 1
        const body = method === 'GET' || method === 'DELETE' ? {} : { body: {} }
        const answer = await server.ask(method, pathOf(operation, ids), { token, ...body })
        const isHidden = answer.status === 404 || answer.status === 400 || answer.status === 403
        if (!isHidden) found.push(`${method} ${path}: ${answer.status}`)
      }
    }
    expect(found).toEqual([])
    expect(tried).toBeGreaterThan(40)
    const mine = { token: owner.token }
    for (const path of [`/sources/${source.id}`, `/connections/${connection.id}`]) {
      expect((await server.ask('GET', `/ferryhook/v1${path}`, mine)).status).toBe(200)
    }
    const token = agency.api_key
    const path = `/form-bridge/v1/agency/sites/${site_id}`
    expect((await server.ask('GET', path, { token })).status).toBe(200)
  }, 120_000)
})
