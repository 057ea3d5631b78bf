import { gzipSync } from 'node:zlib'
import { Socket } from 'node:net'
import type { IncomingHttpHeaders } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { buildConnector } from 'undici'
import { createSafeFetch } from '../src/safe-fetch.ts'
import { guardedConnector } from '../src/safe-fetch/guarded-connector.ts'
import { addressPolicy } from '../src/safe-fetch/public-address.ts'
import { isForbiddenHeader } from '../src/safe-fetch/request-headers.ts'
import { closedPort, serveHttp, serveTcp } from './loopback-server.ts'
import { failure, inside, loopbackFetch, resolver, strictFetch } from './safe-fetch-client.ts'

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()

/** What a connector calls back with. */
function dial(connect: buildConnector.connector, hostname: string): Promise<Error | Socket> {
  const target = { hostname, protocol: 'http:', port: '8080' }
  return new Promise((resolve) =>
    connect(target, (...[error, socket]) => resolve(error === null ? socket : error)),
  )
}

describe('A request', () => {
  test('reaches an allowed server and returns status, headers and body', async () => {
    const port = await serveHttp((request, response) => {
      request.setEncoding('utf8').on('data', (body: string) => {
        response.writeHead(201, { 'X-Twice': ['a', 'b'] })
        response.end(`${request.method} ${request.url} ${body}`)
      })
    })
    const response = await loopbackFetch()(`http://hook.example.com:${port}/in?x=1#part`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: 'hello',
    })
    expect(response.status).toBe(201)
    expect(response.headers['x-twice']).toBe('a, b')
    expect(text(response.body)).toBe('POST /in?x=1 hello')
    expect(response.truncated).toBe(false)
    expect(response.truncatedBy).toBeNull()
    expect(response.url).toBe(`http://hook.example.com:${port}/in?x=1#part`)
  })

  test('sends bytes as they are', async () => {
    const received: Buffer[] = []
    const port = await serveHttp((request, response) => {
      request.on('data', (chunk: Buffer) => received.push(chunk)).on('end', () => response.end())
    })
    const body = Uint8Array.from({ length: 256 }, (_, index) => index)
    await loopbackFetch()(`http://hook.example.com:${port}/`, { method: 'PUT', body })
    expect(new Uint8Array(Buffer.concat(received))).toEqual(body)
  })

  test('sends the name in Host, no compression and a user agent', async () => {
    let seen: IncomingHttpHeaders = {}
    const port = await serveHttp((request, response) => {
      seen = request.headers
      response.end()
    })
    const safeFetch = loopbackFetch({ userAgent: 'Ferryhook/1' })
    await safeFetch(`http://hook.example.com:${port}/`, { headers: { 'X-Two': ['1', '2'] } })
    expect(seen).toMatchObject({
      host: `hook.example.com:${port}`,
      'accept-encoding': 'identity',
      'user-agent': 'Ferryhook/1',
      'x-two': '1, 2',
    })
    expect(seen).not.toHaveProperty('cookie')
    await safeFetch(`http://hook.example.com:${port}/`, { headers: { 'User-Agent': 'Mine' } })
    expect(seen['user-agent']).toBe('Mine')
  })

  test('reaches a literal address of an allowed network', async () => {
    const port = await serveHttp((_request, response) => response.end('ok'))
    const response = await loopbackFetch()(`http://127.0.0.1:${port}/`)
    expect(text(response.body)).toBe('ok')
  })

  test('does not decompress, so that no response is larger than what was read', async () => {
    const bomb = gzipSync(Buffer.alloc(1_000_000))
    const port = await serveHttp((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
    })
    const response = await loopbackFetch()(`http://hook.example.com:${port}/`)
    expect(response.body).toEqual(new Uint8Array(bomb))
  })

  test('resolves a name once for each connection, and not at all on a pooled one', async () => {
    const { resolve, asked } = resolver(['127.0.0.1'])
    const port = await serveHttp((_request, response) => response.end())
    const safeFetch = loopbackFetch({ resolve })
    await safeFetch(`http://hook.example.com:${port}/1`)
    // undici returns a connection to its pool one turn after the end of the response.
    await setImmediate()
    await safeFetch(`http://hook.example.com:${port}/2`)
    expect(asked).toEqual(['hook.example.com'])
  })

  test('tries the other addresses of a name if the first does not respond', async () => {
    const port = await serveHttp((_request, response) => response.end('ok'))
    const safeFetch = loopbackFetch({
      allow: ['127.0.0.0/8'],
      resolve: () => Promise.resolve(['127.0.0.99', '127.0.0.1']),
    })
    expect(text((await safeFetch(`http://hook.example.com:${port}/`)).body)).toBe('ok')
  })
})

