import { describe, expect, test } from 'vitest'
import { type HttpEvent, LambdaRequest } from '../src/http-event.ts'
import { toResult } from '../src/http-result.ts'
import { isServedBy, routeKeys } from '../src/routes.ts'
import { findDueTime, type StreamRecord } from '../src/stream-event.ts'

function eventOf(given: Partial<HttpEvent> = {}): HttpEvent {
  return {
    version: '2.0',
    rawPath: '/in/src_1',
    rawQueryString: '',
    headers: { host: 'strongroom.example' },
    requestContext: {
      domainName: 'strongroom.example',
      http: { method: 'POST', sourceIp: '203.0.113.9' },
    },
    ...given,
  }
}

const budget = { take: () => true }

describe('a request of an HTTP API', () => {
  test('keeps its query and its body byte for byte', async () => {
    const bytes = Buffer.from([0, 255, 10, 128])
    const request = new LambdaRequest(
      eventOf({
        rawQueryString: 'a=%2F&b=+&a=1',
        body: bytes.toString('base64'),
        isBase64Encoded: true,
      }),
    )
    expect(request.target).toBe('/in/src_1?a=%2F&b=+&a=1')
    expect(await request.readBody(10, budget)).toEqual({ kind: 'read', bytes })
    expect(await request.readBody(3, budget)).toEqual({ kind: 'too_large' })
    expect(request.peerAddress).toBe('203.0.113.9')
  })

  test('has a path that a URL can have, also where the gateway decoded it', () => {
    const request = new LambdaRequest(eventOf({ rawPath: '/a b/é?#"' }))
    expect(request.target).toBe('/a%20b/%C3%A9%3F%23%22')
    expect(new URL(request.web().url).pathname).toBe(request.target)
  })

  test('has its cookies as one header', () => {
    const { rawHeaders } = new LambdaRequest(eventOf({ cookies: ['a=1', 'b=2'] }))
    expect(rawHeaders).toEqual(['host', 'strongroom.example', 'cookie', 'a=1; b=2'])
  })
})

describe('the result for an HTTP API', () => {
  test('has one entry for each cookie, and bytes in base64', async () => {
    const headers = new Headers({ 'content-type': 'application/zip' })
    headers.append('set-cookie', 'a=1; Path=/')
    headers.append('set-cookie', 'b=2')
    const result = await toResult(new Response(Uint8Array.of(0, 200), { headers }))
    expect(result).toEqual({
      statusCode: 200,
      headers: { 'content-type': 'application/zip' },
      cookies: ['a=1; Path=/', 'b=2'],
      body: 'AMg=',
      isBase64Encoded: true,
    })
  })

  test('has text as it is, unless it is compressed', async () => {
    const text = new Response('é', { headers: { 'content-type': 'text/plain; charset=UTF-8' } })
    expect(await toResult(text)).toMatchObject({ body: 'é', isBase64Encoded: false })
    const compressed = new Response('x', {
      headers: { 'content-type': 'text/plain', 'content-encoding': 'gzip' },
    })
    expect(await toResult(compressed)).toMatchObject({ body: 'eA==', isBase64Encoded: true })
  })
})

describe('the routes of a function', () => {
  test.each([
    ['GET', '/ferryhook/v1/sources/src_1/stream', true],
    ['POST', '/ferryhook/v1/sources/src_1/stream', false],
    ['GET', '/ferryhook/v1/sources//stream', false],
    ['GET', '/ferryhook/v1/sources', false],
  ])('of the live tail: %s %s is one of them: %s', (method, path, expected) => {
    expect(isServedBy(routeKeys['ferryhook-live'], method, path)).toBe(expected)
  })

  test('leave streams to the function that can send them', () => {
    const isOfApi = (path: string) => isServedBy(routeKeys['ferryhook-api'], 'GET', path)
    expect(isOfApi('/ferryhook/v1/events')).toBe(true)
    expect(isOfApi('/ferryhook/v1/events/stream')).toBe(false)
  })
})

describe('records of the stream', () => {
  const task = (PK: string, dueAt: number): StreamRecord => ({
    eventName: 'INSERT',
    dynamodb: { SequenceNumber: '1', NewImage: { PK: { S: PK }, dueAt: { N: String(dueAt) } } },
  })

  test('start the worker for tasks that are due now or in a moment, not for retries', () => {
    const due = (...records: StreamRecord[]) => findDueTime({ Records: records }, 10_000)
    expect(due(task('DUE#0', 9_000), task('DUE#1', 11_000))).toBe(11_000)
    expect(due(task('DUE#0', 60_000))).toBeUndefined()
    expect(due(task('WAIT#conn', 9_000))).toBeUndefined()
    expect(due({ ...task('DUE#0', 9_000), eventName: 'REMOVE' })).toBeUndefined()
  })
})
