import { createTables } from '@strongroom/kit/tables'
import type { Db } from '@strongroom/kit/db'
import type { KmsKey } from '@strongroom/kit/kms'
import { createOperators } from '@strongroom/kit/operators'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { testKmsKey } from '@strongroom/kit/testing/test-secrets'
import { ferryhookService } from '@strongroom/ferryhook/service'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { ServerApp } from '../src/app.ts'
import { services } from '../src/services.ts'
import { settingsWith } from '../src/own-settings.ts'
import { tablesOf } from '../src/tables.ts'
import { testApp } from './test-app.ts'

const clock = testClock()
const PASSWORD = 'correct horse battery'

describe.each(serviceStores())('Ferryhook in the server, on $name', (store) => {
  let db: Db
  let closeStore: () => Promise<void>
  let key: KmsKey
  let operator: string
  const running: ServerApp[] = []

  beforeAll(async () => {
    ;({ db, close: closeStore } = await store.open())
    // As with `--only ferryhook`: the table of branch keys exists without the key store.
    await createTables(db, tablesOf([ferryhookService]))
    key = await testKmsKey()
    operator = await createOperators({ db, clock }).add('ops')
  })
  afterEach(async () => {
    for (const app of running.splice(0)) await app.close()
  })
  afterAll(() => closeStore())

  async function start({ atRoot = false } = {}) {
    const app = await testApp({
      db,
      key,
      clock,
      services: [ferryhookService],
      atRoot,
      settings: settingsWith(services).parse({}),
    })
    running.push(app)
    return async (method: string, path: string, token?: string, body?: unknown) => {
      const answer = await app.request(path, {
        method,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      // oxlint-disable-next-line typescript/no-explicit-any -- whatever came: tests say what they expect
      const json: any = await answer.json()
      return { status: answer.status, body: json }
    }
  }

  test('an invited user has secrets that the key store encrypts, also after a restart', async () => {
    const v1 = '/ferryhook/v1'
    const before = await start()
    const refused = await before('POST', `${v1}/auth/signup`, undefined, {
      email: 'ada@example.com',
      name: 'Ada',
      password: PASSWORD,
    })
    expect(refused.body.error.code).toBe('ferryhook.invite_required')
    const { body: invite } = await before('POST', `${v1}/invites`, operator)
    const { body: session } = await before('POST', `${v1}/auth/signup`, undefined, {
      email: 'ada@example.com',
      name: 'Ada',
      password: PASSWORD,
      invite: invite.ticket,
    })
    expect(session.user.plan).toBe('team')
    const token = session.accessToken
    const { body: source } = await before('POST', `${v1}/sources`, token, {
      name: 'Shop',
      provider: 'stripe',
      signingSecret: 'whsec_of_stripe',
    })
    expect(source.url).toBe(`https://strongroom.example/in/${source.id}`)
    const { body: connection } = await before(
      'POST',
      `${v1}/sources/${source.id}/connections`,
      token,
      { name: 'Shop', destinationUrl: 'https://shop.example/' },
    )
    const { Items = [] } = await db.scan({ TableName: 'ferryhook-main' })
    const sealed = Items.flatMap(({ signingSecret }) => (signingSecret ? [signingSecret] : []))
    expect(sealed).toHaveLength(2)
    for (const secret of sealed) expect(secret).toMatch(/^AgR4/)

    const after = await start()
    const { body: login } = await after('POST', `${v1}/auth/login`, undefined, {
      email: 'ada@example.com',
      password: PASSWORD,
    })
    const shown = await after('GET', `${v1}/connections/${connection.id}/secret`, login.accessToken)
    expect(shown.body.items).toMatchObject([{ signingSecret: connection.signingSecret }])
    const rotated = await after('POST', `${v1}/sources/${source.id}/rotate-secret`, token, {
      signingSecret: 'whsec_of_stripe_2',
    })
    expect(rotated.status).toBe(200)
  })

  test.each([
    { atRoot: false, mount: '/ferryhook' },
    { atRoot: true, mount: '' },
  ])(
    'addresses in mails open pages of the console, mounted at "$mount"',
    async ({ atRoot, mount }) => {
      await start({ atRoot })
      const opens = async (path: string) => {
        const answer = await running[0]?.request(mount + path)
        expect([answer?.status, answer?.headers.get('cache-control')]).toEqual([302, 'no-store'])
        return answer?.headers.get('location')
      }
      expect(await opens('/')).toBe('/console/')
      expect(await opens('/sign-in')).toBe('/console/sign-in')
      expect(await opens('/sign-in?next=/console/events')).toBe(
        '/console/sign-in?next=%2Fconsole%2Fevents',
      )
      expect(await opens('/sign-in?next=//evil.example&ticket=x')).toBe('/console/sign-in')
      expect(await opens('/sign-up')).toBe('/console/sign-up')
      expect(await opens('/reset-password')).toBe('/console/reset')
      expect(await opens('/verify-email')).toBe('/console/verify-email')
    },
  )

  test('it is mounted at the root when it runs alone, and links point there', async () => {
    const ask = await start({ atRoot: true })
    const { body } = await ask('POST', '/v1/invites', operator)
    expect(body.url).toBe(`https://strongroom.example/console/sign-up#invite=${body.ticket}`)
    const { body: document } = await ask('GET', '/openapi.json')
    expect(document.paths['/v1/sources'].post['x-permission']).toBe('write')
    expect(document.components.securitySchemes.ferryhook.scheme).toBe('bearer')
  })
})
