import { describe, expect, test } from 'vitest'
import { SafeFetchError } from '../src/safe-fetch/error.ts'
import { serveHttp } from './loopback-server.ts'
import { failure, strictFetch } from './safe-fetch-client.ts'

const OWN = 'Address is one of this server: choose another destination'

/** As the policy of a server that only this machine can reach. */
const localFetch = (more: Parameters<typeof strictFetch>[0] = {}) =>
  strictFetch({ allowHttp: false, allowLoopback: true, ...more })

describe('A client that may reach loopback', () => {
  test.each(['127.0.0.1', 'localhost', 'LOCALHOST', '2130706433'])(
    'reaches %s over http',
    async (host) => {
      const port = await serveHttp((_, response) => response.end('hello'))
      const { status, body } = await localFetch()(`http://${host}:${port}/`)
      expect([status, Buffer.from(body).toString()]).toEqual([200, 'hello'])
    },
  )

  test('reaches it by no other name, so that nobody else’s DNS leads there', async () => {
    const port = await serveHttp((_, response) => response.end('hello'))
    const request = (url: string) => failure(localFetch()(url))
    expect(await request(`https://hook.example.com:${port}/`)).toMatchObject({
      reason: 'blocked_address',
    })
    expect(await request(`http://hook.example.com:${port}/`)).toMatchObject({
      reason: 'invalid_url',
      message: 'URL must use https',
    })
    expect(await request(`http://a.localhost:${port}/`)).toMatchObject({ reason: 'invalid_url' })
  })

  test('reaches no other address under the name localhost', async () => {
    const resolve = async () => ['127.0.0.1', '10.0.0.1']
    const refused = await failure(localFetch({ resolve })('http://localhost:3000/'))
    expect(refused.reason).toBe('blocked_address')
  })

  test.each(['http://10.0.0.1:3000/', 'http://0.0.0.0:3000/', 'http://[::ffff:127.0.0.1]:3000/'])(
    'does not reach %s',
    async (url) => {
      expect(['blocked_address', 'invalid_url']).toContain(
        (await failure(localFetch()(url))).reason,
      )
    },
  )

  test('is refused the ports of the server itself, when a URL is saved and when it is used', async () => {
    const port = await serveHttp((_, response) => response.end('hello'))
    const own = { origins: [], listeners: [{ host: '127.0.0.1', port }] }
    const safeFetch = localFetch({ own })
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '127.0.0.2']) {
      const url = `http://${host}:${port}/`
      expect(() => safeFetch.check(url)).toThrow(SafeFetchError)
      expect(await failure(safeFetch(url))).toMatchObject({ message: OWN })
    }
    const other = await serveHttp((_, response) => response.end('hello'))
    expect((await safeFetch(`http://127.0.0.1:${other}/`)).status).toBe(200)
  })

  test('is refused loopback without the option', async () => {
    const port = await serveHttp((_, response) => response.end('hello'))
    for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
      const refused = await failure(strictFetch()(`http://${host}:${port}/`))
      expect(refused.reason).toBe('blocked_address')
    }
  })
})
