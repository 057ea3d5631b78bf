import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inProcess } from './in-process.ts'
import { localProgram } from './listen-server.ts'
import { emptyDirectory, type Running, start } from './strongroom.ts'

describe('strongroom listen', () => {
  let cwd: string
  let server: Running
  let url: string
  let key: string
  let sourceId: string

  const serving = async (port: string) => {
    const env = { PORT: port, FERRYHOOK_SIGNUP: 'open' }
    const running = start(['serve', '--json'], { cwd, env })
    const { url: at } = JSON.parse(await running.until('\n}\n')) as { url: string }
    return { running, at }
  }

  async function ask(method: string, path: string, body: object, token?: string) {
    const answer = await fetch(`${url}/ferryhook/v1${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    })
    return (await answer.json()) as Record<string, string>
  }

  beforeAll(async () => {
    cwd = await emptyDirectory()
    ;({ running: server, at: url } = await serving('0'))
    const person = { email: 'ada@example.com', name: 'Ada', password: 'correct horse battery' }
    const { accessToken } = await ask('POST', '/auth/signup', person)
    const made = await ask('POST', '/sources', { name: 'Shop', provider: 'custom' }, accessToken)
    sourceId = String(made['id'])
    const keyInput = { name: 'listen', permissions: 'read' }
    key = String((await ask('POST', '/api-keys', keyInput, accessToken))['key'])
  })
  afterAll(() => server.process.kill('SIGKILL'))

  /** Fails if the event was not stored, because a test would wait for it in vain. */
  async function send(
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ) {
    const response = await fetch(`${url}/in/${sourceId}?n=1`, { method: 'POST', headers, body })
    expect({ status: response.status, body: await response.text() }).toMatchObject({ status: 200 })
  }

  const listening = (forward: string, ...more: string[]) =>
    start(['listen', 'Shop', '--forward', forward, '--server', url, ...more], {
      cwd,
      env: { FERRYHOOK_API_KEY: key },
    })

  test('forwards events byte for byte, also after a server restart, and prints a summary', async () => {
    const program = await localProgram()
    const listener = listening(`${program.url}/hook`)
    await listener.until('Ready: forwarding events of src_')
    const bytes = new Uint8Array([0xff, 0x00, 0x0d, 0x0a])
    await send(bytes, { 'content-type': 'application/octet-stream', 'x-shop': 'Berlin' })
    await listener.until(' ms\n')
    const [first] = program.got
    expect([first?.request.method, first?.request.url]).toEqual(['POST', '/hook?n=1'])
    expect(first?.request.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'x-shop': 'Berlin',
    })
    expect(first?.body.equals(bytes)).toBe(true)

    server.process.kill('SIGTERM')
    expect((await server.finished).code).toBe(0)
    await listener.until('Disconnected (')
    ;({ running: server } = await serving(new URL(url).port))
    await send('while it was away')
    await listener.until('Reconnected')
    await send('and after')
    await listener.until(/(?: ms\n[^]*){3}/)
    expect(program.got.map(({ body }) => body.toString()).slice(1)).toEqual([
      'while it was away',
      'and after',
    ])
    listener.process.kill('SIGINT')
    const { code, stdout, stderr } = await listener.finished
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/\n\d\d:\d\d:\d\d {2}evt_[\w-]{16} {2}200 {2}\d+ ms\n/)
    expect(stdout).toMatch(/\n3 events: 3 answered, 0 failed, 0 not forwarded\n$/)
    expect(stdout).not.toContain(key)
  })

  test('prints a JSON document per line with --json', async () => {
    const listener = listening('http://127.0.0.1:9/hook', '--json')
    await listener.until('"ready"')
    await send('{"type":"sale"}')
    await listener.until('"event"')
    listener.process.kill('SIGINT')
    const { code, stdout } = await listener.finished
    const lines = stdout.trimEnd().split('\n')
    expect(code).toBe(0)
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { type: 'ready', again: false },
      {
        type: 'event',
        id: expect.stringMatching(/^evt_/),
        eventType: 'sale',
        receivedAt: expect.any(String),
        status: null,
        error: 'ECONNREFUSED',
        ms: expect.any(Number),
      },
      { type: 'summary', answered: 0, failed: 1, skipped: 0 },
    ])
  })

  test.each([
    [[], {}, '"strongroom listen" needs SOURCE: run "strongroom listen --help"'],
    [
      ['src_AAAAAAAAAAAAAAAA', '--forward', 'localhost:3000'],
      { FERRYHOOK_API_KEY: 'x' },
      '--forward must be an http or https URL, such as http://localhost:3000/hook',
    ],
    [
      ['src_AAAAAAAAAAAAAAAA', '--forward', 'http://localhost:3000'],
      {},
      'No API key: set FERRYHOOK_API_KEY to one that "strongroom user add" prints',
    ],
    [
      ['src_AAAAAAAAAAAAAAAA', '--forward', 'http://localhost:3000', '--server', 'ftp://x'],
      { FERRYHOOK_API_KEY: 'x' },
      '--server must be an http or https address without user, query and fragment',
    ],
  ])('reports "%s" in one line', async (args, env, line) => {
    const { code, stdout, stderr } = await inProcess(['listen', ...args], { cwd, env })
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: `${line}\n` })
  })

  test('prints the error of the server and never the key', async () => {
    const refused = await inProcess(
      ['listen', sourceId, '--forward', 'http://127.0.0.1:9', '--server', url],
      { cwd, env: { FERRYHOOK_API_KEY: 'fh_live_wrong' } },
    )
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/^Authentication required. Sign in, or send an API key[^\n]+\n$/)
    expect(refused.stderr).not.toContain('fh_live_wrong')
    const unknown = await inProcess(
      ['listen', 'src_AAAAAAAAAAAAAAAA', '--forward', 'http://127.0.0.1:9', '--server', url],
      { cwd, env: { FERRYHOOK_API_KEY: key } },
    )
    expect(unknown).toMatchObject({ code: 1, stderr: 'Source not found\n' })
  })
})