describe('A private address', () => {
  test.each(inside)('%s is rejected as a literal, without a lookup', async (address) => {
    const { resolve, asked } = resolver(['8.8.8.8'])
    const host = address.includes(':') ? `[${address}]` : address
    const error = await failure(strictFetch({ resolve })(`http://${host}:8080/`))
    expect(error.reason).toBe('blocked_address')
    expect(asked).toEqual([])
  })

  test.each(inside)('%s is rejected as the address of a name', async (address) => {
    const safeFetch = strictFetch({ resolve: () => Promise.resolve([address]) })
    expect((await failure(safeFetch('http://hook.example.com/'))).reason).toBe('blocked_address')
  })

  test.each(inside)('%s is rejected next to a public address, in any order', async (address) => {
    for (const answers of [
      ['8.8.8.8', address],
      [address, '8.8.8.8'],
    ]) {
      const safeFetch = strictFetch({ resolve: () => Promise.resolve(answers) })
      const error = await failure(safeFetch('http://hook.example.com/'))
      expect(error.reason).toBe('blocked_address')
    }
  })

  test.each(inside)(
    '%s is refused by the connector itself, whatever the URL check says',
    async (address) => {
      const connect = guardedConnector({
        permits: addressPolicy([]),
        resolve: () => Promise.resolve(['8.8.8.8']),
        connectTimeoutMs: 1_000,
      })
      expect(await dial(connect, address)).toMatchObject({ reason: 'blocked_address' })
    },
  )

  test.each([
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://①②⑦.⓪.⓪.①/',
    'http://localhost/',
    'http://app.localhost/',
    'http://printer.local/',
    'http://metadata.google.internal/',
    'http://metadata/',
  ])('behind %s is rejected before any lookup', async (url) => {
    const { resolve, asked } = resolver(['127.0.0.1'])
    const error = await failure(loopbackFetch({ allow: [], resolve })(url))
    expect(error.reason).toBe('blocked_address')
    expect(asked).toEqual([])
  })

  test.each(['http://localhost./', 'http://u:p@example.com/', 'http://[fe80::1%25eth0]/'])(
    'behind %s is refused as not usable',
    async (url) => {
      expect((await failure(loopbackFetch()(url))).reason).toBe('invalid_url')
    },
  )

  test('is rejected with the same error, whatever its kind and spelling', async () => {
    const errors = await Promise.all([
      failure(strictFetch()('http://10.0.0.1/')),
      failure(strictFetch()('http://localhost/')),
      failure(strictFetch({ resolve: () => Promise.resolve(['fd00::1']) })('http://a.example/')),
    ])
    for (const error of errors) {
      expect(Object.entries(error)).toEqual([
        ['name', 'SafeFetchError'],
        ['reason', 'blocked_address'],
        ['code', undefined],
      ])
      expect(error.message).toBe('Address is not allowed: use a host with public addresses only')
    }
  })

  test('is never dialled: a server there gets only allowed connections', async () => {
    let connections = 0
    const port = await serveTcp((socket) => {
      connections++
      socket.once('data', () => socket.end('HTTP/1.1 204 No Content\r\n\r\n'))
    })
    await failure(strictFetch()(`http://127.0.0.1:${port}/`))
    await failure(strictFetch()(`http://[::ffff:127.0.0.1]:${port}/`))
    await failure(strictFetch()(`http://hook.example.com:${port}/`))
    await failure(strictFetch(resolver(['127.0.0.1', '8.8.8.8']))(`http://a.example:${port}/`))
    // Connections are accepted in their order: any of the others would have come before this one.
    expect((await loopbackFetch()(`http://127.0.0.1:${port}/`)).status).toBe(204)
    expect(connections).toBe(1)
  })
})

