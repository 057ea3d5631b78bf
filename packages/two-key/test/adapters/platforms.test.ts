import { Readable } from 'node:stream'
import { createLog } from '@strongroom/kit/log'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { twoKeyFetch } from '../../src/adapters/fetch.ts'
import { twoKeyHono } from '../../src/adapters/hono.ts'
import { type LambdaEvent, twoKeyLambda } from '../../src/adapters/lambda.ts'
import { twoKeyMiddleware, twoKeyNode } from '../../src/adapters/node.ts'
import { MAX_BODY_BYTES, twoKey } from '../../src/verify.ts'
import { createFakeChecker } from '../support/fake-checker.ts'
import { command, eventBody, message, samples } from '../support/samples.ts'
import { FORM, official, signed } from '../support/signed.ts'
import { lambdaEvents, overHttp } from '../support/adapters.ts'

const lines: string[] = []
const keys = twoKey({
  signingSecret: official.secret,
  checker: createFakeChecker(),
  clock: testClock(),
  log: createLog({ sink: (line) => lines.push(line) }),
})

describe('on Node', () => {
  test('a handler that fails is a 500 and a log line, and the process continues', async () => {
    const failing = twoKeyNode(keys, async () => {
      throw new Error('handler broke')
    })
    const { status } = await overHttp((req, res) => void failing(req, res), samples['message']!())
    expect(status).toBe(500)
    expect(lines.join('')).toContain('handler broke')
  })

  test('the raw bytes of a body parser are verified, and without them nothing passes', async () => {
    const request = samples['command']!()
    const middleware = twoKeyMiddleware(keys)
    const after = async (keep: (raw: Buffer) => object) =>
      overHttp((req, res) => {
        void (async () => {
          const chunks: Buffer[] = []
          for await (const chunk of req) chunks.push(chunk as Buffer)
          Object.assign(req, keep(Buffer.concat(chunks)))
          await middleware(req, res, (error) => {
            res.statusCode = error === undefined ? 200 : 500
            res.end(error instanceof Error ? error.message : 'handled')
          })
        })()
      }, request)
    expect(await after((rawBody) => ({ rawBody, body: { parsed: true } }))).toMatchObject({
      body: 'handled',
    })
    expect(await after((body) => ({ body }))).toMatchObject({ body: 'handled' })
    for (const keep of [() => ({}), () => ({ body: { parsed: true } })]) {
      expect(await after(keep)).toMatchObject({
        status: 500,
        body: expect.stringContaining('before every body parser'),
      })
    }
  })
})

describe('on Lambda', () => {
  const handler = twoKeyLambda(keys, async (event: LambdaEvent, _context: object) => event)

  test('the handler takes two arguments, as newer runtimes require', () => {
    expect(handler).toHaveLength(2)
  })

  test.each(Object.entries(lambdaEvents))(
    'the handler gets text and a bare content type: %s',
    async (_, eventOf) => {
      const request = signed(new URLSearchParams(command).toString(), {
        contentType: `${FORM}; charset=utf-8`,
      })
      const event = (await handler(eventOf(request), {})) as LambdaEvent
      expect(event).toMatchObject({ body: request.rawBody.toString(), isBase64Encoded: false })
      const headers = Object.entries(event.headers ?? {}).map(([name, value]) => [
        name.toLowerCase(),
        value,
      ])
      expect(Object.fromEntries(headers)).toMatchObject({
        ...request.headers,
        'content-type': FORM,
      })
    },
  )

  test('a duplicate header counts as missing, although the event has its last value', async () => {
    const event = lambdaEvents['Lambda, first format'](samples['message']!())
    const multiValueHeaders = {
      ...event.multiValueHeaders,
      'X-Slack-Signature': ['v0=1', event.headers?.['X-Slack-Signature'] ?? ''],
    }
    expect(await handler({ ...event, multiValueHeaders }, {})).toMatchObject({ statusCode: 401 })
  })

  test.each([
    {},
    { headers: null, body: null },
    { headers: {}, body: '%%%', isBase64Encoded: true },
  ])('an event that is not a request is a 401: %j', async (event) => {
    expect(await handler(event, {})).toMatchObject({ statusCode: 401 })
  })
})

describe('with fetch', () => {
  test('an endless stream is cancelled as soon as it is too long', async () => {
    let sent = 0
    const endless = Readable.toWeb(
      Readable.from(
        (function* () {
          for (;;) {
            sent += 65_536
            yield Buffer.alloc(65_536)
          }
        })(),
      ),
    ) as ReadableStream
    const handler = twoKeyFetch(keys, () => new Response('handled'))
    const init = {
      method: 'POST',
      headers: samples['message']!().headers,
      body: endless,
      duplex: 'half' as const,
    }
    const { status } = await handler(new Request('https://app.example/', init))
    expect(status).toBe(413)
    expect(sent).toBeLessThan(2 * MAX_BODY_BYTES)
  })

  test('in Hono the handler can still read the body', async () => {
    const app = new Hono().post('/', twoKeyHono(keys), async (c) => c.json(await c.req.json()))
    const { rawBody, headers } = samples['message']!()
    const response = await app.request('/', { method: 'POST', headers, body: rawBody })
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(eventBody(message))))
  })
})
