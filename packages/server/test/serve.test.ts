import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@strongroom/platform/clock'
import { silentLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import type { Service, ServiceDeps } from '@strongroom/kit/service'
import { testKmsKey } from '@strongroom/kit/testing/test-secrets'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createServiceDeps, type ServerCapabilities } from '../src/service-deps.ts'
import { openEmbeddedKms } from '../src/kms/embedded.ts'
import { runWorkers } from '../src/run-worker.ts'
import { serve } from '../src/serve.ts'
import { type Settings, settings } from '../src/settings.ts'
import { openStore, type Store } from '../src/store.ts'
import { notesService } from './notes-service.ts'

describe('a server', () => {
  async function serving({ atRoot, hasPage }: { atRoot: boolean; hasPage: boolean }) {
    const directory = await mkdtemp(join(tmpdir(), 'strongroom-test-'))
    const configured = settings.parse({ PORT: '0', STRONGROOM_DATA: directory })
    const server = await serve({
      settings: configured,
      services: [{ ...notesService, hasPage }],
      atRoot,
      log: silentLog,
    })
    onTestFinished(async () => {
      await server.close()
      await rm(directory, { recursive: true })
    })
    return { ...server, configured }
  }

  /** The KMS of a server, as another process of the same machine has it. */
  async function kmsBeside(configured: Settings) {
    const store = await openStore(configured)
    const kms = await openEmbeddedKms(store.db, configured, { clock: systemClock })
    onTestFinished(async () => {
      kms.close()
      await store.close()
    })
    return kms
  }

  test('creates the tables of its services and serves them over HTTP', async () => {
    const { url } = await serving({ atRoot: false, hasPage: false })
    const answer = await fetch(`${url}/notes/v1/hello`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'hello' }),
    })
    expect(answer.status).toBe(204)
  })

  test.each([
    { atRoot: false, hasPage: true, path: '/notes/' },
    { atRoot: true, hasPage: true, path: '/' },
    { atRoot: false, hasPage: false, path: '/docs/notes' },
  ])('reports the URL of a service: $path', async ({ path, ...options }) => {
    const { url, services } = await serving(options)
    expect(services).toEqual([{ name: 'notes', title: 'Notes', url: url + path }])
  })

  test('has the section of the API reference that it links to', async () => {
    const { services } = await serving({ atRoot: false, hasPage: false })
    const page = await fetch(services[0]?.url ?? '')
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Notes API')])
  })

  test('is ready while its store and its KMS respond', async () => {
    const { url, configured } = await serving({ atRoot: false, hasPage: false })
    const ready = async () => {
      const [page, answer] = await Promise.all([fetch(url), fetch(`${url}/readyz`)])
      return [answer.status, (await page.text()).includes('Not ready')]
    }
    expect(await ready()).toEqual([200, false])
    const { kms, id } = await kmsBeside(configured)
    await kms.disableKey({ KeyId: id })
    expect(await ready()).toEqual([503, true])
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    await kms.enableKey({ KeyId: id })
    expect(await ready()).toEqual([200, false])
  })

  test('gives its services persistent secrets, its KMS key and its public URL', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'strongroom-test-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    const started = async (PUBLIC_URL: string) => {
      let given: (ServiceDeps & ServerCapabilities) | undefined
      const service: Service<ServerCapabilities> = {
        ...notesService,
        start(deps) {
          given = deps
          return notesService.start(deps)
        },
      }
      const server = await serve({
        settings: settings.parse({ PORT: '0', STRONGROOM_DATA: directory, PUBLIC_URL }),
        services: [service],
        log: silentLog,
      })
      const secret = await given?.secrets.current('notes')
      await server.close()
      return {
        secret,
        arn: given?.kmsKey.arn,
        publicUrl: given?.publicUrl,
        isLocal: given?.isLocal,
      }
    }
    const first = await started('https://trust.example/')
    expect(first).toEqual({
      secret: { version: 1, key: expect.any(Uint8Array) },
      arn: expect.stringMatching(/^arn:/),
      publicUrl: 'https://trust.example',
      isLocal: false,
    })
    expect(await started('https://trust.example')).toEqual(first)
  })

  test('tells its services if only this machine can reach it, but not its workers', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'strongroom-test-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    const told: (boolean | undefined)[] = []
    const service: Service<ServerCapabilities> = {
      ...notesService,
      async start(deps) {
        told.push(deps.isLocal)
        return { ...(await notesService.start(deps)), notice: 'is here' }
      },
      async startWorker(deps) {
        told.push(deps.isLocal)
        return { close: async () => {} }
      },
    }
    const configured = settings.parse({ PORT: '0', STRONGROOM_DATA: directory })
    const options = { settings: configured, services: [service], log: silentLog }
    const server = await serve(options)
    expect(server.services).toMatchObject([{ name: 'notes', notice: 'is here' }])
    await server.close()
    await (await runWorkers(options)).close()
    expect(told).toEqual([true, undefined])
  })

  test('tells its services where its store and its KMS are, so that no destination reaches them', async () => {
    const endpoints = {
      DYNAMODB_ENDPOINT: 'http://localhost:8000',
      KMS_ENDPOINT: 'https://kms.internal:4100',
    }
    const { ownAddresses } = createServiceDeps({
      // Nothing is read: the addresses come from the settings.
      store: { db: {} as Store['db'] },
      kms: { key: await testKmsKey() },
      settings: settings.parse(endpoints),
      services: [notesService],
      publicUrl: 'http://127.0.0.1:4280',
      log: silentLog,
      clock: systemClock,
      metrics: createMetrics(),
    })
    expect(ownAddresses).toEqual({
      origins: ['http://127.0.0.1:4280'],
      listeners: [],
      endpoints: ['http://localhost:8000', 'https://kms.internal:4100'],
    })
  })
})
