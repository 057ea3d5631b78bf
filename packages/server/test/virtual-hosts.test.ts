import { once } from 'node:events'
import { connect } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { OpenAPIHono } from '@hono/zod-openapi'
import { url } from '@strongroom/kit/config-types'
import { createTables } from '@strongroom/kit/tables'
import type { Db } from '@strongroom/kit/db'
import { hashSource } from '@strongroom/kit/http/content-security-policy'
import type { AppEnv } from '@strongroom/kit/http/env'
import { honoHandler, type HotRoute } from '@strongroom/kit/http/hot-routes'
import type { Service } from '@strongroom/kit/service'
import { publicRoute } from '@strongroom/kit/http/permissions'
import { silentLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { testStores } from '@strongroom/kit/testing/stores'
import type { MiddlewareHandler } from 'hono'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listen } from '@strongroom/kit/http/node'
import { settingsWith } from '../src/own-settings.ts'
import { tablesOf } from '../src/tables.ts'
import { notesService } from './notes-service.ts'
import { attributes, textOf } from './pages/test-pages.ts'
import { testApp } from './test-app.ts'

const http = { log: silentLog, metrics: createMetrics() }

const plain = hotRoute('/v1/plain')
const hook = hotRoute('/hook')

function hotRoute(path: HotRoute['path']): HotRoute {
  const handle = async () => ({ status: 200, contentType: 'text/plain', body: path }) as const
  return { methods: ['POST'], path, maxBodyBytes: 10, handle }
}

/** How often the app ran a hot route. */
let runsInApp = 0
const countRun: MiddlewareHandler<AppEnv> = async (_, next) => {
  runsInApp++
  await next()
}

/** Notes with a page, and with their own host name if NOTES_ORIGIN is set. */
const notes: Service = {
  ...notesService,
  hasPage: true,
  settings: {
    NOTES_ORIGIN: { type: url({ originOnly: true }), description: 'A host name for notes' },
  },
  originSetting: 'NOTES_ORIGIN',
  async start(deps) {
    const running = await notesService.start(deps)
    const { routes } = await running.loadRoutes()
    routes.get('/', publicRoute, (c) => c.text('The page of notes'))
    routes.post('/v1/plain', publicRoute, countRun, honoHandler(plain))
    const rootRoutes = new OpenAPIHono<AppEnv>()
    rootRoutes.post('/hook', publicRoute, countRun, honoHandler(hook))
    const hotRoutes = [plain, { ...hook, atRoot: true }]
    return { ...running, loadRoutes: async () => ({ routes, rootRoutes, hotRoutes }) }
  },
}
const others: Service = { ...notesService, name: 'others', title: 'Others', mount: '/others' }
const services = [notes, others]

