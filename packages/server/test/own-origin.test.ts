import { url } from '@strongroom/kit/config-types'
import { createTables } from '@strongroom/kit/create-tables'
import type { Db } from '@strongroom/kit/db'
import { silentLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import type { Service } from '@strongroom/kit/service'
import { testStores } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { testKmsKey } from '@strongroom/kit/testing/test-kms-key'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createServerApp } from '../src/app.ts'
import { settingsWith } from '../src/settings.ts'
import { tablesOf } from '../src/tables.ts'
import { notesService } from './notes-service.ts'

/** Notes with a page, and with a host name of their own if NOTES_ORIGIN gives them one. */
const notes: Service = {
  ...notesService,
  hasPage: true,
  settings: {
    NOTES_ORIGIN: { type: url({ originOnly: true }), description: 'A host name for notes' },
  },
  originSetting: 'NOTES_ORIGIN',
  async start(deps) {
    const running = await notesService.start(deps)
    running.routes.get('/', (c) => c.text('The page of notes'))
    return running
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
    return createServerApp({
      services: atRoot ? [notes] : services,
      atRoot,
      store: {
        db,
        kind: 'endpoint',
        label: 'Test store',
        detail: 'here',
        location: 'here',
        check: async () => {},
        close: async () => {},
      },
      kms: {
        key: await testKmsKey(),
        kind: 'endpoint',
        label: 'Test KMS',
        detail: '',
        location: 'here',
        check: async () => {},
      },
      settings: settingsWith(services).parse({ NOTES_ORIGIN: origin }),
      publicUrl: 'https://trust.example',
      log: silentLog,
      clock: testClock(),
      metrics: createMetrics(),
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

  test('is there at the root, with its page and its API', async () => {
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
  ])('is there alone: %s is not', async (path) => {
    const app = await appWith('https://notes.example')
    expect(await get(app, `https://notes.example${path}`)).toEqual([404, null])
  })

  test('has its page nowhere else: the address below the server leads there', async () => {
    const app = await appWith('https://notes.example')
    expect(await get(app, 'https://trust.example/notes/')).toEqual([302, 'https://notes.example/'])
    expect(await (await app.request('/')).text()).toContain('href="https://notes.example/"')
  })

  test('keeps its API below the server too, and the other services with it', async () => {
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

  test('must have a host name that the server does not have', async () => {
    await expect(appWith('https://trust.example')).rejects.toThrow(
      'NOTES_ORIGIN must have another host name than PUBLIC_URL: choose one, or remove it',
    )
  })

  test('is where it always was if it is given none, or runs alone', async () => {
    const shared = await appWith(undefined)
    expect(await (await shared.request('/notes/')).text()).toBe('The page of notes')
    const alone = await appWith('https://notes.example', { atRoot: true })
    expect(await (await alone.request('/')).text()).toBe('The page of notes')
    expect(await get(alone, 'https://notes.example/healthz')).toEqual([200, null])
  })
})
