/** How to call each route with which operators change something, so that it succeeds. */
import { createStores } from '@strongroom/form-bridge/stores'
import { createJobStore } from '@strongroom/kit/jobs/store'
import { expect } from 'vitest'
import type { EveryService } from './every-service.ts'

interface Call {
  path: string
  body?: unknown
  headers?: Record<string, string>
}

type Calls = Record<string, (server: EveryService, admin: string) => Promise<Call>>

let names = 0
const newName = () => `name-${++names}`

async function newOperator(server: EveryService, admin: string): Promise<string> {
  const name = newName()
  const body = { name, role: 'viewer' }
  await server.ask('POST', '/server/v1/operators', { token: admin, body })
  return name
}

async function newApp(server: EveryService, admin: string): Promise<string> {
  const name = newName()
  const body = {
    name,
    signingSecret: 'a-signing-secret-of-slack',
    upstream: { url: server.upstream, kind: 'app' },
  }
  const added = await server.ask('POST', '/two-key/v1/apps', { token: admin, body })
  expect(added.status).toBe(201)
  return name
}

async function newToken(server: EveryService, admin: string): Promise<string> {
  const app = await newApp(server, admin)
  const path = `/two-key/v1/apps/${app}/tokens/${server.slack.team}`
  const { token } = server.slack
  expect((await server.ask('PUT', path, { token: admin, body: { token } })).status).toBe(200)
  return path
}

async function newKey(server: EveryService, admin: string): Promise<string> {
  const body = { id: newName(), encryptionContext: { tenant: 'a' } }
  await server.ask('POST', '/key-store/v1/keys', { token: admin, body })
  return body.id
}

async function newApiToken(server: EveryService, admin: string): Promise<string> {
  const body = { name: newName() }
  await server.ask('POST', '/sealed/v1/api-tokens', { token: admin, body })
  return body.name
}