describe('A name whose address changes', () => {
  test('is dialled at the address that was checked, not at a later one', async () => {
    const { resolve, asked } = resolver(['127.0.0.1'], ['169.254.169.254'])
    const port = await serveHttp((_request, response) => response.end('checked'))
    const response = await loopbackFetch({ resolve })(`http://rebind.example.com:${port}/`)
    expect(text(response.body)).toBe('checked')
    expect(asked).toHaveLength(1)
  })

  test('is checked again for the next connection', async () => {
    const { resolve, asked } = resolver(['127.0.0.1'], ['169.254.169.254'])
    const port = await serveHttp((_request, response) => {
      response.writeHead(200, { connection: 'close' }).end()
    })
    const safeFetch = loopbackFetch({ resolve })
    await safeFetch(`http://rebind.example.com:${port}/`)
    const error = await failure(safeFetch(`http://rebind.example.com:${port}/`))
    expect(error.reason).toBe('blocked_address')
    expect(asked).toHaveLength(2)
  })

  test('is rejected if its first address is private, without a second attempt', async () => {
    const { resolve, asked } = resolver(['10.0.0.1'], ['127.0.0.1'])
    const error = await failure(loopbackFetch({ resolve })('http://rebind.example.com/'))
    expect(error.reason).toBe('blocked_address')
    expect(asked).toHaveLength(1)
  })

  test('is dropped if the socket is connected to another address', async () => {
    const socket = new Socket()
    Object.defineProperty(socket, 'remoteAddress', { value: '10.0.0.1' })
    const connect = guardedConnector({
      permits: addressPolicy([]),
      resolve: () => Promise.resolve(['8.8.8.8']),
      connectTimeoutMs: 1_000,
      build: () => (_target, callback) => callback(null, socket),
    })
    expect(await dial(connect, 'hook.example.com')).toMatchObject({ reason: 'blocked_address' })
    expect(socket.destroyed).toBe(true)
  })
})

describe('Headers', () => {
  test.each([
    'Host',
    'Content-Length',
    'Connection',
    'Transfer-Encoding',
    'Cookie',
    'TE',
    'Trailer',
    'Upgrade',
    'Keep-Alive',
    'Proxy-Authorization',
    'Proxy-Connection',
    'Expect',
    'Accept-Encoding',
  ])('that the client sets itself cannot be set: %s', async (name) => {
    expect(isForbiddenHeader(name)).toBe(true)
    const request = loopbackFetch()('http://hook.example.com/', { headers: { [name]: 'x' } })
    expect(await failure(request)).toMatchObject({
      reason: 'invalid_request',
      message: `Header ${name} cannot be set: leave it out`,
    })
  })

  test.each([
    ['a line break', { 'x-a': 'b\r\nx-c: d' }],
    ['a line feed', { 'x-a': 'b\nc' }],
    ['a carriage return', { 'x-a': 'b\rc' }],
    ['a zero byte', { 'x-a': 'b\u0000' }],
    ['a character beyond Latin-1', { 'x-a': 'č' }],
    ['a line break in one of several values', { 'x-a': ['b', 'c\r\nd: e'] }],
    ['a line break in the name', { 'x-a\r\nx-b': 'c' }],
    ['a colon in the name', { 'x-a:': 'c' }],
    ['no name', { '': 'c' }],
  ])('with %s are rejected before anything is sent', async (_, headers) => {
    const { resolve, asked } = resolver(['127.0.0.1'])
    const error = await failure(loopbackFetch({ resolve })('http://a.example/', { headers }))
    expect(error.reason).toBe('invalid_request')
    expect(error.message).not.toMatch(/[\r\n]/)
    expect(asked).toEqual([])
  })
})

