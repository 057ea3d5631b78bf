/** Routes are loaded by the first request that needs them, so that a start does not wait for them. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OpenAPIHono } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { createLog } from '@strongroom/kit/log'
import type { Service, ServiceRoutes } from '@strongroom/kit/service'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serve } from '../src/serve.ts'
import { settings } from '../src/settings.ts'
import { notesService } from './notes-service.ts'

/** A server with notes, whose routes are loaded by `load`. */
async function serving(load: (routes: () => Promise<ServiceRoutes>) => Promise<ServiceRoutes>) {
  const directory = await mkdtemp(join(tmpdir(), 'strongroom-test-'))
  const lines: string[] = []
  const service: Service = {
    ...notesService,
    async start(deps) {
      const running = await notesService.start(deps)
      return { ...running, loadRoutes: () => load(() => running.loadRoutes()) }
    },
  }
  const server = await serve({
    settings: settings.parse({ PORT: '0', STRONGROOM_DATA: directory }),
    services: [service],
    log: createLog({ sink: (line) => lines.push(line) }),
  })
  onTestFinished(async () => {
    await server.close()
    await rm(directory, { recursive: true })
  })
  const status = async (path: string) => (await fetch(server.url + path)).status
  return { status, logged: () => lines.join('\n') }
}

describe('the routes of a server', () => {
  test('are not loaded by health checks, and once by many simultaneous first requests', async () => {
    let loads = 0
    const { status } = await serving((routes) => {
      loads += 1
      return routes()
    })
    expect(await status('/healthz')).toBe(200)
    expect(await status('/readyz')).toBe(200)
    expect(loads).toBe(0)

    const first = ['/notes/v1/none', '/', '/docs', '/openapi.json', '/notes/v1/none']
    expect(await Promise.all(first.map(status))).toEqual([405, 200, 200, 200, 405])
    expect(await status('/readyz')).toBe(200)
    expect(loads).toBe(1)
  })

  test('are loaded again by the next request if they could not be loaded', async () => {
    let isBroken = true
    const { status, logged } = await serving(async (routes) => {
      if (isBroken) throw new Error('A file is missing')
      return routes()
    })
    expect(await status('/notes/v1/none')).toBe(500)
    expect(await status('/readyz')).toBe(200)
    expect(logged()).toContain('A file is missing')
    isBroken = false
    expect(await status('/notes/v1/none')).toBe(405)
  })

  test('are not served if one of them declares no permission', async () => {
    const { status, logged } = await serving(async () => {
      const routes = new OpenAPIHono<AppEnv>()
      routes.get('/v1/forgotten', (c) => c.text('open to all'))
      return { routes }
    })
    expect(await status('/notes/v1/forgotten')).toBe(500)
    expect(logged()).toContain('Routes of notes declare no permission: GET /v1/forgotten')
  })
})
