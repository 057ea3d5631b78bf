import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { emptyDirectory, type Running, start, strongroom } from './strongroom.ts'

const startScript = fileURLToPath(new URL('../../../scripts/start.mjs', import.meta.url))

describe('strongroom serve', () => {
  const running: Running[] = []

  afterEach(() => {
    for (const each of running.splice(0)) each.process.kill('SIGKILL')
  })

  async function served(cwd: string, args: string[] = [], env: Record<string, string> = {}) {
    const server = start(['serve', ...args], { cwd, env: { PORT: '0', ...env } })
    running.push(server)
    const printed = await server.until(args.includes('--json') ? '\n}\n' : 'Press Ctrl+C to stop')
    const [url = ''] = /http:\/\/[^\s"]+/.exec(printed) ?? []
    const get = (path: string) => fetch(new URL(path, url))
    return { ...server, url, printed, get }
  }

  describe('once it runs', () => {
    let cwd: string
    let server: Awaited<ReturnType<typeof served>>
    beforeAll(async () => {
      cwd = await emptyDirectory()
      server = await served(cwd)
      // The others end with their test, this one after all of these.
      running.pop()
    })
    afterAll(() => void server.process.kill('SIGKILL'))

    test('prints its URLs, services and store', async () => {
      const { printed, url } = server
      expect(printed).toMatch(/^Strongroom \d+\.\d+\.\d+$/m)
      expect(printed).toMatch(/Home +http:\/\/127\.0\.0\.1:\d+\n/)
      expect(printed).toContain(`API         ${url}/docs`)
      expect(printed).toContain(`Store       Embedded engine, ${join(cwd, 'data')}`)
      expect(printed).toContain(
        `KMS         Embedded KMS, master key in ${join(cwd, 'data', 'keys', 'master.key')}`,
      )
    })

    test('serves the home page, the API reference, health and readiness', async () => {
      const { get } = server
      const home = await get('/')
      expect([home.status, home.headers.get('content-type')]).toEqual([
        200,
        'text/html; charset=UTF-8',
      ])
      expect(await home.text()).toContain('<h1')
      expect((await get('/docs')).status).toBe(200)
      expect(await (await get('/healthz')).json()).toEqual({ status: 'ok' })
      expect(await (await get('/readyz')).json()).toEqual({ status: 'ready', keyCacheSeconds: 300 })
    })

    test('describes itself as valid OpenAPI 3.1', async () => {
      const { get } = server
      const document = (await (await get('/openapi.json')).json()) as { openapi: string }
      expect(document.openapi).toBe('3.1.0')
      expect(await new Validator().validate(document)).toEqual({ valid: true })
    })

    test('shares its store with commands while it runs', async () => {
      const { stdout } = await strongroom(['operator', 'add', 'backup'], { cwd })
      const headers = { authorization: `Bearer ${stdout.trim()}` }
      expect((await fetch(`${server.url}/metrics`, { headers })).status).toBe(200)
    })
  })

  test.skipIf(process.platform === 'win32')(
    'ends with the shell that npm put before it',
    async () => {
      const env = { ...process.env, PORT: '0', STRONGROOM_DATA: await emptyDirectory() }
      // The colon keeps every shell from replacing itself with node.
      const shell = spawn('sh', ['-c', `"${process.execPath}" "${startScript}"; :`], {
        env: { ...env, npm_lifecycle_event: 'start' },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let printed = ''
      shell.stderr.on('data', (text) => (printed += String(text)))
      await once(shell.stdout, 'data')
      shell.kill('SIGTERM')
      // Closes when the last process that holds it has ended.
      await once(shell.stderr, 'close')
      expect(printed).toContain('Stopping')
    },
  )

  test('writes the first operator token to a private file instead of its output, and exits with 0 on SIGTERM', async () => {
    const cwd = await emptyDirectory()
    const { printed, get, url, process: child, finished } = await served(cwd)
    const file = join(cwd, 'data', 'operator-admin.token')
    expect(printed).toContain(`Operator    token in ${file}`)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const token = (await readFile(file, 'utf8')).trim()

    expect((await get('/metrics')).status).toBe(401)
    const metrics = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
    expect([metrics.status, await metrics.text()]).toEqual([
      200,
      expect.stringContaining('strongroom_http_requests_total'),
    ])
    child.kill('SIGTERM')
    const { code, stdout, stderr } = await finished
    expect(code).toBe(0)
    expect(stdout + stderr).not.toContain(token.split('.')[1])
  })

  test('exits with 0 on SIGINT, keeps its data across a restart and creates no second operator', async () => {
    const cwd = await emptyDirectory()
    const first = await served(cwd)
    first.process.kill('SIGINT')
    expect((await first.finished).code).toBe(0)
    const second = await served(cwd)
    expect(second.printed).not.toContain('Operator')
    // As it comes from its group and from npm.
    second.process.kill('SIGTERM')
    second.process.kill('SIGINT')
    expect((await second.finished).code, 'two signals').toBe(0)
    const { stdout } = await strongroom(['operator', 'list', '--json'], { cwd })
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'admin' }])
  })

  test('accepts common settings as options and serves metrics on a separate port without a token', async () => {
    const cwd = await emptyDirectory()
    const options = ['--data', 'elsewhere', '--host', 'localhost']
    const { printed } = await served(cwd, options, { STRONGROOM_METRICS_PORT: '0' })
    expect(printed).toContain(join(cwd, 'elsewhere'))
    expect(printed).toContain('http://localhost:')
    const [, port] = /Metrics +http:\/\/127\.0\.0\.1:(\d+)\/metrics/.exec(printed) ?? []
    const metrics = await fetch(`http://127.0.0.1:${port}/metrics`)
    expect([metrics.status, metrics.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('text/plain'),
    ])
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404)
  })

  test('prints one JSON document for programs', async () => {
    const cwd = await emptyDirectory()
    const { printed, url } = await served(cwd, ['--json'])
    expect(JSON.parse(printed)).toEqual({
      version: expect.stringMatching(/^\d/),
      url,
      store: { kind: 'embedded', location: join(cwd, 'data') },
      kms: { kind: 'embedded', location: join(cwd, 'data', 'keys', 'master.key') },
      services: ['sealed', 'ferryhook', 'form-bridge', 'key-store', 'two-key'],
      operatorTokenFile: join(cwd, 'data', 'operator-admin.token'),
    })
  })

  test('builds links from PUBLIC_URL and separates the tokens of two deployments in one directory', async () => {
    const cwd = await emptyDirectory()
    const first = await served(cwd, [], { PUBLIC_URL: 'https://trust.example/' })
    expect(first.printed).toContain('https://trust.example/docs')
    first.process.kill('SIGTERM')
    await first.finished
    const second = await served(cwd, [], { STRONGROOM_TABLE_PREFIX: 'two-' })
    const file = join(cwd, 'data', 'operator-admin-2.token')
    expect(second.printed).toContain(`Operator    token in ${file}`)
    const headers = { authorization: `Bearer ${(await readFile(file, 'utf8')).trim()}` }
    expect((await fetch(`${second.url}/metrics`, { headers })).status).toBe(200)
  })

  test('reports a data directory that it cannot create and changes nothing', async () => {
    const cwd = await emptyDirectory()
    await writeFile(join(cwd, 'file'), 'mine')
    const env = { PORT: '0', STRONGROOM_DATA: 'file/data' }
    const { code, stderr } = await strongroom(['serve'], { cwd, env })
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^Cannot open the data directory ".*file\/data": it cannot be created .*\n$/,
    )
    expect(await readdir(cwd)).toEqual(['file'])
  })

  test.skipIf(process.getuid?.() === 0)(
    'says so when it may not write to the data directory',
    async () => {
      const cwd = await emptyDirectory()
      await mkdir(join(cwd, 'locked'), { mode: 0o500 })
      const env = { PORT: '0', STRONGROOM_DATA: 'locked/data' }
      const { code, stderr } = await strongroom(['serve'], { cwd, env })
      expect(code).toBe(1)
      expect(stderr).toMatch(/^Cannot open the data directory .*EACCES.*\n$/)
      expect(await readdir(join(cwd, 'locked'))).toEqual([])
    },
  )
})
