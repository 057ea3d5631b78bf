import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, test } from 'vitest'
import type { ExistenceResult } from '../../src/existence/result.ts'
import { MAX_BODY_BYTES, twoKey, type TwoKeyOptions } from '../../src/verify.ts'
import { createFakeChecker } from '../support/fake-checker.ts'
import { command, eventBody, message, samples, shortcut } from '../support/samples.ts'
import {
  FORM,
  official,
  type Signed,
  signed,
  signedForm,
  signedJson,
  signedPayload,
} from '../support/signed.ts'
import { type Adapter, adapters } from '../support/adapters.ts'

const NOW = 4_102_444_800

function keysOf(result?: ExistenceResult, options: Partial<TwoKeyOptions> = {}) {
  const checker = createFakeChecker(result)
  const clock = testClock()
  return { checker, keys: twoKey({ signingSecret: official.secret, checker, clock, ...options }) }
}

async function send(adapter: Adapter, request: Signed, result?: ExistenceResult) {
  const { keys, checker } = keysOf(result)
  const { status, headers, body, handled } = await adapter(keys, request)
  return { status, body, headers, handled, asked: checker.checks.length }
}

const withHeader = ({ rawBody, headers }: Signed, name: string, value: string | undefined) => ({
  rawBody,
  headers: Object.fromEntries(
    Object.entries({ ...headers, [name]: value ?? '' }).filter(
      ([each]) => each !== name || value !== undefined,
    ),
  ),
})

describe.each(Object.entries(adapters))('through %s', (_, adapter) => {
  test.each(Object.entries(samples))(
    'a verified %s reaches the handler with its bytes',
    async (name, sample) => {
      const request = sample()
      const { status, body, handled } = await send(adapter, request)
      expect([status, body]).toEqual([200, 'handled'])
      expect(handled.map(({ source }) => source)).toEqual(['slack'])
      expect(Buffer.from(handled[0]!.rawBody).equals(request.rawBody)).toBe(true)
      expect(handled[0]!.payload.kind).toBe(
        {
          message: 'event',
          command: 'command',
          block_actions: 'action',
          block_suggestion: 'options',
        }[name] ?? (name.startsWith('view') ? 'view' : 'shortcut'),
      )
    },
  )

  test.each<[string, Signed]>([
    ['no signature', withHeader(samples['message']!(), 'x-slack-signature', undefined)],
    ['no timestamp', withHeader(samples['message']!(), 'x-slack-request-timestamp', undefined)],
    ['another secret', signed('{}', { secret: 'another' })],
    ['a stale timestamp', signed('{}', { timestamp: NOW - 301 })],
    [
      'a timestamp one day ahead',
      signed(JSON.stringify(eventBody(message)), { timestamp: NOW + 86_400 }),
    ],
    ['version v1, signed as such', signed(JSON.stringify(eventBody(message)), { version: 'v1' })],
    ['version v9, signed as such', signed(JSON.stringify(eventBody(message)), { version: 'v9' })],
    [
      'a timestamp with a fraction',
      withHeader(samples['message']!(), 'x-slack-request-timestamp', `${NOW}.0`),
    ],
    [
      'malformed JSON without a signature',
      { rawBody: Buffer.from('{'), headers: { 'content-type': 'application/json' } },
    ],
    [
      'an unsigned ssl_check with a payload',
      {
        rawBody: Buffer.from(`ssl_check=1&payload=${encodeURIComponent(JSON.stringify(shortcut))}`),
        headers: { 'content-type': FORM },
      },
    ],
    ['an altered body', { ...samples['command']!(), rawBody: Buffer.from('text=other') }],
  ])('nothing passes with %s: 401, and Slack is not called', async (_name, request) => {
    const { status, body, headers, handled, asked } = await send(adapter, request)
    expect([status, JSON.parse(body), handled, asked]).toEqual([
      401,
      { error: 'Invalid signature' },
      [],
      0,
    ])
    expect(headers['x-slack-no-retry']).toBeUndefined()
  })

  test('a refusal is a 403 that Slack does not retry, and does not reveal which id is unknown', async () => {
    const responses = []
    for (const reason of ['team', 'user', 'channel', 'no_token'] as const) {
      const { status, body, headers, handled } = await send(adapter, samples['message']!(), {
        ok: false,
        kind: 'refused',
        reason,
      })
      expect([status, headers['x-slack-no-retry'], handled]).toEqual([403, '1', []])
      responses.push(body)
    }
    expect(new Set(responses)).toEqual(new Set(['{"error":"Entity verification failed"}']))
  })

  test('an undecidable request is a 503 that Slack may retry', async () => {
    const result = {
      ok: false,
      kind: 'undecidable',
      reason: 'rate_limited',
      retryAfterSeconds: 30,
    } as const
    const { status, headers, handled } = await send(adapter, samples['message']!(), result)
    expect([status, headers['x-slack-no-retry'], headers['retry-after'], handled]).toEqual([
      503,
      undefined,
      '30',
      [],
    ])
  })

  test('a response URL that is not Slack’s does not reach the handler', async () => {
    const request = signedForm({ ...command, response_url: 'https://evil.example/' })
    const { status, handled } = await send(adapter, request)
    expect([status, handled]).toEqual([403, []])
  })

  test('requests without ids get a response without calling the handler', async () => {
    const challenge = await send(
      adapter,
      signedJson({ type: 'url_verification', challenge: 'a"b', token: 't' }),
    )
    expect([challenge.status, JSON.parse(challenge.body), challenge.handled]).toEqual([
      200,
      { challenge: 'a"b' },
      [],
    ])
    const smuggled = `ssl_check=1&payload=${encodeURIComponent(JSON.stringify(shortcut))}`
    const check = await send(adapter, signed(smuggled, { contentType: FORM }))
    expect([check.status, check.body, check.handled, check.asked]).toEqual([200, '', [], 0])
  })

  test('a content type may have a charset, and text may be non-ASCII', async () => {
    const requests = [
      signed(new URLSearchParams(command).toString(), { contentType: `${FORM}; charset=utf-8` }),
      signed(JSON.stringify(eventBody({ ...message, text: 'café 🎉' })), {
        contentType: 'application/json; charset=utf-8',
      }),
      signed(`payload=${encodeURIComponent(JSON.stringify({ ...shortcut, text: 'ü' }))}`, {
        contentType: `${FORM};charset=UTF-8`,
      }),
    ]
    for (const request of requests) expect((await send(adapter, request)).body).toBe('handled')
  })

  test('a body of more than 4 MiB is 413', async () => {
    const { status, handled } = await send(adapter, signed(Buffer.alloc(MAX_BODY_BYTES + 1, ' ')))
    expect([status, handled]).toEqual([413, []])
  })

  test('a signed request that is not from Slack is a 400', async () => {
    for (const request of [signed('{'), signed(''), signedPayload({ type: 'odd' })]) {
      expect((await send(adapter, request)).status).toBe(400)
    }
  })

  test('a rejection with status 200 has no body', async () => {
    const { keys } = keysOf({ ok: false, kind: 'refused', reason: 'team' }, { rejectStatus: 200 })
    const { status, body, handled } = await adapter(keys, samples['message']!())
    expect([status, body, handled]).toEqual([200, '', []])
  })
})
