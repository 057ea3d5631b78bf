import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Db } from '../src/db.ts'
import { defineErrors } from '../src/errors.ts'
import { createApp } from '../src/http/app.ts'
import type { AppEnv } from '../src/http/env.ts'
import {
  errorResponses,
  jsonBody,
  jsonResponse,
  openApiDocument,
  pageOf,
} from '../src/http/openapi.ts'
import { declarePermissions, publicRoute } from '../src/http/permissions.ts'
import { createLog } from '../src/log.ts'
import { createMetrics } from '../src/metrics.ts'
import { mountService } from '../src/http/mount-service.ts'
import type { RunningService, Service, ServiceRoutes } from '../src/service.ts'
import { testClock } from '../src/testing/test-clock.ts'
import { testSecrets } from '../src/testing/test-secrets.ts'

const boxError = defineErrors('box', {
  gone: [404, 'This box does not exist'],
  lost: [404, 'This box was lost'],
  locked: [423, 'This box is locked'],
})

const permit = declarePermissions('Boxes')

const Box = z.object({ id: z.string() }).openapi('Box')

const boxes: Service<{ colour: string }> = {
  name: 'box',
  title: 'Boxes',
  summary: 'Keep boxes',
  mount: '/box',
  tables: [],
  errors: boxError,
  start({ colour, log }) {
    const routes = new OpenAPIHono<AppEnv>()
      .openapi(
        createRoute({
          ...permit.public,
          method: 'get',
          path: '/v1/boxes/{id}',
          request: { params: z.object({ id: z.string() }) },
          responses: {
            200: jsonResponse(Box, 'The box'),
            ...errorResponses(boxError, 'gone', 'lost', 'locked'),
          },
        }),
        (c) => {
          const { id } = c.req.valid('param')
          if (id === 'none') throw boxError('gone')
          log.info('Opened')
          return c.json({ id: `${colour}-${id}` }, 200)
        },
      )
      .openapi(
        createRoute({
          ...permit.public,
          method: 'post',
          path: '/v1/boxes',
          request: { body: jsonBody(Box) },
          responses: { 200: jsonResponse(pageOf(Box), 'Boxes') },
        }),
        (c) => c.json({ items: [c.req.valid('json')], cursor: null }, 200),
      )
    const rootRoutes = new OpenAPIHono<AppEnv>().openapi(
      createRoute({
        ...permit.public,
        method: 'post',
        path: '/in/{id}',
        request: { params: z.object({ id: z.string() }) },
        responses: { 200: jsonResponse(Box, 'Taken in'), ...errorResponses(boxError, 'gone') },
      }),
      (c) => {
        const { id } = c.req.valid('param')
        if (id === 'none') throw boxError('gone')
        return c.json({ id }, 200)
      },
    )
    return { loadRoutes: async () => ({ routes, rootRoutes }) }
  },
}

async function composed(at?: string, service: Service<{ colour: string }> = boxes) {
  const lines: string[] = []
  const log = createLog({ sink: (line) => lines.push(line) })
  const metrics = createMetrics()
  const app = createApp({ log, metrics })
  app.get('/healthz', (c) => c.text('ok'))
  const deps = {
    db: {} as Db,
    clock: testClock(),
    log,
    metrics,
    secrets: testSecrets(),
    publicUrl: 'http://localhost:4280',
    config: {},
    colour: 'red',
  }
  await mountService(app, service, deps, at)
  return {
    app,
    metrics,
    logged: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
  }
}

