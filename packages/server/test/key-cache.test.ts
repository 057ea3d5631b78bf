/** What stops working, and when, after the KMS key was disabled while everything is in use. */
import { createHmac, randomBytes } from 'node:crypto'
import { createWorkScheduler } from '@strongroom/ferryhook/sandbox/work-scheduler'
import { createStores as createFerryhookStores } from '@strongroom/ferryhook/stores'
import { createSealedSecrets } from '@strongroom/ferryhook/signing/sealed-secrets'
import { createDestinationCache } from '@strongroom/ferryhook/worker/destination-cache'
import { createSiteSecrets } from '@strongroom/form-bridge/credentials/secrets'
import { createCursors } from '@strongroom/kit/cursor'
import type { Db } from '@strongroom/kit/db'
import { isUnavailable } from '@strongroom/kit/db-errors'
import { KEY_CACHE_SECONDS } from '@strongroom/kit/key-cache'
import { createOperators } from '@strongroom/kit/operators'
import type { SecretBox } from '@strongroom/kit/secret-box'
import { createTables } from '@strongroom/kit/tables'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { createKms, type EmbeddedKms } from '@strongroom/kms/kms'
import { memoryKeyStorage } from '@strongroom/kms/testing/memory-key-storage'
import { createStores as createTwoKeyStores } from '@strongroom/two-key/stores'
import { createTokenService } from '@strongroom/two-key/tokens/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServerApp } from '../src/app.ts'
import { everyTable } from '../src/data-model.ts'
import { openSecretBox } from '../src/service-deps.ts'
import { services } from '../src/services.ts'
import { settingsWith } from '../src/own-settings.ts'
import { testApp } from './test-app.ts'

const STEP_SECONDS = 10

