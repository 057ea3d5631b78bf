import { execFile } from 'node:child_process'
import { chmod, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { links } from '../../sealed/test/crypto/vectors.ts'
import { inProcess } from './in-process.ts'
import { sealedServer } from './sealed-server.ts'
import { emptyDirectory, launcher, strongroom } from './strongroom.ts'

interface Created {
  requestLink: string
  ownLink: string
  fingerprint: string
  expiresAt: number
}

async function newRequest(url: string, args: string[] = [], env = {}): Promise<Created> {
  const argv = ['request', '--json', '--server', url, ...args]
  const { code, stdout, stderr } = await inProcess(argv, { env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as Created
}

async function fileWith(bytes: Uint8Array | string, name = 'a.key') {
  const path = join(await emptyDirectory(), name)
  await writeFile(path, bytes)
  return path
}

const fill = async (link: string, args: string[] = []) =>
  inProcess(['fill', link, '--file', await fileWith('sent'), ...args])

describe('strongroom request, fill and open', () => {
  test('a text goes from the sender to the requester, once, and the server sees neither key nor text', async () => {
    const { url, requests: seen } = await sealedServer()
    const created = await strongroom(['request', '--server', url], { stdin: '' })
    const [requestLink = '', ownLink = '', ...rest] = created.stdout.split('\n')
    expect([created.code, rest]).toEqual([0, ['']])
    const notFilled = {
      code: 3,
      stdout: '',
      stderr:
        'The request was not filled in yet, or its secret was already opened, was burned or has expired.\n',
    }
    expect(await inProcess(['open', ownLink])).toEqual(notFilled)
    const filled = await strongroom(['fill', requestLink], { stdin: 'hunter2\n' })
    expect(filled.code).toBe(0)
    expect(filled.stdout).toMatch(new RegExp(`^${url}/sealed/#m:[\\w-]{22}:[0-9a-f]{32}\n$`))
    expect(filled.stderr).toMatch(/^Fingerprint of the request.*(?: [0-9a-f]{4}){5}\n$/)
    expect(await strongroom(['open'], { stdin: ownLink })).toEqual({
      code: 0,
      stdout: 'hunter2\n',
      stderr: '',
    })
    expect(await inProcess(['open', ownLink])).toEqual(notFilled)
    const sent = JSON.stringify(seen)
    const keys = [ownLink, requestLink].map((link) => link.split(':').at(-1) ?? '')
    const fragment = requestLink.split(':').at(-2) ?? ''
    expect(['hunter2', keys[0], fragment].filter((each) => sent.includes(each ?? ''))).toEqual([])
  })

  test('a file goes through a request with its name', async () => {
    const { url } = await sealedServer()
    const { requestLink, ownLink } = await newRequest(url, ['--ttl', '2h'])
    const bytes = Uint8Array.of(0, 255, 10)
    const path = await fileWith(bytes, 'server.p12')
    // The link on standard input, the secret in the file.
    const filled = await strongroom(['fill', '--file', path, '--receipt'], { stdin: requestLink })
    expect(filled.code).toBe(0)
    const { stdout } = await strongroom(['open', '--json'], { stdin: ownLink })
    expect(JSON.parse(stdout)).toMatchObject({
      name: 'server.p12',
      base64: Buffer.from(bytes).toString('base64'),
    })
    const receipt = await inProcess(['receipt', filled.stdout.trim()])
    expect(receipt.stdout).toMatch(/^viewed: /)
  })

  test.runIf(process.platform === 'linux' && process.geteuid?.() !== 0)(
    'on a terminal, the own link uses no view where a file could not be saved',
    async () => {
      const { url } = await sealedServer()
      const { requestLink, ownLink } = await newRequest(url)
      await fill(requestLink)
      const cwd = await emptyDirectory()
      await chmod(cwd, 0o500)
      const command = `${process.execPath} ${launcher} open '${ownLink}'`
      const ended = promisify(execFile)('script', ['-qec', command, '/dev/null'], { cwd })
      await expect(ended).rejects.toMatchObject({
        code: 2,
        stdout: expect.stringContaining('The current directory cannot be written'),
      })
      expect((await strongroom(['open'], { stdin: ownLink })).stdout).toBe('sent')
    },
  )

  test.runIf(process.platform === 'linux')(
    'on a terminal, the own link saves a file and prints a text',
    async () => {
      const { url } = await sealedServer()
      const cwd = await emptyDirectory()
      const open = async (link: string) => {
        const command = `${process.execPath} ${launcher} open '${link}'`
        const run = await promisify(execFile)('script', ['-qec', command, '/dev/null'], { cwd })
        return run.stdout.trim()
      }
      const [first, second] = [await newRequest(url), await newRequest(url)]
      await fill(first.requestLink)
      expect(await open(first.ownLink)).toBe('Saved to a.key')
      await strongroom(['fill', second.requestLink], { stdin: 'a text' })
      expect(await open(second.ownLink)).toBe('a text')
      expect(await readdir(cwd)).toEqual(['a.key'])
    },
  )

  test('a second submission is refused, and so is everything that the request link could be used for', async () => {
    const { url } = await sealedServer()
    const { requestLink, ownLink, fingerprint } = await newRequest(url)
    const first = await fill(requestLink, ['--json'])
    expect(JSON.parse(first.stdout)).toMatchObject({ fingerprint })
    expect(await fill(requestLink)).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(
        /This request was already used or withdrawn\. If you did not fill it in, tell the requester\.\n$/,
      ),
    })
    expect(await inProcess(['open', requestLink])).toMatchObject({
      code: 2,
      stderr: 'This link asks for a secret. Use "strongroom fill", or open it in a browser.\n',
    })
    expect((await inProcess(['burn', requestLink])).code).toBe(2)
    expect(await inProcess(['fill', ownLink, '--file', 'x'])).toMatchObject({
      code: 2,
      stderr: 'This is not a request link. Use the link that you were sent.\n',
    })
  })

  test('the sender can burn what was sent', async () => {
    const { url } = await sealedServer()
    const { requestLink, ownLink } = await newRequest(url)
    const filled = await fill(requestLink)
    await inProcess(['burn', filled.stdout.trim()])
    expect((await inProcess(['open', ownLink])).code).toBe(3)
  })

  test('a lost response to the sender is repeated and not mistaken for theft', async () => {
    const server = await sealedServer()
    const { requestLink, ownLink } = await newRequest(server.url)
    const id = ownLink.split('#')[1]?.slice(0, 22) ?? ''
    server.loses = `/requests/${id}`
    expect((await fill(requestLink)).code).toBe(0)
    expect((await strongroom(['open'], { stdin: ownLink })).stdout).toBe('sent')
  })

  test('an API token that is refused is reported, and nothing else is requested', async () => {
    const { url, requests: seen } = await sealedServer({ settings: { SEALED_DIFFICULTY: '24' } })
    const refused = await inProcess(['request', '--server', url], {
      env: { SEALED_TOKEN: 'srs_wrong.x' },
    })
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('API token') })
    expect(seen.map(({ call }) => call)).toEqual(['POST /sealed/v1/requests'])
  })

  test('a server that leaves requests to API tokens says so', async () => {
    const { url } = await sealedServer({ settings: { SEALED_REQUESTS: 'api-token' } })
    expect(await inProcess(['request', '--server', url])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'This server makes requests only with an API token: set SEALED_TOKEN.\n',
    })
  })

  test('a server without requests says so', async () => {
    const { url } = await sealedServer({ settings: { SEALED_REQUESTS: 'off' } })
    expect(await inProcess(['request', '--server', url])).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'Sealed was not found at this URL, or its requests are turned off. Use the URL of its page.\n',
    })
  })
})

