import { networksOf } from '@strongroom/kit/http/client-address'
import { randomHex } from '@strongroom/kit/ids'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, test } from 'vitest'
import { createClientLimit, MAX_CLIENTS } from '@strongroom/kit/http/client-limit'
import { openDb, type SealedApp, startApp } from '../support/sealed-app.ts'
import { codeOf, createSecret, newClaim, newKeys, post } from '../support/sealed-client.ts'
import { rawItem } from '../support/secrets.ts'

const LIMITED = {
  SEALED_TOKEN_LIMIT: '10',
  SEALED_API_TOKEN_LIMIT: '20',
  SEALED_REVEAL_LIMIT: '60',
  SEALED_BURN_LIMIT: '10',
  SEALED_STATUS_LIMIT: '30',
}

type Ask = (app: SealedApp, peer: string) => Promise<Response>
const id = 'x'.repeat(22)
const from = (peer: string, init: RequestInit): RequestInit => ({
  ...init,
  headers: { ...(init.headers as Record<string, string> | undefined), 'x-test-peer': peer },
})
const askToken: Ask = (app, peer) => app.request('/v1/token', from(peer, { method: 'POST' }))
const askReveal: Ask = (app, peer) =>
  app.request(`/v1/secrets/${id}/reveal`, from(peer, post('{}')))
const calls: [name: string, limit: number, ask: Ask][] = [
  ['tokens', 10, askToken],
  [
    'tokens of clients with an API token',
    20,
    (app, peer) => app.request('/v1/token', from(peer, post('', { authorization: 'Bearer x' }))),
  ],
  ['reveals', 60, askReveal],
  [
    'acknowledgements',
    60,
    (app, peer) => app.request(`/v1/secrets/${id}/ack`, from(peer, post('{}'))),
  ],
  ['burns', 10, (app, peer) => app.request(`/v1/secrets/${id}`, from(peer, { method: 'DELETE' }))],
  [
    'receipts',
    30,
    (app, peer) => app.request(`/v1/secrets/${id}/status`, from(peer, { method: 'POST' })),
  ],
]

describe.each(serviceStores())('the limits of a client', (store) => {
  const opened = openDb(store)
  const admitted = async (app: SealedApp, ask: Ask, peer: string, times: number) => {
    const answers = []
    for (let asked = 0; asked < times; asked++) answers.push(await ask(app, peer))
    return answers.map(({ status }) => status !== 429)
  }

  test.each(calls)(
    'admit exactly the configured number of %s per minute: %i',
    async (_, limit, ask) => {
      const app = await startApp(opened.db, { env: LIMITED })
      const times = await admitted(app, ask, '192.0.2.1', limit + 2)
      expect(times).toEqual([...Array.from({ length: limit }, () => true), false, false])
      expect(await admitted(app, ask, '192.0.2.2', 1)).toEqual([true])
      app.clock.advance({ minutes: 2 })
      expect(await admitted(app, ask, '192.0.2.1', limit + 1)).toEqual(times.slice(0, -1))
    },
  )

  test.each(calls)('can be turned off: %s', async (_, limit, ask) => {
    const off = Object.fromEntries(Object.keys(LIMITED).map((name) => [name, '0']))
    const app = await startApp(opened.db, { env: off })
    expect(await admitted(app, ask, '192.0.2.1', limit + 1)).not.toContain(false)
  })

  test('say when to retry', async () => {
    const app = await startApp(opened.db, { env: LIMITED })
    app.clock.advance({ seconds: 20 })
    await admitted(app, askToken, '192.0.2.1', 10)
    const answer = await askToken(app, '192.0.2.1')
    expect(await codeOf(answer)).toBe('request.rate_limited')
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'retry-after': '41',
      'ratelimit-limit': '10',
      'ratelimit-remaining': '0',
      'ratelimit-reset': '40',
    })
    app.clock.advance({ seconds: 40 })
    expect((await askToken(app, '192.0.2.1')).status).toBe(429)
    app.clock.advance({ seconds: 1 })
    expect((await askToken(app, '192.0.2.1')).status).toBe(200)
  })

  test('count the addresses of one IPv6 network as one client', async () => {
    const app = await startApp(opened.db, { env: LIMITED })
    for (let host = 0; host < 10; host++) await askToken(app, `2001:db8:1:1::${host}`)
    expect((await askToken(app, '2001:db8:1:1:ffff::1')).status).toBe(429)
    expect((await askToken(app, '2001:db8:1:2::1')).status).toBe(200)
  })

  test('do not change the responses to a reader', async () => {
    const app = await startApp(opened.db, { env: LIMITED })
    const [first, second] = [await askReveal(app, '192.0.2.1'), await askReveal(app, '192.0.2.1')]
    const plain = (answer: Response) =>
      [...answer.headers].filter(([name]) => name !== 'x-request-id')
    expect(plain(second)).toEqual(plain(first))
  })

  test('are checked before anything is read, used or counted', async () => {
    const app = await startApp(opened.db, { env: { SEALED_REVEAL_LIMIT: '1' } })
    const { id: secret, keys } = await createSecret(app)
    const ask = () =>
      app.request(
        `/v1/secrets/${secret}/reveal`,
        post({ ...keys, proof: newKeys().proof, claim: newClaim() }),
      )
    await ask()
    await app.settle()
    const before = app.operations.length
    expect((await ask()).status).toBe(429)
    expect(app.operations.length).toBe(before)
    expect(await rawItem(opened.db, secret)).toMatchObject({ triesLeft: 9 })
  })

  test('are higher for operators', async () => {
    const app = await startApp(opened.db, { env: { ...LIMITED, SEALED_TOKEN_LIMIT: '1' } })
    const authorization = `Bearer ${await app.operators.add(`robot-${randomHex(8)}`)}`
    const ask: Ask = (_, peer) => app.request('/v1/token', from(peer, post('', { authorization })))
    expect(await admitted(app, ask, '192.0.2.1', 20)).not.toContain(false)
  })
})

