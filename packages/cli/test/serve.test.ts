import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { claimFirstAdmin } from './first-admin.ts'
import { emptyDirectory, type Running, start, strongroom } from './strongroom.ts'

/** Everything in a directory, as one text. */
async function filesIn(directory: string): Promise<string> {
  const files = await readdir(directory, { recursive: true, withFileTypes: true })
  const read = files
    .filter((file) => file.isFile())
    .map((file) => readFile(join(file.parentPath, file.name), 'latin1'))
  return (await Promise.all(read)).join('')
}

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

    test('says that Ferryhook delivers to http:// on this machine', () => {
      expect(server.printed).toMatch(
        /\n  Ferryhook   http:\S+\n {14}delivers to http:\/\/ on this machine, except to itself,/,
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

  test('writes the bootstrap code to a private file instead of its output, and exits with 0 on SIGTERM', async () => {
    const cwd = await emptyDirectory()
    const { printed, get, url, process: child, finished } = await served(cwd)
    const [, file = ''] = /Operator +bootstrap code in (\S+): run/.exec(printed) ?? []
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await stat(dirname(file))).mode & 0o777).toBe(0o700)
    expect(file.startsWith(cwd)).toBe(false)
    const code = (await readFile(file, 'utf8')).trim()
    const claimed = await strongroom(['operator', 'claim', code, '--server', url], { cwd })
    const token = claimed.stdout.trim()
    expect(token).toMatch(/^sro_admin\./)
    const again = await strongroom(['operator', 'claim', code, '--name', 'other'], { cwd })
    expect([again.code, again.stderr]).toEqual([
      1,
      'The bootstrap code is wrong, used or expired. Run "strongroom operator bootstrap" for a new one.\n',
    ])

    expect((await get('/metrics')).status).toBe(401)
    const metrics = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
    expect([metrics.status, await metrics.text()]).toEqual([
      200,
      expect.stringContaining('strongroom_http_requests_total'),
    ])
    child.kill('SIGTERM')
    const { code: exitCode, stdout, stderr } = await finished
    expect(exitCode).toBe(0)
    expect(stdout + stderr).not.toContain(token.split('.')[1])
    expect(stdout + stderr).not.toContain(code)
    await expect(stat(file)).rejects.toThrow('ENOENT')
    // A stolen data directory gives no access.
    const stored = await filesIn(join(cwd, 'data'))
    for (const secret of [code, token.split('.')[1] ?? '']) expect(stored).not.toContain(secret)
  })

  test('takes another file for the code, replaces it at the next start and never writes it into the data directory', async () => {
    const cwd = await emptyDirectory()
    const env = { STRONGROOM_BOOTSTRAP_FILE: join(cwd, 'run/code') }
    const first = await served(cwd, ['--json'], env)
    const { bootstrapFile } = JSON.parse(first.printed) as { bootstrapFile: string }
    expect(bootstrapFile).toBe(join(cwd, 'run/code'))
    const old = (await readFile(bootstrapFile, 'utf8')).trim()
    first.process.kill('SIGKILL')
    await first.finished
    await served(cwd, ['--json'], env)
    const code = (await readFile(bootstrapFile, 'utf8')).trim()
    expect((await strongroom(['operator', 'claim', old], { cwd })).code).toBe(1)
    expect((await strongroom(['operator', 'claim', code], { cwd })).code).toBe(0)
    const inside = { PORT: '0', STRONGROOM_BOOTSTRAP_FILE: 'data/code' }
    const refused = await strongroom(['serve'], { cwd: await emptyDirectory(), env: inside })
    expect([refused.code, refused.stderr]).toEqual([
      1,
      'STRONGROOM_BOOTSTRAP_FILE must not be in the data directory: choose a file elsewhere\n',
    ])
  })

  test('exits with 0 on SIGINT, keeps its data across a restart and creates no second code once there is an admin', async () => {
    const cwd = await emptyDirectory()
    const first = await served(cwd)
    await strongroom(['operator', 'add', 'admin'], { cwd })
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
      notices: [expect.stringContaining('on this machine')],
      store: { kind: 'embedded', location: join(cwd, 'data') },
      kms: { kind: 'embedded', location: join(cwd, 'data', 'keys', 'master.key') },
      services: ['sealed', 'ferryhook', 'form-bridge', 'key-store', 'two-key'],
      bootstrapFile: expect.stringMatching(/strongroom-bootstrap-\w+\/code$/),
    })
  })

  test('builds links from PUBLIC_URL and separates the admins of two deployments in one directory', async () => {
    const cwd = await emptyDirectory()
    const first = await served(cwd, [], { PUBLIC_URL: 'https://trust.example/' })
    expect(first.printed).toContain('https://trust.example/docs')
    first.process.kill('SIGTERM')
    await first.finished
    await strongroom(['operator', 'add', 'admin'], { cwd })
    const second = await served(cwd, ['--json'], { STRONGROOM_TABLE_PREFIX: 'two-' })
    const headers = { authorization: `Bearer ${await claimFirstAdmin(second.printed)}` }
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
