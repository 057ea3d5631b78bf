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
}

describe('a response becomes', () => {
  test.each([
    ['what the API gave', json(issued), undefined],
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
    const asked = { link: 'l', proof: 'p', claim: 'c' }
    const messages = []
    for (const triesLeft of [9, 1, 0]) {
      const { api } = answering(refusal('sealed.wrong_passphrase', 403, { triesLeft }))
      const failure = await api.reveal('i', asked).catch((error: unknown) => error)
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
  /** Sends a part of the response at intervals until it is aborted. */
  function slowly(parts: readonly string[], seconds: number) {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    return createSealedApi({
      base: 'https://strongroom.example/sealed/',
      async fetch(_, { signal } = {}) {
        const left = [...parts]
        const body = new ReadableStream({
          start(stream) {
            signal?.addEventListener('abort', () => stream.error(signal.reason))
          },
          async pull(stream) {
            await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
            const part = left.shift()
            if (part === undefined) stream.close()
            else stream.enqueue(new TextEncoder().encode(part))
          },
        })
        return new Response(body)
      },
    })
  }

  const asked = { link: 'l', proof: 'p', claim: 'c' }
  const revealed = {
    ciphertext: 'ü'.repeat(9),
    iv: '',
    salt: null,
    passphraseProtected: false,
    remainingViews: 0,
    graceSeconds: 30,
  }

  test('receives the whole response as long as data arrives', async () => {
    const parts = JSON.stringify(revealed).match(/.{1,20}/g) ?? []
    const answer = slowly(parts, 8).reveal('i', asked)
    await vi.advanceTimersByTimeAsync(8000 * (parts.length + 1))
    expect(await answer).toEqual(revealed)
  })

  test('is lost when no more data arrives', async () => {
    const answer = slowly(['{'], 11)
      .reveal('i', asked)
      .catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(await answer).toMatchObject({ code: 'lost' })
  })

  test('has a minute to upload a secret', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const created = { id: 'i', burnToken: 'b', expiresAt: 1 }
    const api = createSealedApi({
      base: 'https://strongroom.example/sealed/',
      async fetch(_, { signal } = {}) {
        await new Promise((resolve) => setTimeout(resolve, 59_000))
        signal?.throwIfAborted()
        return Response.json(created, { status: 201 })
      },
    })
    const answer = api.createSecret('t', {} as Parameters<typeof api.createSecret>[1])
    await vi.advanceTimersByTimeAsync(59_000)
    expect(await answer).toEqual(created)
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

describe('Sealed is searched', () => {
  async function lookedFor(server: string, code: 'not_sealed' | 'unavailable') {
    const asked: string[] = []
    const search = findSealed(server, async (base) => {
      asked.push(base)
      throw new RequestFailed(code)
    })
    await expect(search).rejects.toMatchObject({ code })
    return asked
  }

  test.each([
    ['https://h.example', ['https://h.example/sealed/', 'https://h.example/']],
    ['https://h.example/', ['https://h.example/sealed/', 'https://h.example/']],
    ['https://h.example/sealed', ['https://h.example/sealed/', 'https://h.example/sealed/sealed/']],
    ['https://h.example/a/', ['https://h.example/a/', 'https://h.example/a/sealed/']],
  ])('from %s', async (server, bases) => {
    expect(await lookedFor(server, 'not_sealed')).toEqual(bases)
  })

  test('at no other URL if the first one is unavailable', async () => {
    expect(await lookedFor('https://h.example', 'unavailable')).toHaveLength(1)
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
])('whether nobody reads along on the way to %s: %s', (base, expected) => {
  expect(isPrivateConnection(base)).toBe(expected)
})