const only = (network: string) => [{ network, factor: 1 }] as const

describe('the memory of a limit', () => {
  test('is bounded for any number of clients', () => {
    const limit = createClientLimit({ clock: testClock(), limit: 1 })
    for (let client = 0; client < MAX_CLIENTS + 1000; client++) limit.take(only(`client ${client}`))
    expect(limit.clientCount).toBe(MAX_CLIENTS)
    expect(limit.take(only(`client ${MAX_CLIENTS + 999}`))).toBeDefined()
    expect(limit.take(only('client 0'))).toBeUndefined()
  })

  test('evicts the least recent client first', () => {
    const limit = createClientLimit({ clock: testClock(), limit: 1 })
    limit.take(only('busy'))
    for (let client = 0; client < MAX_CLIENTS - 1; client++) limit.take(only(`client ${client}`))
    expect(limit.take(only('busy'))).toBeDefined()
    for (let client = 0; client < 10; client++) limit.take(only(`late ${client}`))
    expect(limit.take(only('busy'))).toBeDefined()
  })

  test('lasts two minutes', () => {
    const clock = testClock()
    const limit = createClientLimit({ clock, limit: 1 })
    for (let client = 0; client < 100; client++) limit.take(only(`client ${client}`))
    clock.advance({ minutes: 2 })
    limit.take(only('late'))
    expect(limit.clientCount).toBe(1)
  })

  test('does not last longer if the clock is set back', () => {
    let now = Date.parse('2100-01-01T12:00:00.000Z')
    const limit = createClientLimit({ clock: { now: () => now }, limit: 1 })
    for (let client = 0; client < 100; client++) limit.take(only(`client ${client}`))
    now -= 3_600_000
    limit.take(only('late'))
    expect(limit.clientCount).toBe(1)
    expect(limit.take(only('late'))).toBeDefined()
  })
})

test('a limit counts the /64, the /56 and the /48 of an IPv6 address', () => {
  const limit = createClientLimit({ clock: testClock(), limit: 2 })
  const admittedOf = (count: number, toAddress: (n: string) => string) =>
    Array.from({ length: count }, (_, n) =>
      limit.take(networksOf(toAddress(n.toString(16)))),
    ).filter((refused) => refused === undefined).length
  expect(admittedOf(10, (n) => `2001:db8:1::${n}`)).toBe(2)
  expect(admittedOf(20, (n) => `2001:db8:2:a${n.padStart(2, '0')}::1`)).toBe(8)
  expect(admittedOf(100, (n) => `2001:db8:3:${n}00::1`)).toBe(32)
})