describe('a mounted service', () => {
  test('responds below its mount point and is named in logs and metrics', async () => {
    const { app, metrics, logged } = await composed()
    expect(await (await app.request('/box/v1/boxes/b1')).json()).toEqual({ id: 'red-b1' })
    expect(logged()).toMatchObject([
      { message: 'Opened', service: 'box' },
      { message: 'request', service: 'box', route: '/box/v1/boxes/:id' },
    ])
    expect(await metrics.text()).toContain('service="box",route="/box/v1/boxes/:id"')
  })

  test('can be mounted at the root', async () => {
    const { app, logged } = await composed('/')
    expect((await app.request('/v1/boxes/b1')).status).toBe(200)
    expect((await app.request('/v1/boxes/none')).status).toBe(404)
    expect(logged().at(-1)).toMatchObject({ service: 'box', code: 'box.gone' })
  })

  test.each([undefined, '/'])(
    'has its root routes at the root, named as its others, when it is mounted at %s',
    async (at) => {
      const { app, metrics, logged } = await composed(at)
      const answer = await app.request('/in/b1', { method: 'POST' })
      expect([answer.status, await answer.json()]).toEqual([200, { id: 'b1' }])
      await app.request('/in/none', { method: 'POST' })
      expect(logged()).toMatchObject([
        { message: 'request', service: 'box', route: '/in/:id', status: 200 },
        { message: 'request', service: 'box', route: '/in/:id', code: 'box.gone' },
      ])
      expect(await metrics.text()).toContain('service="box",route="/in/:id"')
    },
  )

  test('leaves paths other than its root routes to others', async () => {
    const { app, logged } = await composed()
    expect((await app.request('/in', { method: 'POST' })).status).toBe(404)
    expect((await app.request('/in/b1')).status).toBe(405)
    expect((await app.request('/box/in/b1', { method: 'POST' })).status).toBe(404)
    expect((await app.request('/healthz')).status).toBe(200)
    expect(logged()[0]).not.toMatchObject({ service: 'box' })
  })

  test('cannot put middleware before the services of others', async () => {
    const start: (typeof boxes)['start'] = async (deps) => {
      const running = await boxes.start(deps)
      const loaded = await running.loadRoutes()
      loaded.rootRoutes?.use(async (_, next) => next())
      return running
    }
    await expect(composed('/box', { ...boxes, start })).rejects.toThrow(
      'Root routes of box must not take every path',
    )
  })

  const withPage: typeof boxes = {
    ...boxes,
    hasPage: true,
    async start(deps) {
      const running = await boxes.start(deps)
      const { routes } = await running.loadRoutes()
      routes.get('/', publicRoute, (c) => c.text('the page'))
      return running
    },
  }

  test('with a page has it at a URL with a trailing slash, and redirects there', async () => {
    const { app } = await composed(undefined, withPage)
    const redirect = await app.request('/box')
    expect([redirect.status, redirect.headers.get('location')]).toEqual([301, 'box/'])
    expect(await (await app.request('/box/')).text()).toBe('the page')
    expect((await app.request('/box/v1/boxes/b1')).status).toBe(200)
    const alone = await composed('/', withPage)
    expect(await (await alone.app.request('/')).text()).toBe('the page')
  })

  test('has the validation of the app without configuration', async () => {
    const { app } = await composed()
    const response = await app.request('/box/v1/boxes', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    expect(await response.json()).toMatchObject({
      error: { code: 'request.invalid', details: [{ path: 'body.id', message: 'Is required' }] },
    })
  })
})

describe('the OpenAPI document', () => {
  let document: ReturnType<typeof openApiDocument>

  const made = async () =>
    openApiDocument((await composed()).app, {
      title: 'Strongroom',
      version: '1.0.0',
      publicUrl: 'https://trust.example',
    })
  beforeAll(async () => {
    document = await made()
  })

  test('is 3.1 and has every route of every service, in order', () => {
    expect(document.openapi).toBe('3.1.0')
    expect(document.info).toEqual({ title: 'Strongroom', version: '1.0.0' })
    expect(document.servers).toEqual([{ url: 'https://trust.example' }])
    expect(Object.keys(document.paths)).toEqual(['/box/v1/boxes', '/box/v1/boxes/{id}', '/in/{id}'])
  })

  test('lists the errors of each route, with their codes', () => {
    const responses = document.paths['/box/v1/boxes/{id}']?.get?.responses
    expect(responses).toMatchObject({
      200: { description: 'The box' },
      404: { description: '`box.gone`: This box does not exist\n\n`box.lost`: This box was lost' },
      423: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
      default: {
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    })
  })

  test('has the error schema even if no route declares an error', () => {
    expect(document.components?.schemas).toHaveProperty('Error.properties.error')
    const bare = openApiDocument(
      createApp({ log: createLog({ level: 'silent' }), metrics: createMetrics() }),
      {
        title: 'Bare',
        version: '1.0.0',
      },
    )
    expect(bare.components?.schemas).toHaveProperty('Error.properties.error')
  })

  test('is the same for the same app', async () => {
    expect(JSON.stringify(await made())).toBe(JSON.stringify(document))
  })
})

describe('a service with a route that declares no permission', () => {
  const forgotten = createRoute({
    method: 'get',
    path: '/v1/forgotten/{id}',
    responses: { 200: { description: 'All' } },
  })
  const withRoutes = (
    loaded: Partial<ServiceRoutes>,
    running: Partial<RunningService> = {},
  ): Service<{ colour: string }> => ({
    ...boxes,
    start: () => ({
      loadRoutes: async () => ({ routes: new OpenAPIHono<AppEnv>(), ...loaded }),
      ...running,
    }),
  })
  const unprotected = () => {
    const part = new OpenAPIHono<AppEnv>().openapi(forgotten, (c) => c.text('open to all'))
    return new OpenAPIHono<AppEnv>().route('/', part)
  }

  test('does not start, and what it started ends', async () => {
    let isClosed = false
    const close = async () => void (isClosed = true)
    const starting = composed('/', withRoutes({ routes: unprotected() }, { close }))
    await expect(starting).rejects.toThrow(
      'Routes of box declare no permission: GET /v1/forgotten/:id',
    )
    expect(isClosed).toBe(true)
  })

  test('does not start either if the route is at the root', async () => {
    const starting = composed('/box', withRoutes({ rootRoutes: unprotected() }))
    await expect(starting).rejects.toThrow('declare no permission')
  })

  test('does not start with a plain route, and starts once that is public', async () => {
    const plain = new OpenAPIHono<AppEnv>()
    plain.get('/page', (c) => c.text('open to all'))
    await expect(composed('/', withRoutes({ routes: plain }))).rejects.toThrow('GET /page')
    const declared = new OpenAPIHono<AppEnv>()
    declared.get('/page', publicRoute, (c) => c.text('open to all'))
    const { app } = await composed('/', withRoutes({ routes: declared }))
    expect((await app.request('/page')).status).toBe(200)
  })
})