describe('A failure', () => {
  test('of the resolver is reported as dns, with its code', async () => {
    const unknown = Object.assign(new Error('ENOTFOUND secret.example'), { code: 'ENOTFOUND' })
    const safeFetch = loopbackFetch({ resolve: () => Promise.reject(unknown) })
    expect(await failure(safeFetch('http://a.example/'))).toMatchObject({
      reason: 'dns',
      code: 'ENOTFOUND',
    })
  })

  test('of a name without addresses is reported as dns', async () => {
    const safeFetch = loopbackFetch({ resolve: () => Promise.resolve([]) })
    expect((await failure(safeFetch('http://a.example/'))).reason).toBe('dns')
  })

  test('to connect is reported without any address', async () => {
    const port = await closedPort()
    const error = await failure(loopbackFetch()(`http://hook.example.com:${port}/`))
    expect(error).toMatchObject({ reason: 'connection', code: 'ECONNREFUSED' })
    expect(`${error.stack} ${JSON.stringify(error)}`).not.toContain('127.0.0.1')
    expect(error.cause).toBeUndefined()
  })

  test('of a server that hangs up is reported as connection', async () => {
    const port = await serveTcp((socket) => socket.once('data', () => socket.destroy()))
    const error = await failure(loopbackFetch()(`http://hook.example.com:${port}/`))
    expect(error.reason).toBe('connection')
  })

  test('of a server that does not speak HTTP is reported as connection', async () => {
    const port = await serveTcp((socket) => socket.end('220 mail.example.com ESMTP\r\n'))
    const error = await failure(loopbackFetch()(`http://hook.example.com:${port}/`))
    expect(error.reason).toBe('connection')
  })
})

describe('Proxies of the environment', () => {
  afterEach(() => vi.unstubAllEnvs())

  test('are not used, because they would resolve names without the guard', async () => {
    let proxied = 0
    const proxy = await serveHttp((_request, response) => {
      proxied++
      response.end('proxy')
    })
    for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY']) {
      vi.stubEnv(name, `http://127.0.0.1:${proxy}`)
    }
    const port = await serveHttp((_request, response) => response.end('direct'))
    const response = await loopbackFetch()(`http://hook.example.com:${port}/`)
    expect(text(response.body)).toBe('direct')
    expect(proxied).toBe(0)
  })
})

describe('The check at configuration', () => {
  test('throws what a request would throw before connecting, and returns the parsed URL', () => {
    const safeFetch = createSafeFetch()
    expect(safeFetch.check('https://Example.com/a').href).toBe('https://example.com/a')
    expect(() => safeFetch.check('http://example.com/')).toThrow('URL must use https')
    expect(() => safeFetch.check('https://127.0.0.1/')).toThrow('Address is not allowed')
    expect(() => safeFetch.check('https://example.com:22/')).toThrow('Port 22 is not allowed')
  })

  test('accepts a local name if a network is allowed, unless configured otherwise', () => {
    const allow = ['10.1.0.0/16']
    expect(createSafeFetch({ allow }).check('https://hooks/').host).toBe('hooks')
    for (const options of [{}, { allow: [] }, { allow, allowLocalNames: false }]) {
      const { check } = createSafeFetch(options)
      expect(() => check('https://hooks/')).toThrow('Address is not allowed')
    }
  })
})

describe('A closed client', () => {
  test('sends nothing, also if it was closed before its first request', async () => {
    let requests = 0
    const port = await serveHttp((_, response) => {
      requests++
      response.end()
    })
    const safeFetch = loopbackFetch()
    await safeFetch.close()
    const { reason } = await failure(safeFetch(`http://a.example:${port}/`))
    expect(reason).toBe('connection')
    expect(requests).toBe(0)
  })
})
