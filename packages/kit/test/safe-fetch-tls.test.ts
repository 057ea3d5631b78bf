import type { TLSSocket } from 'node:tls'
import { describe, expect, test } from 'vitest'
import { serveHttps, serveTcp } from './loopback-server.ts'
import { failure, loopbackFetch } from './safe-fetch-client.ts'
import { selfSigned } from './self-signed.ts'

const certificate = selfSigned('hook.example.com')

/** A server with the certificate that returns the names in SNI and Host. */
function serveNames(): Promise<number> {
  return serveHttps(certificate, (request, response) => {
    const { servername } = request.socket as TLSSocket & { servername: string | false }
    response.end(`${servername} ${request.headers.host}`)
  })
}

describe('A request over TLS', () => {
  test('keeps the name in SNI, in Host and for the certificate, at the address that was checked', async () => {
    const port = await serveNames()
    const safeFetch = loopbackFetch({ ca: certificate.cert })
    const response = await safeFetch(`https://hook.example.com:${port}/`)
    expect(Buffer.from(response.body).toString()).toBe(`hook.example.com hook.example.com:${port}`)
  })

  test('is rejected if the certificate is for another name, also on the next attempt', async () => {
    const port = await serveNames()
    const safeFetch = loopbackFetch({ ca: certificate.cert })
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(await failure(safeFetch(`https://other.example.com:${port}/`))).toMatchObject({
        reason: 'tls',
        code: 'ERR_TLS_CERT_ALTNAME_INVALID',
      })
    }
  })

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'with %s checks the certificate on every connection and resumes none',
    async (maxVersion) => {
      const reused: boolean[] = []
      const port = await serveHttps({ ...certificate, maxVersion }, (request, response) => {
        reused.push((request.socket as TLSSocket).isSessionReused())
        response.writeHead(200, { connection: 'close' }).end()
      })
      const safeFetch = loopbackFetch({ ca: certificate.cert })
      for (let count = 0; count < 3; count++) await safeFetch(`https://hook.example.com:${port}/`)
      expect(reused).toEqual([false, false, false])
    },
  )

  test('is rejected if no trusted authority signed the certificate', async () => {
    const port = await serveNames()
    const error = await failure(loopbackFetch()(`https://hook.example.com:${port}/`))
    expect(error).toMatchObject({ reason: 'tls', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
  })

  test('is rejected if the server does not speak TLS', async () => {
    const port = await serveTcp((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'))
    const error = await failure(loopbackFetch()(`https://hook.example.com:${port}/`))
    expect(error.reason).toBe('tls')
  })

  test('is not redirected to plain HTTP', async () => {
    const port = await serveHttps(certificate, (_request, response) => {
      response.writeHead(302, { location: 'http://hook.example.com/' }).end()
    })
    const safeFetch = loopbackFetch({ ca: certificate.cert })
    const request = safeFetch(`https://hook.example.com:${port}/`, { maxRedirects: 1 })
    expect((await failure(request)).reason).toBe('redirect')
  })
})
