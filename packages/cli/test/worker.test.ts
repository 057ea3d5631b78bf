import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { inProcess } from './in-process.ts'
import { localProgram } from './listen-server.ts'
import { emptyDirectory, type Running, start, strongroom } from './strongroom.ts'

describe('strongroom worker and user add', () => {
  const running: Running[] = []

  afterEach(() => {
    for (const each of running.splice(0)) each.process.kill('SIGKILL')
  })

  const env = {
    PORT: '0',
    FERRYHOOK_DELIVER: 'false',
    FERRYHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    FERRYHOOK_ALLOW_HTTP: 'true',
  }

  function started(args: string[], cwd: string): Running {
    const each = start(args, { cwd, env })
    running.push(each)
    return each
  }

  test('a new account has a valid key, and a worker delivers what a server only receives', async () => {
    const cwd = await emptyDirectory()
    const server = started(['serve', '--json'], cwd)
    const { url } = JSON.parse(await server.until('\n}\n')) as { url: string }
    const added = await strongroom(['user', 'add', 'Ada@Example.com', '--json'], { cwd })
    const { key, email } = JSON.parse(added.stdout) as { key: string; email: string }
    expect(email).toBe('ada@example.com')

    const ask = async (path: string, body?: object) => {
      const answer = await fetch(`${url}/ferryhook/v1${path}`, {
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
      return (await answer.json()) as { id: string; status: string }
    }
    const program = await localProgram()
    const source = await ask('/sources', { name: 'Shop', provider: 'custom' })
    const destinationUrl = `${program.url}/hook`
    await ask(`/sources/${source.id}/connections`, { name: 'Program', destinationUrl })
    const sent = await fetch(`${url}/in/${source.id}`, { method: 'POST', body: '{"n":1}' })
    const event = (await sent.json()) as { id: string }
    expect(await ask(`/events/${event.id}`)).toMatchObject({ status: 'received' })

    const worker = started(['worker'], cwd)
    await worker.until(`Delivering from Embedded engine, ${join(cwd, 'data')}`)
    await program.until(1)
    expect(program.got.map(({ body }) => body.toString())).toEqual(['{"n":1}'])
    worker.process.kill('SIGTERM')
    expect(await worker.finished).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('Stopping'),
    })
    // What it has begun it has written down.
    expect(await ask(`/events/${event.id}`)).toMatchObject({ status: 'delivered' })
  })

  test('a worker prints its store as JSON and serves metrics on the given port', async () => {
    const cwd = await emptyDirectory()
    const worker = started(['worker', '--data', 'elsewhere', '--metrics-port', '0', '--json'], cwd)
    const told = JSON.parse(await worker.until('\n}\n')) as { metricsUrl: string }
    expect(told).toMatchObject({
      store: { kind: 'embedded', location: join(cwd, 'elsewhere') },
      services: ['ferryhook'],
    })
    const metrics = await (await fetch(told.metricsUrl)).text()
    expect(metrics).toContain('strongroom_ferryhook_attempts_total')
  })

  test('an e-mail address that is in use or invalid and an invalid port are reported in one line', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'strongroom-'))
    const add = (...args: string[]) => inProcess(['user', 'add', ...args], { cwd })
    const { code, stdout } = await add('ada@example.com', '--name', 'Ada')
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^fh_live_[\w-]{43}\n$/)])
    expect(await add('ADA@example.com')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'An account with this e-mail address exists. Sign in to that account.\n',
    })
    expect(await add('ada')).toMatchObject({
      code: 2,
      stderr: 'EMAIL must be an e-mail address, such as ada@example.com\n',
    })
    expect(await add('b@example.com', '--name', ' ')).toMatchObject({
      code: 2,
      stderr: '--name must have 1 to 100 characters\n',
    })
    expect(await add('b@example.com', '--name', 'A\u001Bb')).toMatchObject({
      code: 2,
      stderr: '--name must not contain control characters or invalid characters\n',
    })
    expect(await inProcess(['worker', '--metrics-port', 'x'], { cwd })).toMatchObject({
      code: 2,
      stderr: '--metrics-port must be a whole number from 0 to 65535\n',
    })
  })
})
