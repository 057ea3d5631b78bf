import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createSealedApi } from '../../src/client/api.ts'
import { RequestFailed } from '../../src/client/errors.ts'
import { findSealed, isPrivateConnection } from '../../src/client/find-server.ts'
import { retryWhenRateLimited } from '../../src/client/retry.ts'
import { answering, json, instantRetry, refusal } from '../support/fake-server.ts'

const issued = {
  token: 't',
  id: 'i',
  challenge: { prefix: 'p', difficulty: 1, perDoubling: 1 },
  expiresAt: 1,
  options: { defaultTtlSeconds: 3600, maxTtlSeconds: 7200, defaultViews: 1, maxViews: 2 },
}

describe('the client turns a response into', () => {
  test.each([
    ['the value that the API returned', json(issued), undefined],
    ['not_available', refusal('sealed.not_available', 404), 'not_available'],
    ['invalid_token', refusal('sealed.invalid_token', 401), 'invalid_token'],
    ['full', refusal('sealed.full', 507), 'full'],
    ['unavailable', refusal('server.internal', 500), 'unavailable'],
    ['unavailable', () => new Response('<html>', { status: 502 }), 'unavailable'],
    ['not_sealed', refusal('request.not_found', 404), 'not_sealed'],
    ['not_sealed', () => new Response('<html>'), 'not_sealed'],
    ['not_sealed', json({ ...issued, challenge: null }), 'not_sealed'],
    ['not_sealed', json([issued]), 'not_sealed'],
    ['not_sealed', json(null), 'not_sealed'],
    ['redirected', () => Response.redirect('https://elsewhere.example/', 302), 'redirected'],
    ['lost', () => 'lost' as const, 'lost'],
    ['unreachable', () => 'unreachable' as const, 'unreachable'],
  ])('%s', async (_, answer, code) => {
    const { api } = answering(answer)
    const outcome = await api.issueToken().catch((error: unknown) => error)
    expect(outcome instanceof RequestFailed ? outcome.code : undefined).toBe(code)
  })

  test('wrong_passphrase with the remaining tries in its message', async () => {
    const request = { link: 'l', proof: 'p', claim: 'c' }
    const messages = []
    for (const triesLeft of [9, 1, 0]) {
      const { api } = answering(refusal('sealed.wrong_passphrase', 403, { triesLeft }))
      const failure = await api.reveal('i', request).catch((error: unknown) => error)
      expect(failure).toMatchObject({ code: 'wrong_passphrase', triesLeft })
      messages.push((failure as Error).message)
    }
    expect(messages).toEqual([
      'The passphrase is wrong. 9 tries are left.',
      'The passphrase is wrong. One try is left.',
      'The passphrase was wrong too often. The secret was destroyed.',
    ])
  })
})

test('a request follows no redirect and sends no cookies and no referrer', async () => {
  const { api, requests } = answering(json({ state: 'pending' }))
  await api.receipt('Ab3dEf6hIj9kLmNoPqRsTw', 'f'.repeat(32))
  expect(requests).toEqual([
    {
      url: 'https://strongroom.example/sealed/v1/secrets/Ab3dEf6hIj9kLmNoPqRsTw/status',
      init: expect.objectContaining({
        method: 'POST',
        redirect: 'manual',
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
        headers: { 'x-burn-token': 'f'.repeat(32) },
        signal: expect.any(AbortSignal),
      }),
    },
  ])
})