describe('an invalid command line of a request is rejected in one line before any request', () => {
  const requestLink = links.valid.find(({ kind }) => kind === 'request')?.link ?? ''

  test.each([
    [['request', '--ttl', '1h'], '--ttl must be from 2h to 7d, such as 2h, 1d or 7d'],
    [['request', '--ttl', '8d'], '--ttl must be from 2h to 7d, such as 2h, 1d or 7d'],
    [['fill'], 'Standard input cannot contain both the link and the secret: use --file'],
    [['fill', '-'], 'Standard input cannot contain both the link and the secret: use --file'],
    [
      ['fill', requestLink, '--ttl', '7d'],
      '--ttl must last until five minutes after the end of the request, 2100-01-01 00:05 UTC',
    ],
  ])('%s', async (argv, message) => {
    expect(await inProcess(argv)).toEqual({ code: 2, stdout: '', stderr: `${message}\n` })
  })

  test('an expired request is recognised by its token', async () => {
    const [base = '', target = ''] = requestLink.split('#')
    const [, id = '', fragment = ''] = target.split(':')
    const claims = Buffer.from(JSON.stringify({ jti: id, exp: 1 })).toString('base64url')
    const expired = `${base}#r:${id}:${fragment}:x.${claims}.x`
    expect(await inProcess(['fill', expired, '--file', 'x'])).toEqual({
      code: 3,
      stdout: '',
      stderr: 'This request has expired. Ask for a new one.\n',
    })
  })
})
