import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { inProcess } from './in-process.ts'
import { claimFirstAdmin } from './first-admin.ts'
import { emptyDirectory, type Running, start } from './strongroom.ts'

describe('strongroom keys --server', () => {
  let server: Running
  let url: string
  let token: string
  let elsewhere: string

  beforeAll(async () => {
    const cwd = await emptyDirectory()
    elsewhere = await emptyDirectory()
    server = start(['serve', '--json'], { cwd, env: { PORT: '0' } })
    const printed = await server.until('\n}\n')
    ;({ url } = JSON.parse(printed) as { url: string })
    token = await claimFirstAdmin(printed)
  })
  afterAll(() => server.process.kill('SIGKILL'))

  const keys = (args: string[], env: Record<string, string> = { STRONGROOM_TOKEN: token }) =>
    inProcess(['keys', ...args, '--server', url], { cwd: elsewhere, env })

  test('works over HTTP as on the store, with any id', async () => {
    const id = 'a/b:c %2F ü'
    const made = await keys(['create', '--id', id, '--context', 'tenant=42'])
    expect(made).toEqual({ code: 0, stdout: `${id}\n`, stderr: '' })
    const version = (await keys(['rotate', id])).stdout.trim()
    const shown = await keys(['show', id, '--json'])
    expect(JSON.parse(shown.stdout)).toMatchObject({
      id,
      active: { activeVersion: version, encryptionContext: { tenant: '42' } },
      versions: [{}, {}],
    })
    expect((await keys(['list'])).stdout).toContain(`${id} `)
    expect((await keys(['beacon', id])).stdout).toMatch(/^\d+ seconds? old, created/)
    const all = await keys(['rotate', '--all', '--older-than', '0d'])
    expect([all.code, all.stdout]).toEqual([0, '1 key rotated, 0 young enough, 0 failed\n'])
  })

  test('never shows a key', async () => {
    expect(await keys(['beacon', 'any', '--reveal'])).toEqual({
      code: 2,
      stdout: '',
      stderr: 'A key is never sent over HTTP: use --reveal with --local where the store is\n',
    })
  })

  test('reads the token from a file', async () => {
    const file = join(elsewhere, 'token')
    await writeFile(file, `${token}\n`)
    expect((await keys(['list'], { STRONGROOM_TOKEN_FILE: file })).code).toBe(0)
  })

  test.each([
    ['create', '--id', 'x'],
    ['show', 'nothing'],
    ['rotate', 'nothing'],
  ])('prints the error of the server in one line: %s %s', async (...args) => {
    const { code, stdout, stderr } = await keys(args)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^[A-Z][^\n]+\. [^\n]+\n$/)
  })

  test('requires an operator token', async () => {
    expect(await keys(['list'], {})).toMatchObject({
      code: 2,
      stderr: "--server requires an operator's token: set STRONGROOM_TOKEN\n",
    })
    const wrong = await keys(['list'], { STRONGROOM_TOKEN: 'sro_admin.wrong' })
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('rejects this token') })
    expect(wrong.stderr).not.toContain('sro_admin.wrong')
  })

  test('reports an invalid URL', async () => {
    const asked = (address: string) =>
      inProcess(['keys', 'list', '--server', address], {
        cwd: elsewhere,
        env: { STRONGROOM_TOKEN: token },
      })
    expect((await asked('ftp://x')).stderr).toContain('--server must be an http or https address')
    expect((await asked('http://127.0.0.1:9')).stderr).toMatch(
      /^Cannot reach the server at http:\/\/127\.0\.0\.1:9 \([^)]+\): check that it runs/,
    )
    const other = createServer((_request, response) => response.end('<html>')).listen(
      0,
      '127.0.0.1',
    )
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    expect((await asked(`http://127.0.0.1:${port}`)).stderr).toContain('is not a Strongroom')
    other.close()
  })

  test('finds the key store of a server that runs only it, and reports a server without one', async () => {
    const alone = async (service: string) => {
      const cwd = await emptyDirectory()
      const running = start(['serve', '--only', service, '--json'], { cwd, env: { PORT: '0' } })
      onTestFinished(() => void running.process.kill('SIGKILL'))
      const printed = await running.until('\n}\n')
      const { url: at } = JSON.parse(printed) as { url: string }
      return { at, env: { STRONGROOM_TOKEN: await claimFirstAdmin(printed) } }
    }
    const [keyStore, twoKey] = await Promise.all([alone('key-store'), alone('two-key')])
    const asked = (args: string[], { at, env }: Awaited<ReturnType<typeof alone>>) =>
      inProcess(['keys', ...args, '--server', at], { cwd: elsewhere, env })

    const made = await asked(['create', '--id', 'a/b', '--context', 'tenant=42'], keyStore)
    expect(made).toEqual({ code: 0, stdout: 'a/b\n', stderr: '' })
    expect((await asked(['list'], keyStore)).stdout).toContain('a/b ')
    expect(await asked(['show', 'nothing'], keyStore)).toMatchObject({
      code: 1,
      stderr: (await keys(['show', 'nothing'])).stderr,
    })
    expect(await asked(['list'], twoKey)).toEqual({
      code: 1,
      stdout: '',
      stderr: `The server at ${twoKey.at} does not run key-store: use the URL of a server that does, with its path\n`,
    })
  })

  test('does not send the token to the target of a redirect', async () => {
    const seen: (string | undefined)[] = []
    const thief = createServer((request, response) => {
      seen.push(request.headers.authorization)
      if (request.url?.startsWith('/key-store')) response.writeHead(302, { location: '/stolen' })
      response.end()
    }).listen(0, '127.0.0.1')
    await once(thief, 'listening')
    const { port } = thief.address() as AddressInfo
    const { code } = await inProcess(['keys', 'list', '--server', `http://127.0.0.1:${port}`], {
      cwd: elsewhere,
      env: { STRONGROOM_TOKEN: token },
    })
    expect([code, seen.length]).toEqual([1, 1])
    thief.close()
  })
})