describe('a slow connection', () => {
  /** Only the timers of the client: streams and promises must keep running on real ones. */
  function fakeTimers() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
  }

  /** A server that sends one part of a response whenever the test calls `send`. */
  function slowServer() {
    fakeTimers()
    type Stream = ReadableStreamDefaultController<Uint8Array>
    let onPull: (stream: Stream) => void
    const nextPull = () => new Promise<Stream>((resolve) => (onPull = resolve))
    let pulled = nextPull()
    const api = createSealedApi({
      base: 'https://strongroom.example/sealed/',
      async fetch(_, { signal } = {}) {
        const body = new ReadableStream<Uint8Array>(
          {
            start(stream) {
              signal?.addEventListener('abort', () => stream.error(signal.reason))
            },
            pull: (stream) => onPull(stream),
          },
          // Without a queue, the stream asks for a part only when the client reads.
          { highWaterMark: 0 },
        )
        return new Response(body)
      },
    })
    return {
      api,
      /** Resolves when the client waits for the next part. */
      reading: () => pulled,
      /** Sends a part after `ms`; without a part, ends the response. */
      async sendAfter(ms: number, part?: string) {
        const stream = await pulled
        vi.advanceTimersByTime(ms)
        pulled = nextPull()
        if (part === undefined) stream.close()
        else stream.enqueue(new TextEncoder().encode(part))
      },
    }
  }

  const request = { link: 'l', proof: 'p', claim: 'c' }
  const revealed = {
    ciphertext: 'ü'.repeat(9),
    iv: '',
    salt: null,
    passphraseProtected: false,
    remainingViews: 0,
    graceSeconds: 30,
  }

  test('receives the whole response as long as data arrives', async () => {
    const { api, sendAfter } = slowServer()
    const response = api.reveal('i', request)
    for (const part of JSON.stringify(revealed).match(/.{1,20}/g) ?? []) {
      await sendAfter(8_000, part)
    }
    await sendAfter(8_000)
    expect(await response).toEqual(revealed)
  })

  test('loses the response when no more data arrives', async () => {
    const { api, reading, sendAfter } = slowServer()
    const response = api.reveal('i', request).catch((error: unknown) => error)
    await sendAfter(8_000, '{')
    await reading()
    vi.advanceTimersByTime(10_000)
    expect(await response).toMatchObject({ code: 'lost' })
  })

  test('has a minute to upload a secret', async () => {
    fakeTimers()
    const created = { id: 'i', burnToken: 'b', expiresAt: 1 }
    const api = createSealedApi({
      base: 'https://strongroom.example/sealed/',
      async fetch(_, { signal } = {}) {
        vi.advanceTimersByTime(59_000)
        signal?.throwIfAborted()
        return Response.json(created, { status: 201 })
      },
    })
    const secret = {} as Parameters<typeof api.createSecret>[1]
    expect(await api.createSecret('t', secret)).toEqual(created)
  })
})

describe('a server that limits the rate', () => {
  const busy = (seconds?: string) =>
    json({}, 429, seconds === undefined ? {} : { 'retry-after': seconds })

  test('gets at most two retries after the wait', async () => {
    const { retry, waits } = instantRetry()
    const patient = answering(busy('7'), busy(), json(issued))
    expect(await retryWhenRateLimited(retry, patient.api.issueToken)).toEqual(issued)
    expect(waits).toEqual([
      ['rate_limited', 7],
      ['rate_limited', 1],
    ])
    const never = answering(busy('1'))
    await expect(retryWhenRateLimited(retry, never.api.issueToken)).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterSeconds: 1,
    })
    expect(never.requests).toHaveLength(3)
  })

  test('gets no retry if the wait is longer than a minute', async () => {
    const { retry, waits } = instantRetry()
    const { api } = answering(busy('61'))
    await expect(retryWhenRateLimited(retry, api.issueToken)).rejects.toThrow(
      'Too many requests. Try again in 61 seconds.',
    )
    expect(waits).toEqual([])
  })
})

describe('the client looks for Sealed', () => {
  async function triedUrls(server: string, code: 'not_sealed' | 'unavailable') {
    const tried: string[] = []
    const search = findSealed(server, async (base) => {
      tried.push(base)
      throw new RequestFailed(code)
    })
    await expect(search).rejects.toMatchObject({ code })
    return tried
  }

  test.each([
    ['https://h.example', ['https://h.example/sealed/', 'https://h.example/']],
    ['https://h.example/', ['https://h.example/sealed/', 'https://h.example/']],
    ['https://h.example/sealed', ['https://h.example/sealed/', 'https://h.example/sealed/sealed/']],
    ['https://h.example/a/', ['https://h.example/a/', 'https://h.example/a/sealed/']],
  ])('below %s and at its root', async (server, bases) => {
    expect(await triedUrls(server, 'not_sealed')).toEqual(bases)
  })

  test('at one URL only if that one is unavailable', async () => {
    expect(await triedUrls('https://h.example', 'unavailable')).toHaveLength(1)
  })
})

test.each([
  ['https://strongroom.example/', true],
  ['http://127.0.0.1:4280/', true],
  ['http://127.9.9.9/', true],
  ['http://localhost:4280/sealed/', true],
  ['http://sealed.localhost/', true],
  ['http://[::1]:4280/', true],
  ['http://strongroom.example/', false],
  ['http://127.0.0.1.example/', false],
  ['http://localhost.example/', false],
  ['http://0.0.0.0/', false],
  ['http://192.168.0.1/', false],
])('the connection to %s is private: %s', (base, expected) => {
  expect(isPrivateConnection(base)).toBe(expected)
})
