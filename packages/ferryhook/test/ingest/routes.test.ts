import { OpenAPIHono } from '@hono/zod-openapi'
import { createApp } from '@strongroom/kit/http/app'
import type { AppEnv } from '@strongroom/kit/http/env'
import { openApiDocument } from '@strongroom/kit/http/openapi'
import { createLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { mountService } from '@strongroom/kit/http/mount-service'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { secretBox, testSecrets } from '@strongroom/kit/testing/test-secrets'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ingestRoutes } from '../../src/ingest/routes.ts'
import { ferryhookService } from '../../src/service.ts'
import { type IngestBench, openIngestBench, PUBLIC_URL } from '../support/test-ingest.ts'

describe.each(serviceStores())('ingest in the app, without a Node server, on $name', (store) => {
  let bench: IngestBench
  let app: OpenAPIHono<AppEnv>
  const lines: string[] = []

  beforeAll(async () => {
    bench = await openIngestBench(store)
    const log = createLog({ sink: (line) => lines.push(line) })
    const metrics = createMetrics()
    app = createApp({ log, metrics, peerAddress: () => '203.0.113.7' })
    const { clock, db } = bench
    const deps = { db, clock, log, metrics, secrets: testSecrets(), publicUrl: PUBLIC_URL }
    const loaded = { routes: new OpenAPIHono<AppEnv>(), ...ingestRoutes(bench.ingest) }
    const start = () => ({ loadRoutes: async () => loaded })
    await mountService(
      app,
      { ...ferryhookService, start },
      { ...deps, config: {} as never, secretBox },
    )
  })
  afterAll(() => bench.close())

  test('receives, rejects and answers handshakes as on a Node server', async () => {
    const source = await bench.source()
    const body = Buffer.of(0xff, 0x00, 0x80)
    const url = `/in/${source.sourceId}`
    const taken = await app.request(`${url}?a=%20b`, { method: 'POST', body })
    expect([taken.status, await taken.json()]).toEqual([
      200,
      { id: expect.any(String) as string, status: 'received' },
    ])
    const [event] = await bench.eventsOf(source)
    expect(event).toMatchObject({ query: 'a=%20b', sourceIp: '203.0.113.7', method: 'POST' })
    expect(event && body.equals(await bench.bodyOf(event))).toBe(true)
    const large = await app.request(url, { method: 'PUT', body: Buffer.alloc(262_145) })
    expect(large.status).toBe(413)
    const exact = await app.request(url, { method: 'PUT', body: Buffer.alloc(262_144) })
    expect(exact.status).toBe(200)
    expect((await app.request('/in/src_0000000000000000', { method: 'POST' })).status).toBe(404)
    expect((await app.request(url)).status).toBe(405)
    expect((await app.request(url, { method: 'HEAD' })).status).toBe(405)
    for (const method of ['DELETE', 'OPTIONS', 'PROPFIND']) {
      const refused = await app.request(url, { method })
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST, PUT'])
    }
    const hub = `hub.mode=subscribe&hub.challenge=42&hub.verify_token=${source.sourceId}`
    expect(await (await app.request(`${url}?${hub}`)).text()).toBe('42')
    expect(lines.join('')).toContain(
      '"service":"ferryhook","method":"POST","route":"/in/:sourceId"',
    )
    expect(lines.join('')).not.toContain(source.sourceId)
  })

  test('is described in the API', () => {
    const { paths } = openApiDocument(app, { title: 'Test', version: '1' })
    expect(Object.keys(paths['/in/{sourceId}'] ?? {}).toSorted()).toEqual([
      'delete',
      'get',
      'patch',
      'post',
      'put',
    ])
  })
})