export const calls: Calls = {
  'POST /server/v1/operators': async () => ({
    path: '/server/v1/operators',
    body: { name: newName(), role: 'viewer' },
  }),
  'PATCH /server/v1/operators/{name}': async (server, admin) => ({
    path: `/server/v1/operators/${await newOperator(server, admin)}`,
    body: { role: 'editor' },
  }),
  'POST /server/v1/operators/{name}/token': async (server, admin) => ({
    path: `/server/v1/operators/${await newOperator(server, admin)}/token`,
  }),
  'DELETE /server/v1/operators/{name}': async (server, admin) => ({
    path: `/server/v1/operators/${await newOperator(server, admin)}`,
  }),
  'POST /server/v1/secrets/{name}/versions': async (server, admin) => {
    await server.ask('GET', '/server/v1/audit', { token: admin })
    return { path: '/server/v1/secrets/server-cursors/versions', body: {} }
  },

  'POST /server/v1/jobs': async () => ({
    path: '/server/v1/jobs',
    body: { kind: 'server.export-audit-log', input: {} },
  }),
  'POST /server/v1/jobs/{id}/cancel': async (server) => {
    // Not through the API, which would run it immediately.
    const started = await createJobStore(server).start({
      kind: 'key-store.rotate-keys',
      input: { olderThanSeconds: 86_400, perSecond: 1 },
      by: { actor: 'operator:other' },
    })
    const id = started.kind === 'started' ? started.job.SK : started.id
    return { path: `/server/v1/jobs/${id}/cancel` }
  },

  'POST /key-store/v1/keys': async () => ({ path: '/key-store/v1/keys', body: {} }),
  'POST /key-store/v1/keys/{id}/versions': async (server, admin) => ({
    path: `/key-store/v1/keys/${await newKey(server, admin)}/versions`,
  }),

  'POST /sealed/v1/api-tokens': async () => ({
    path: '/sealed/v1/api-tokens',
    body: { name: newName() },
  }),
  'DELETE /sealed/v1/api-tokens/{name}': async (server, admin) => ({
    path: `/sealed/v1/api-tokens/${await newApiToken(server, admin)}`,
  }),

  'POST /two-key/v1/apps': async ({ upstream }) => ({
    path: '/two-key/v1/apps',
    body: {
      name: newName(),
      signingSecret: 'a-signing-secret-of-slack',
      upstream: { url: upstream, kind: 'app' },
    },
  }),
  'PATCH /two-key/v1/apps/{app}': async (server, admin) => ({
    path: `/two-key/v1/apps/${await newApp(server, admin)}`,
    body: { upstream: { url: `${server.upstream}/other`, kind: 'app' } },
  }),
  'DELETE /two-key/v1/apps/{app}': async (server, admin) => ({
    path: `/two-key/v1/apps/${await newApp(server, admin)}`,
  }),
  'POST /two-key/v1/apps/{app}/signing-secrets': async (server, admin) => ({
    path: `/two-key/v1/apps/${await newApp(server, admin)}/signing-secrets`,
    body: { signingSecret: 'another-signing-secret' },
  }),
  'PUT /two-key/v1/apps/{app}/tokens/{team}': async (server, admin) => ({
    path: await newToken(server, admin),
    body: { token: server.slack.token },
  }),
  'DELETE /two-key/v1/apps/{app}/tokens/{team}': async (server, admin) => ({
    path: await newToken(server, admin),
  }),

  'POST /ferryhook/v1/users': async () => ({
    path: '/ferryhook/v1/users',
    body: { email: `${newName()}@example.com` },
  }),
  'DELETE /ferryhook/v1/users/{id}': async (server) => ({
    path: `/ferryhook/v1/users/${(await server.account()).id}`,
  }),
  'PUT /ferryhook/v1/users/{id}/plan': async (server) => ({
    path: `/ferryhook/v1/users/${(await server.account()).id}/plan`,
    body: { plan: 'free' },
  }),
  'POST /ferryhook/v1/invites': async () => ({ path: '/ferryhook/v1/invites' }),
  'POST /ferryhook/v1/users/{id}/password-resets': async (server) => ({
    path: `/ferryhook/v1/users/${(await server.account()).id}/password-resets`,
  }),

  'POST /form-bridge/v1/agencies': async () => ({
    path: '/form-bridge/v1/agencies',
    body: { agency_name: 'Acme', contact_email: 'a@example.com', max_sites: 3 },
  }),
  'PATCH /form-bridge/v1/agencies/{agency_id}': async (server, admin) => ({
    path: `/form-bridge/v1/agencies/${(await server.agency(admin)).agency_id}`,
    body: { max_sites: 4, status: 'suspended' },
  }),
  'POST /form-bridge/v1/agencies/{agency_id}/key': async (server, admin) => ({
    path: `/form-bridge/v1/agencies/${(await server.agency(admin)).agency_id}/key`,
  }),
  'POST /form-bridge/v1/agencies/{agency_id}/join-tokens': async (server, admin) => ({
    path: `/form-bridge/v1/agencies/${(await server.agency(admin)).agency_id}/join-tokens`,
    body: { max_uses: 2 },
  }),
  'DELETE /form-bridge/v1/agencies/{agency_id}/join-tokens/{id}': async (server, admin) => {
    const { agency_id } = await server.agency(admin)
    const path = `/form-bridge/v1/agencies/${agency_id}/join-tokens`
    const { body } = await server.ask('POST', path, { token: admin, body: {} })
    return { path: `${path}/${(body as { id: string }).id}` }
  },
  'PUT /form-bridge/v1/agencies/{agency_id}/sites/{site_id}': async (server, admin) => {
    const { agency_id, api_key } = await server.agency(admin)
    const { site_id } = await server.site(api_key)
    const path = `/form-bridge/v1/agencies/${agency_id}/sites/${site_id}`
    return { path, body: { outside_limit: true } }
  },
  'PUT /form-bridge/v1/agencies/{agency_id}/sites/{site_id}/role': async (server, admin) => {
    const { agency_id, api_key } = await server.agency(admin)
    const { site_id } = await server.site(api_key)
    const path = `/form-bridge/v1/agencies/${agency_id}/sites/${site_id}/role`
    return { path, body: { role: 'viewer' } }
  },
  'POST /form-bridge/v1/sites/{site_id}/{action}': async (server) => ({
    path: `/form-bridge/v1/sites/${(await server.site()).site_id}/suspend`,
  }),
  'PUT /form-bridge/v1/sites/{site_id}/move': async (server) => ({
    path: `/form-bridge/v1/sites/${(await server.site()).site_id}/move`,
    body: { site_url: `https://${newName()}.example.org` },
  }),
  'PUT /form-bridge/v1/sites/{site_id}/destination': async (server) => ({
    path: `/form-bridge/v1/sites/${(await server.site()).site_id}/destination`,
    body: { url: server.upstream.replace('http:', 'https:') },
  }),
  'DELETE /form-bridge/v1/sites/{site_id}/destination': async (server) => ({
    path: `/form-bridge/v1/sites/${(await server.site()).site_id}/destination`,
  }),
  'PUT /form-bridge/v1/rate-limits/{scope}/{id}': async () => ({
    path: `/form-bridge/v1/rate-limits/api/${newName()}`,
    body: { limits: { day: 7 } },
  }),
  'DELETE /form-bridge/v1/rate-limits/{scope}/{id}': async (server, admin) => {
    const path = `/form-bridge/v1/rate-limits/api/${newName()}`
    await server.ask('PUT', path, { token: admin, body: { limits: { day: 7 } } })
    return { path }
  },
  'DELETE /form-bridge/v1/abuse-patterns/{type}/{id}': async ({ db, clock }) => {
    const identifier = newName()
    const pattern = { pattern_type: 'api_abuse', identifier, severity: 'low', details: {} } as const
    await createStores({ db, clock }).abusePatterns.record(pattern)
    await createStores({ db, clock }).abusePatterns.record(pattern)
    return { path: `/form-bridge/v1/abuse-patterns/api_abuse/${identifier}` }
  },
  'PUT /form-bridge/v1/plugins/{slug}/{version}': async (server) => {
    const { zip, headers } = server.release('1.1.0')
    return { path: '/form-bridge/v1/plugins/form-bridge/1.1.0', body: zip, headers }
  },
  'POST /form-bridge/v1/plugins/{slug}/{version}/withdraw': async (server, admin) => {
    const { zip, headers } = server.release('1.2.0')
    const path = '/form-bridge/v1/plugins/form-bridge/1.2.0'
    await server.ask('PUT', path, { token: admin, body: zip, headers })
    return { path: `${path}/withdraw` }
  },
}
