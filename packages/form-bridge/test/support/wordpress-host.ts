/** A host with WordPress sites in subdirectories, which respond like the plugin or with a handler of the test. */
import { createHmac, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Handler = (request: IncomingMessage, response: ServerResponse, url: URL) => void

export interface WordPressSite {
  url: string
  domain: string
  /** The registration that the plugin stores while it connects. */
  pending?: { registration_id: string; temp_key: string; domain: string } | undefined
  /** Handlers by path, instead of the response of WordPress. */
  handlers: Map<string, Handler>
  /** Path and query of each request to the site. */
  requests: string[]
}

export interface WordPressHost {
  site(): WordPressSite
  port: number
  close(): Promise<void>
}

export async function openHost(): Promise<WordPressHost> {
  const sites = new Map<string, WordPressSite>()
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://host.test')
    const [, name = '', ...rest] = url.pathname.split('/')
    const site = sites.get(name)
    if (!site) return end(response, 404, 'No site')
    const path = `/${rest.join('/')}`
    site.requests.push(path + url.search)
    const handler = site.handlers.get(url.searchParams.has('rest_route') ? '/?rest_route' : path)
    if (handler) return handler(request, response, url)
    respond(site, path, url, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    site() {
      const name = `s${randomUUID().slice(0, 8)}`
      const domain = `127.0.0.1:${port}/${name}`
      const site = { url: `http://${domain}/`, domain, handlers: new Map(), requests: [] }
      sites.set(name, site)
      return site
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export function end(response: ServerResponse, status: number, body: string, headers: object = {}) {
  response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(body)
}

function respond(site: WordPressSite, path: string, url: URL, response: ServerResponse): void {
  const isVerify =
    path === '/wp-json/form-bridge/v1/verify' ||
    url.searchParams.get('rest_route') === '/form-bridge/v1/verify'
  if (isVerify) return verify(site, url, response)
  if (path === '/') return end(response, 200, '<html><head></head><body>Welcome</body></html>')
  end(response, 404, 'Not found')
}

function verify({ pending }: WordPressSite, url: URL, response: ServerResponse): void {
  const challenge = url.searchParams.get('challenge') ?? ''
  const isOwn = pending?.registration_id === url.searchParams.get('registration_id')
  if (!pending || !isOwn) return end(response, 404, '{}')
  const text = `verify.${challenge}.${pending.registration_id}.${pending.domain}`
  const proof = createHmac('sha256', pending.temp_key).update(text).digest('hex')
  end(response, 200, JSON.stringify({ response: proof }), { 'content-type': 'application/json' })
}
