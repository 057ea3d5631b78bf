/**
 * A server starts on the backup of an earlier version with all services in use, reads what is
 * stored and opens every secret in it. The fixture is never regenerated, because data of that version exists.
 */
import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inProcess } from '../in-process.ts'
import { emptyDirectory, type Running, start } from '../strongroom.ts'

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))

/** Credentials from that version. */
const known = JSON.parse(readFileSync(fixture('all-services.json'), 'utf8')) as {
  apiKey: string
  operatorToken: string
  sourceId: string
  connectionSecret: string
  alertSecret: string
  site: { site_id: string; api_key: string; webhook_secret: string }
  siteUrl: string
  beaconKey: string
  streamPosition: string
}
const networks = '127.0.0.0/8'

/** For JSON.stringify: keys in order, and nothing that depends on the time of the test. */
function stable(key: string, value: unknown): unknown {
  if (key === 'ageSeconds') return 'number'
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

describe('a server on the data of an earlier version', () => {
  const running: Running[] = []
  const received: { path: string; headers: IncomingHttpHeaders; body: string }[] = []
  const program = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ path: request.url ?? '', headers: request.headers, body })
      return response.end()
    })
  })
  let cwd: string
  let url: string
  let programUrl: string

  const started = async (args: string[], env: Record<string, string> = {}) => {
    const process = start([...args, '--json'], { cwd, env })
    running.push(process)
    return JSON.parse(await process.until('\n}\n')) as Record<string, string>
  }
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever the command prints
  const run = async (...args: string[]): Promise<any> => {
    const env = {
      STRONGROOM_SERVER: url,
      STRONGROOM_TOKEN: known.operatorToken,
      FERRYHOOK_API_KEY: known.apiKey,
    }
    const { code, stdout, stderr } = await inProcess([...args, '--json'], { cwd, env })
    expect([args, code, stderr]).toEqual([args, 0, ''])
    return JSON.parse(stdout)
  }
  const last = (path: string) => received.findLast((each) => each.path === path)

  /** As Standard Webhooks signs. */
  const signatureOf = (secret: string, { headers, body }: (typeof received)[number]) => {
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
    return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
  }

  beforeAll(async () => {
    cwd = await emptyDirectory()
    await once(program.listen(0, '127.0.0.1'), 'listening')
    programUrl = `http://127.0.0.1:${(program.address() as AddressInfo).port}`
    await run('restore', fixture('all-services.backup'))
    const { slackApiUrl = '' } = await started(['fake-slack', '--port', '0'])
    ;({ url = '' } = await started(['serve'], {
      PORT: '0',
      FERRYHOOK_ALLOWED_NETWORKS: networks,
      FERRYHOOK_ALLOW_HTTP: 'true',
      FORM_BRIDGE_ALLOW_HTTP: 'true',
      FORM_BRIDGE_ALLOWED_NETWORKS: networks,
      FORM_BRIDGE_DESTINATION_NETWORKS: networks,
      TWO_KEY_SLACK_API_URL: slackApiUrl,
      TWO_KEY_ALLOWED_NETWORKS: networks,
      TWO_KEY_ALLOW_HTTP: 'true',
    }))
  })
  afterAll(() => {
    for (const { process } of running) process.kill('SIGKILL')
    program.close()
  })

  test('lists everything that is stored', async () => {
    const shown = {
      operators: await run('operator', 'list'),
      sources: await run('sources', 'list'),
      connections: await run('connections', 'list'),
      alerts: await run('alerts', 'show'),
      site: await run('sites', 'show', known.site.site_id, '--server', url),
      apps: await run('slack', 'apps'),
      tokens: await run('slack', 'tokens', 'demo'),
      keys: await run('keys', 'list'),
      secrets: await run('secrets', 'list'),
    }
    const document = JSON.stringify(shown, stable, 2).replaceAll(url, 'http://server')
    await expect(`${document}\n`).toMatchFileSnapshot('snapshots/stored-data.json')
  })

  test('opens the signing secret and the headers of a connection', async () => {
    await run('connections', 'change', 'Books', '--url', `${programUrl}/books`)
    expect(await run('connections', 'test', 'Books')).toMatchObject({ ok: true })
    const request = last('/books')!
    expect(request.headers['x-credential']).toBe('open-sesame')
    expect(request.headers['webhook-signature']).toBe(signatureOf(known.connectionSecret, request))
  })

  test('opens the signing secret of alerts', async () => {
    await run('alerts', 'set', '--webhook', `${programUrl}/alerts`)
    expect(await run('alerts', 'test')).toMatchObject({ ok: true })
    const request = last('/alerts')!
    expect(request.headers['webhook-signature']).toBe(signatureOf(known.alertSecret, request))
  })

  test('opens the signing secret of a source', async () => {
    const send = async (secret: string) => {
      const mac = createHmac('sha256', secret).update('{}').digest('hex')
      const headers = { 'x-github-event': 'ping', 'x-hub-signature-256': `sha256=${mac}` }
      const init = { method: 'POST', headers, body: '{}' }
      return (await fetch(`${url}/in/${known.sourceId}`, init)).status
    }
    expect([await send('github-secret'), await send('another')]).toEqual([200, 401])
  })

  test('accepts a position in a stream', async () => {
    const open = async (position: string) => {
      const headers = { authorization: `Bearer ${known.apiKey}`, 'last-event-id': position }
      const path = `/ferryhook/v1/sources/${known.sourceId}/stream`
      const response = await fetch(url + path, { headers })
      await response.body?.cancel()
      return response.status
    }
    expect([await open(known.streamPosition), await open('another')]).toEqual([200, 400])
  })

  test('opens the secrets of a site and of its destination', async () => {
    const submit = async (secret: string) => {
      const path = '/form-bridge/v1/webhook'
      const body = JSON.stringify({
        submission_id: '00112233445566778899aabbccddeeff',
        form_id: 'contact',
        submitted_at: new Date().toISOString(),
        fields: { name: 'Ada' },
      })
      const timestamp = Math.floor(Date.now() / 1000)
      const nonce = createHash('sha256').update(secret).digest('hex').slice(0, 32)
      const digest = createHash('sha256').update(body).digest('hex')
      const signed = `FB1\n${timestamp}\n${nonce}\nPOST\n${path}\n${digest}`
      const mac = createHmac('sha256', secret).update(signed).digest('hex')
      const response = await fetch(url + path, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-fb-site': known.site.site_id,
          'x-fb-timestamp': String(timestamp),
          'x-fb-nonce': nonce,
          'x-fb-signature': `v1=${mac}`,
          'x-fb-home': known.siteUrl,
        },
        body,
      })
      const { error } = (await response.json()) as { error?: { code: string } }
      return [response.status, error?.code]
    }
    // Nothing listens at the destination, which is called only for a verified submission.
    expect(await submit(known.site.webhook_secret)).toEqual([
      503,
      'form-bridge.destination_unreachable',
    ])
    expect(await submit('another')).toEqual([401, 'form-bridge.unauthorized'])
  })

  test('opens the signing secret and the token of a Slack app', async () => {
    const [app] = await run('slack', 'apps')
    // Nothing listens at its upstream, which is called only for a verified request.
    const sent = await inProcess(['fake-slack', 'send', 'message', app.url, '--json'], { cwd })
    expect(JSON.parse(sent.stdout)).toMatchObject({
      status: 503,
      body: expect.stringContaining('two-key.not_handed_over'),
    })
    expect(await run('slack', 'decisions', 'demo')).toMatchObject([{ outcome: 'accepted' }])
  })

  test('opens a branch key', async () => {
    const { beaconKey } = await run('keys', 'beacon', 'key', '--reveal')
    expect(beaconKey).toBe(known.beaconKey)
  })
})
