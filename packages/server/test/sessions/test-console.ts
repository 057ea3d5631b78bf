/** A server and browsers that sign in to it, for tests of sessions. */
import type { Db } from '@strongroom/kit/db'
import { type Log, silentLog } from '@strongroom/kit/log'
import { createOperators, type Operators } from '@strongroom/kit/operators'
import { totpCode, totpStep } from '@strongroom/kit/second-factor/totp'
import { createTables } from '@strongroom/kit/tables'
import type { TestStore } from '@strongroom/kit/testing/stores'
import { type TestClock, testClock } from '@strongroom/kit/testing/test-clock'
import { testKmsKey } from '@strongroom/kit/testing/test-secrets'
import type { ServerApp } from '../../src/app.ts'
import { settings } from '../../src/settings.ts'
import { tablesOf } from '../../src/tables.ts'
import { testApp } from '../test-app.ts'

export const ORIGIN = 'https://strongroom.example'

export interface Answer {
  status: number
  body: ReturnType<typeof JSON.parse>
  headers: Headers
}

export interface TestBrowser {
  cookies: Map<string, string>
  ask(
    method: string,
    path: string,
    body?: object,
    headers?: Record<string, string | undefined>,
  ): Promise<Answer>
}

export interface TestConsole {
  db: Db
  clock: TestClock
  app: ServerApp
  operators: Operators
  browser(from?: string): TestBrowser
  signedIn(token: string): Promise<TestBrowser>
  /** With the settings, on the same store. */
  restart(env: Record<string, string>): Promise<void>
  close(): Promise<void>
}

export async function openConsole(store: TestStore, log: Log = silentLog): Promise<TestConsole> {
  const { db, close } = await store.open()
  const clock = testClock()
  const key = await testKmsKey()
  await createTables(db, tablesOf([]))
  const start = (env: Record<string, string>) =>
    testApp({ db, clock, key, log, services: [], settings: settings.parse(env) })
  let app = await start({})
  let peers = 0

  function browser(from = `10.1.${peers >> 8}.${peers++ & 255}`): TestBrowser {
    const cookies = new Map<string, string>()
    return {
      cookies,
      async ask(method, path, body, headers = {}) {
        const given = {
          origin: ORIGIN,
          cookie: Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; '),
          'user-agent': 'Test browser',
          ...(body && { 'content-type': 'application/json' }),
          ...headers,
        }
        const sent = Object.entries(given).flatMap(([name, value]) =>
          value === undefined ? [] : [[name, value] as [string, string]],
        )
        const init = {
          method,
          headers: sent,
          ...(body && { body: JSON.stringify(body) }),
        }
        const incoming = { socket: { remoteAddress: from } }
        const request = new Request(`${ORIGIN}/server/v1${path}`, init)
        const response = await app.fetch(request, { incoming })
        for (const set of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
          if (/Max-Age=0/.test(set)) cookies.delete(name)
          else cookies.set(name, value)
        }
        const text = await response.text()
        const { status } = response
        return {
          status,
          body: text === '' ? undefined : JSON.parse(text),
          headers: response.headers,
        }
      },
    }
  }

  return {
    db,
    clock,
    get app() {
      return app
    },
    operators: createOperators({ db, clock }),
    browser,
    async signedIn(token) {
      const signed = browser()
      await signed.ask('POST', '/session', { token })
      return signed
    },
    async restart(env) {
      await app.close()
      app = await start(env)
    },
    async close() {
      await app.close()
      await close()
    },
  }
}

/** The current code of an authenticator app. */
export function codeOf(secret: string, clock: TestClock, steps = 0): string {
  const bits = Array.from(secret, (letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  ).join('')
  const bytes = Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2))
  return totpCode(bytes, totpStep(clock.now()) + steps)
}

/** Adds an authenticator app to the signed-in operator; a later code then works. */
export async function addTotp(browser: TestBrowser, clock: TestClock) {
  const { secret } = (await browser.ask('POST', '/session/second-factor/totp')).body
  const code = codeOf(secret, clock)
  const confirmed = await browser.ask('PUT', '/session/second-factor/totp', { code })
  clock.advance({ seconds: 60 })
  return { secret: secret as string, recoveryCodes: confirmed.body.recoveryCodes as string[] }
}
