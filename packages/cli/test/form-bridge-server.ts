/** A running server with Form-Bridge, and a site that can prove its domain. */
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { claimFirstAdmin } from './first-admin.ts'
import { inProcess } from './in-process.ts'
import { emptyDirectory, start } from './strongroom.ts'

interface Pending {
  temp_key: string
  registration_id: string
  domain: string
}

interface ConnectedSite {
  site_id: string
  api_key: string
  webhook_secret: string
  domain: string
}

export type FormBridgeServer = Awaited<ReturnType<typeof openFormBridge>>

export async function openFormBridge() {
  const cwd = await emptyDirectory()
  const made = await inProcess(['plugin', 'keygen', '--out', join(cwd, 'release.key')], { cwd })
  let pending: Pending | undefined
  const wordpress = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://x')
    const text = `verify.${searchParams.get('challenge')}.${pending?.registration_id}.${pending?.domain}`
    const mac = createHmac('sha256', pending?.temp_key ?? '')
      .update(text)
      .digest('hex')
    response.end(JSON.stringify({ response: mac }))
  }).listen(0, '127.0.0.1')
  await once(wordpress, 'listening')
  const server = start(['serve', '--json'], {
    cwd,
    env: {
      PORT: '0',
      FORM_BRIDGE_ALLOW_HTTP: 'true',
      FORM_BRIDGE_ALLOWED_NETWORKS: '127.0.0.1/32',
      FORM_BRIDGE_DESTINATION_NETWORKS: '127.0.0.1/32',
      FERRYHOOK_SIGNUP: 'open',
      FORM_BRIDGE_RELEASE_KEYS: made.stdout.trim(),
    },
  })
  const printed = await server.until('\n}\n')
  const { url: base } = JSON.parse(printed) as { url: string }
  const token = await claimFirstAdmin(printed)

  const post = async <T>(path: string, body: object, bearer?: string): Promise<T> => {
    const answer = await fetch(`${base}/form-bridge/v1${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      },
      body: JSON.stringify(body),
    })
    return (await answer.json()) as T
  }
  const siteUrl = (path = '') =>
    `http://127.0.0.1:${(wordpress.address() as AddressInfo).port}${path}`
  const register = async (path = '', given: object = {}): Promise<Pending> => {
    const body = { site_url: siteUrl(path), wp_version: '6.8', plugin_version: '1.0.0', ...given }
    pending = await post<Pending>('/register', body)
    return pending
  }

  return {
    cwd,
    base,
    token,
    siteUrl,
    post,
    register,
    strongroom: (...args: string[]) =>
      inProcess([...args, '--server', base], { cwd, env: { STRONGROOM_TOKEN: token } }),
    /** Connects the site at the path, with what it registers with. */
    async connect(path = '', given: object = {}): Promise<ConnectedSite> {
      const { registration_id, temp_key } = await register(path, given)
      return post('/exchange', { registration_id, temp_key, site_url: siteUrl(path) })
    },
    close() {
      server.process.kill('SIGKILL')
      wordpress.close()
    },
  }
}
