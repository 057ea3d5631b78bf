import { createTables } from '@strongroom/kit/tables'
import type { Db } from '@strongroom/kit/db'
import { listen } from '@strongroom/kit/http/node'
import { silentLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { ferryhookService } from '@strongroom/ferryhook/service'
import { describe, expect, onTestFinished, test } from 'vitest'
import { services } from '../src/services.ts'
import { settingsWith } from '../src/own-settings.ts'
import { tablesOf } from '../src/tables.ts'
import { testApp } from './test-app.ts'

const MAX_HOT_REQUESTS = 3
const person = { email: 'ada@example.com', name: 'Ada', password: 'correct horse battery' }

/** A connection ends only after its response was read. */
async function read(url: string, init?: RequestInit) {
  const response = await fetch(url, init)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** A store whose transactions wait while it is held. */
function holdable(db: Db) {
  let release = () => {}
  let held: Promise<void> | undefined
  const waiting: Db = {
    ...db,
    async transactWriteItems(input) {
      await held
      return db.transactWriteItems(input)
    },
  }
  return {
    db: waiting,
    hold: () => void (held = new Promise((resolve) => (release = resolve))),
    release: () => release(),
  }
}

describe.each(serviceStores())(
  'a server with more webhooks than it can store, on $name',
  (store) => {
    async function serving() {
      const opened = await store.open()
      const { db, hold, release } = holdable(opened.db)
      await createTables(db, tablesOf([ferryhookService]))
      const settings = settingsWith(services).parse({
        STRONGROOM_MAX_HOT_REQUESTS: String(MAX_HOT_REQUESTS),
        FERRYHOOK_SIGNUP: 'open',
        FERRYHOOK_DELIVER: 'false',
      })
      const app = await testApp({ db, services: [ferryhookService], settings })
      const listener = await listen('127.0.0.1', 0, { log: silentLog, metrics: createMetrics() })
      onTestFinished(async () => {
        release()
        await listener.close()
        await app.close()
        await opened.close()
      })
      listener.serve(app.listener)
      const url = `http://127.0.0.1:${listener.port}`
      let token = ''
      const call = async <T>(method: string, path: string, body?: object) => {
        const response = await fetch(`${url}/ferryhook/v1${path}`, {
          method,
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
        })
        return (await response.json()) as T
      }
      ;({ accessToken: token } = await call<{ accessToken: string }>(
        'POST',
        '/auth/signup',
        person,
      ))
      const { id } = await call<{ id: string }>('POST', '/sources', {
        name: 'Orders',
        provider: 'custom',
      })
      const send = (n: number) => read(`${url}/in/${id}`, { method: 'POST', body: `{"n":${n}}` })
      const stored = async () => {
        const { items } = await call<{ items: unknown[] }>('GET', `/sources/${id}/events`)
        return items.length
      }
      return { url, send, stored, hold, release }
    }

    test('refuses the rest, stores nothing of it, and stays available for people and probes', async () => {
      const { url, send, stored, hold, release } = await serving()
      expect((await send(0)).status).toBe(200)
      hold()
      const refused: Awaited<ReturnType<typeof send>>[] = []
      const sent = Array.from({ length: 20 }, async (_, n) => {
        const response = await send(n + 1)
        if (response.status === 503) refused.push(response)
        return response.status
      })
      await expect.poll(() => refused.length).toBe(20 - MAX_HOT_REQUESTS)
      for (const response of refused) {
        expect(response.headers.get('retry-after')).toBe('1')
        expect(response.text).toContain('"code":"server.overloaded"')
      }
      expect((await read(`${url}/healthz`)).status).toBe(200)
      expect((await read(`${url}/readyz`)).status).toBe(200)
      expect((await read(`${url}/console/`)).status).toBe(200)
      expect(await stored()).toBe(1)

      release()
      const statuses = await Promise.all(sent)
      expect(statuses.filter((status) => status === 200)).toHaveLength(MAX_HOT_REQUESTS)
      expect(await stored()).toBe(1 + MAX_HOT_REQUESTS)
      expect((await send(21)).status).toBe(200)
    })
  },
)