describe('after the KMS key was disabled', () => {
  const clock = testClock()
  let db: Db
  let closeStore: () => Promise<void>
  let kms: EmbeddedKms
  let KeyId: string
  let app: ServerApp
  let operator: string
  let box: SecretBox

  beforeAll(async () => {
    const [store] = serviceStores()
    ;({ db, close: closeStore } = await store!.open())
    await createTables(db, everyTable)
    kms = await createKms({ masterKey: randomBytes(32), storage: memoryKeyStorage(), clock })
    KeyId = (await kms.createKey()).KeyMetadata.Arn
    const key = { kms, arn: KeyId }
    box = openSecretBox({ db, clock, kmsKey: key })
    operator = await createOperators({ db, clock }).add('ops')
    const settings = settingsWith(services).parse({
      FERRYHOOK_DELIVER: 'false',
      FERRYHOOK_SIGNUP: 'open',
      SEALED_TOKEN_LIMIT: '0',
    })
    app = await testApp({ db, key, clock, services, settings })
  })
  afterAll(async () => {
    await app.close()
    await closeStore()
  })

  async function call(path: string, body: object, token?: string) {
    const response = await app.request(path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    })
    // oxlint-disable-next-line typescript/no-explicit-any -- tests say what they expect
    return { status: response.status, body: (await response.json()) as any }
  }

  /** Throws the error that a 503 stands for. */
  async function expectStatus(expected: number, { status, headers }: Response): Promise<void> {
    expect([status, headers.get('retry-after')]).toBeOneOf([
      [expected, null],
      [503, expect.stringMatching(/^[1-9]$/)],
    ])
    if (status === 503) throw Object.assign(new Error('503'), { name: 'KmsUnavailable' })
  }

  /** Uses it every few seconds; how long after the start it worked last, or undefined. */
  async function useFor(seconds: number, use: () => Promise<unknown>) {
    let lastSuccess: number | undefined
    for (let at = 0; at < seconds; at += STEP_SECONDS) {
      await use().then(
        () => (lastSuccess = at),
        (error: unknown) => {
          if (!isUnavailable(error)) throw error
        },
      )
      clock.advance({ seconds: STEP_SECONDS })
    }
    return lastSuccess
  }

  /**
   * The longest time that it worked after the key was disabled: with everything in cache for some time,
   * and used again just before one of the caches expires.
   */
  async function longestUse(use: () => Promise<unknown>): Promise<number> {
    let longest = 0
    for (const warmSeconds of [10, 60, 240]) {
      for (const idleSeconds of [0, 220, 280]) {
        clock.advance({ minutes: 10 })
        expect(await useFor(warmSeconds, use)).toBe(warmSeconds - STEP_SECONDS)
        await kms.disableKey({ KeyId })
        clock.advance({ seconds: idleSeconds })
        const lastSuccess = await useFor(1.5 * KEY_CACHE_SECONDS - idleSeconds, use)
        if (lastSuccess !== undefined) longest = Math.max(longest, idleSeconds + lastSuccess)
        await kms.enableKey({ KeyId })
        await use()
      }
    }
    return longest
  }

  test('Sealed issues no tokens after five minutes', async () => {
    const use = async () =>
      expectStatus(200, await app.request('/sealed/v1/token', { method: 'POST' }))
    expect(await longestUse(use)).toBeLessThan(KEY_CACHE_SECONDS)
  })

  test("Ferryhook accepts no signatures and makes no deliveries with a source's secrets after five minutes", async () => {
    const v1 = '/ferryhook/v1'
    const { body: session } = await call(`${v1}/auth/signup`, {
      email: 'ada@example.com',
      name: 'Ada',
      password: 'correct horse battery',
    })
    const { body: source } = await call(
      `${v1}/sources`,
      { name: 'Shop', provider: 'github', signingSecret: 'of-github' },
      session.accessToken,
    )
    const created = await call(
      `${v1}/sources/${source.id}/connections`,
      {
        name: 'Shop',
        destinationUrl: 'https://shop.example/',
        headers: { 'x-shop-token': 'secret' },
      },
      session.accessToken,
    )
    expect(created.status).toBe(201)
    const payload = '{"zen":"Keep it logically awesome."}'
    const signature = createHmac('sha256', 'of-github').update(payload).digest('hex')
    let received = 0
    const receive = async () => {
      const response = await app.request(`/in/${source.id}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-hub-signature-256': `sha256=${signature}`,
          'x-github-delivery': `delivery-${received++}`,
        },
        body: payload,
      })
      await expectStatus(200, response)
    }
    expect(await longestUse(receive)).toBeLessThan(KEY_CACHE_SECONDS)

    const cursors = createCursors(new Uint8Array(32))
    const destinations = createDestinationCache({
      stores: createFerryhookStores({ db, clock, cursors }),
      scheduler: createWorkScheduler(),
      clock,
      open: createSealedSecrets(box),
      config: { cacheMs: 1_000, concurrency: 1 },
    })
    const connection = { connectionId: created.body.id, sourceId: source.id }
    const sign = async () => (await destinations.get(connection))!.secrets(clock.now())
    expect(await longestUse(sign)).toBeLessThan(KEY_CACHE_SECONDS)
    const addHeaders = async () => (await destinations.get(connection))!.customHeaders()
    expect(await longestUse(addHeaders)).toBeLessThan(KEY_CACHE_SECONDS)
  })

  test('Two-key verifies no signatures and has no bot tokens after five minutes', async () => {
    const added = await call(
      '/two-key/v1/apps',
      {
        name: 'demo',
        signingSecret: 'of-slack-0123456789',
        upstream: { url: 'https://shop.example/' },
      },
      operator,
    )
    expect(added.status).toBe(201)
    const verify = async () => {
      const headers = {
        'content-type': 'application/json',
        'x-slack-request-timestamp': String(Math.floor(clock.now() / 1000)),
        'x-slack-signature': `v0=${'0'.repeat(64)}`,
      }
      const init = { method: 'POST', headers, body: '{}' }
      await expectStatus(401, await app.request('/two-key/slack/demo/events', init))
    }
    expect(await longestUse(verify)).toBeLessThan(KEY_CACHE_SECONDS)

    const { tokens: store } = createTwoKeyStores({ db, clock })
    const tokens = createTokenService({ app: 'demo', tokens: store, box, clock })
    await tokens.put('T00000001', 'xoxb-1')
    expect(await longestUse(() => tokens.tokenOf('T00000001'))).toBeLessThan(KEY_CACHE_SECONDS)
  })

  test("Form-Bridge decrypts no sites' secrets after five minutes", async () => {
    const siteSecrets = createSiteSecrets({ box, clock })
    const { stored } = await siteSecrets.issueKeys('site_0')
    const use = () => siteSecrets.decryptWebhookSecret('site_0', stored.webhook_secret)
    expect(await longestUse(use)).toBeLessThan(KEY_CACHE_SECONDS)
  })

  test('the bound is in the response of /readyz', async () => {
    const response = await app.request('/readyz')
    expect(await response.json()).toEqual({ status: 'ready', keyCacheSeconds: 300 })
  })
})