describe.each(testStores().slice(0, 1))('a service with a host name of its own', (store) => {
  let db: Db
  let close: () => Promise<void>
  beforeAll(async () => {
    ;({ db, close } = await store.open())
    await createTables(db, tablesOf([notes]))
  })
  afterAll(() => close())

  async function appWith(origin: string | undefined, { atRoot = false } = {}) {
    return testApp({
      db,
      services: atRoot ? [notes] : services,
      atRoot,
      settings: settingsWith(services).parse({ NOTES_ORIGIN: origin }),
      publicUrl: 'https://trust.example',
    })
  }
  const put = {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: '{"text":"hello"}',
  }
  const get = async (app: Awaited<ReturnType<typeof appWith>>, address: string) => {
    const answer = await app.fetch(new Request(address))
    return [answer.status, answer.headers.get('location')]
  }

  test('has its page and its API at the root', async () => {
    const app = await appWith('https://notes.example')
    const page = await app.fetch(new Request('https://notes.example/'))
    expect(await page.text()).toBe('The page of notes')
    expect(page.headers.get('strict-transport-security')).not.toBeNull()
    const left = await app.request('https://notes.example/v1/own', put)
    expect(left.status).toBe(204)
  })

  test.each([
    '/docs',
    '/openapi.json',
    '/healthz',
    '/metrics',
    '/notes/',
    '/notes/v1/own',
    '/others/v1/own',
  ])('does not serve %s there', async (path) => {
    const app = await appWith('https://notes.example')
    expect(await get(app, `https://notes.example${path}`)).toEqual([404, null])
  })

  test('shows browsers a not-found page that links only to the service', async () => {
    const app = await appWith('https://notes.example')
    const at = (path: string, accept: string) =>
      app.fetch(new Request(`https://notes.example${path}`, { headers: { accept } }))
    const answer = await at('/docs', 'text/html,*/*;q=0.8')
    const html = await answer.text()
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      404,
      'text/html; charset=UTF-8',
    ])
    expect(textOf(html)).toContain('Notes')
    expect(textOf(html)).toContain('Page not found.')
    expect(html).not.toMatch(/<script|\ssrc=|url\(|trust\.example/)
    const links = attributes(html, 'href').filter((href) => href !== '#content')
    expect(links).toEqual(['/'])
    for (const link of links) expect((await at(link, '*/*')).status).toBe(200)
    const [, style = ''] = /<style>([^]*)<\/style>/.exec(html) ?? []
    expect(answer.headers.get('content-security-policy')).toContain(
      `default-src 'none'; style-src ${hashSource(style)};`,
    )
    for (const [path, accept] of [
      ['/docs', 'application/json'],
      ['/docs', '*/*'],
      ['/v1/a/b', 'text/html'],
    ] as const) {
      const refused = await at(path, accept)
      expect(refused.status).toBe(404)
      expect(await refused.json()).toMatchObject({ error: { code: 'request.not_found' } })
    }
  })

  test('shows a not-found page without links if it has no page', async () => {
    const mute: Service = { ...notes, hasPage: false }
    const parsed = settingsWith([mute]).parse({ NOTES_ORIGIN: 'https://notes.example' })
    const publicUrl = 'https://trust.example'
    const app = await testApp({ db, services: [mute], settings: parsed, publicUrl })
    const headers = { accept: 'text/html' }
    const answer = await app.fetch(new Request('https://notes.example/nope', { headers }))
    expect(attributes(await answer.text(), 'href')).toEqual(['#content'])
  })

  test('redirects to its page from the path on the server', async () => {
    const app = await appWith('https://notes.example')
    expect(await get(app, 'https://trust.example/notes/')).toEqual([302, 'https://notes.example/'])
    expect(await (await app.request('/')).text()).toContain('href="https://notes.example/"')
  })

  test('also has its API on the server, next to the other services', async () => {
    const app = await appWith('https://notes.example')
    expect((await app.request('/notes/v1/main', put)).status).toBe(204)
    expect((await app.request('/others/v1/other', put)).status).toBe(204)
    expect(await (await app.request('/openapi.json')).json()).toHaveProperty([
      'paths',
      '/notes/v1/{name}',
    ])
  })

  test.each(['http://notes.example', 'http://NOTES.example:80', 'http://notes.example:443'])(
    'is known by its host, however a proxy writes it: %s',
    async (address) => {
      const app = await appWith('https://notes.example')
      expect(await get(app, `${address}/healthz`)).toEqual([404, null])
    },
  )

  test.each(['http://notes.example:8080', 'http://notes.example.evil', 'http://other.example'])(
    'is not met at another host: %s',
    async (address) => {
      const app = await appWith('https://notes.example')
      expect(await get(app, `${address}/healthz`)).toEqual([200, null])
    },
  )

  describe('over a socket', () => {
    const cases = [
      ['notes.example', '/v1/plain'],
      ['NOTES.example:80', '/v1/plain'],
      ['notes.example:443', '/v1/plain'],
      ['notes.example', '/hook'],
      ['notes.example', '/notes/v1/plain'],
      ['trust.example', '/notes/v1/plain'],
      ['trust.example', '/hook'],
      ['trust.example', '/v1/plain'],
      ['notes.example:8080', '/v1/plain'],
      ['notes.example:8080', '/notes/v1/plain'],
      ['notes.example.evil', '/v1/plain'],
      ['notes.example@evil', '/notes/v1/plain'],
      ['127.1', '/notes/v1/plain'],
      ['[::1]:4280', '/notes/v1/plain'],
      ['', '/notes/v1/plain'],
    ] as const

    async function answers(byNode: boolean) {
      const app = await appWith('https://notes.example')
      const listener = await listen('127.0.0.1', 0, http)
      listener.serve(byNode ? app.listener : getRequestListener(app.fetch))
      const seen: string[] = []
      runsInApp = 0
      for (const [host, path] of cases) seen.push(await post(listener.port, host, path))
      await listener.close()
      return { seen, runsInApp }
    }

    async function post(port: number, host: string, path: string) {
      const socket = connect(port, '127.0.0.1')
      socket.write(`POST ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      let received = ''
      socket.setEncoding('utf8').on('data', (text: string) => (received += text))
      await once(socket, 'close')
      const [head = '', body = ''] = received.split('\r\n\r\n')
      const lines = head.split('\r\n').filter((line) => !/^(x-request-id|date):/i.test(line))
      const [first = '', ...headers] = lines.map((line) => line.replace(/^[^:]+:/, lower))
      return [first, ...headers.toSorted(), body].join('\n')
    }
    const lower = (name: string) => name.toLowerCase()

    test('responds the same on Node and in the app for every host', async () => {
      const [app, node] = [await answers(false), await answers(true)]
      expect(node.seen).toEqual(app.seen)
      const statuses = node.seen.map((answer) => Number(answer.slice(9, 12)))
      expect(statuses.slice(0, 11).join(' ')).toBe('200 200 200 200 404 200 200 404 404 200 404')
      // Of 127.1, which a URL spells in another way, Node leaves the route to the app.
      expect([app.runsInApp, node.runsInApp]).toEqual([9, 1])
      expect(node.seen[0]).toContain('strict-transport-security')
    })
  })

  test('requires a host name that differs from the server', async () => {
    await expect(appWith('https://trust.example')).rejects.toThrow(
      'NOTES_ORIGIN must have another host name than PUBLIC_URL: choose one, or remove it',
    )
  })

  test('stays at its path without its own host name, and at the root if it runs alone', async () => {
    const shared = await appWith(undefined)
    expect(await (await shared.request('/notes/')).text()).toBe('The page of notes')
    const alone = await appWith('https://notes.example', { atRoot: true })
    expect(await (await alone.request('/')).text()).toBe('The page of notes')
    expect(await get(alone, 'https://notes.example/healthz')).toEqual([200, null])
  })
})
