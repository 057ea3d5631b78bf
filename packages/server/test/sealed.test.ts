import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Db } from '@strongroom/kit/db'
import { listen } from '@strongroom/kit/http/node'
import { createLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { createTables } from '@strongroom/kit/tables'
import { testStores } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { sealedService } from '@strongroom/sealed/service'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { settingsWith } from '../src/own-settings.ts'
import { tablesOf } from '../src/tables.ts'
import { testApp } from './test-app.ts'

const LINK = 'vZ_LaJ6E6hQwpINPRtqgWg:AQC1MueNY0PiZtijV4tV7kTEASbU0D2uRjlitKhmcFnbAQ'

describe.each(testStores().slice(0, 1))('a link of Sealed whose # was escaped', (store) => {
  let db: Db
  let close: () => Promise<void>
  beforeAll(async () => {
    ;({ db, close } = await store.open())
    await createTables(db, tablesOf([sealedService]))
  })
  afterAll(() => close())

  async function start({ atRoot = false, origin }: { atRoot?: boolean; origin?: string } = {}) {
    const lines: string[] = []
    const clock = testClock()
    const log = createLog({ level: 'debug', sink: (line) => lines.push(line), clock })
    const metrics = createMetrics()
    const services = [sealedService]
    const settings = settingsWith(services).parse({ SEALED_ORIGIN: origin })
    const app = await testApp({ db, services, atRoot, settings, log, metrics, clock })
    const listener = await listen('127.0.0.1', 0, { log, metrics })
    listener.serve(app.listener)
    onTestFinished(async () => {
      await listener.close()
      await app.close()
    })
    /** As it is: `fetch` would change it. */
    const get = (path: string, host: string) =>
      new Promise<{ status: number; body: string }>((resolve, reject) => {
        const headers = { host, accept: 'text/html' }
        request({ host: '127.0.0.1', port: listener.port, path, headers }, (answer) => {
          text(answer).then((body) => resolve({ status: answer.statusCode ?? 0, body }), reject)
        })
          .on('error', reject)
          .end()
      })
    return { get, written: async () => [...lines, await metrics.text()].join('\n') }
  }

  test.each([
    ['below its path', '/sealed/', {}, 'strongroom.example'],
    ['at the root', '/', { atRoot: true }, 'strongroom.example'],
    ['at its own host', '/', { origin: 'https://sealed.example' }, 'sealed.example'],
    ['at the other host', '/sealed/', { origin: 'https://sealed.example' }, 'strongroom.example'],
  ])('gets the page of Sealed %s and is not logged', async (_, base, options, host) => {
    const server = await start(options)
    for (const hash of ['%23', '%2523', '%252523']) {
      const { status, body } = await server.get(base + hash + LINK, host)
      expect([status, body.includes('id="stage"')], hash).toEqual([200, true])
      expect(body).not.toContain(LINK.slice(0, 22))
    }
    await server.get(`${base}%23${LINK}/more`, host)
    await server.get(`${base}?x=%23${LINK}`, host)
    const written = await server.written()
    expect(written).toContain('"status":200')
    for (const part of LINK.split(':')) expect(written).not.toContain(part)
  })
})
