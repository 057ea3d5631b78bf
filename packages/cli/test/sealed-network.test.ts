import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { files, requests, secretNamed } from '../../sealed/test/crypto/vectors.ts'
import { sealByReference } from '../../sealed/test/crypto/reference.ts'
import { inProcess } from './in-process.ts'
import { type SealedServer, sealedServer } from './sealed-server.ts'
import { emptyDirectory, start, strongroom } from './strongroom.ts'

/** A file with something to seal. */
async function secretFile(text = 'hunter2') {
  const file = join(await emptyDirectory(), 'secret.txt')
  await writeFile(file, text)
  return file
}

async function seal({ url }: SealedServer) {
  const { stdout } = await inProcess(['seal', '--server', url, '--file', await secretFile()])
  const [link = '', managementLink = ''] = stdout.split('\n')
  return { link, managementLink }
}

const open = (link: string, more: string[] = []) => strongroom(['open', ...more], { stdin: link })

describe('the commands of Sealed over the network', () => {
  test('a lost response is requested again with the same claim and uses up one view', async () => {
    const server = await sealedServer()
    const { link } = await seal(server)
    server.loses = '/reveal'
    expect(await open(link)).toEqual({
      code: 0,
      stdout: 'hunter2',
      stderr: 'The response was lost: retrying\n',
    })
    const reveals = server.requests.filter(({ call }) => call.endsWith('/reveal'))
    expect(reveals).toHaveLength(2)
    expect(reveals[0]).toEqual(reveals[1])
  })

  test('a secret is acknowledged only after it was written', async () => {
    const server = await sealedServer()
    const { link } = await seal(server)
    const running = start(['open'], { stdin: link })
    running.process.stdout?.destroy()
    const { code, stderr } = await running.finished
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'Cannot write the secret to standard output (EPIPE): this view is lost\n',
    })
    expect(server.requests.at(-1)?.call).toMatch(/\/reveal$/)
  })

  test('a lost acknowledgement is not a failure', async () => {
    const server = await sealedServer()
    const { link } = await seal(server)
    server.loses = '/ack'
    // As a mail program shows it, too.
    expect(await open(`<${link}>.\n`)).toEqual({ code: 0, stdout: 'hunter2', stderr: '' })
  })

  test('a short Retry-After is waited for, a long one is reported', async () => {
    const server = await sealedServer()
    const busy = (seconds: string) => () =>
      new Response('{}', { status: 429, headers: { 'retry-after': seconds } })
    server.intercept = busy('1')
    const sealing = ['seal', '--server', server.url, '--file', await secretFile()]
    const waited = await inProcess(sealing)
    expect(waited.stderr).toBe('Rate limited: retrying in 1 second\n')
    expect(waited.code).toBe(0)
    server.intercept = busy('3600')
    expect(await inProcess(sealing)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Too many requests. Try again in 3600 seconds.\n',
    })
  })

  test('a redirect is not followed', async () => {
    const [server, other] = [await sealedServer(), await sealedServer()]
    const { link, managementLink } = await seal(server)
    const elsewhere = () => Response.redirect(`${other.url}/sealed/v1/token`, 307)
    const commands = [
      ['seal', '--server', server.url, '--file', await secretFile()],
      ['open', link],
      ['burn', managementLink],
    ]
    for (const args of commands) {
      server.intercept = elsewhere
      expect(await inProcess(args)).toEqual({
        code: 1,
        stdout: '',
        stderr: 'The server redirects to another URL. Use that URL.\n',
      })
    }
    expect(other.requests).toEqual([])
  })

  test('plain http to another machine requires --insecure', async () => {
    const server = await sealedServer()
    // Leads here, but a program cannot know that.
    const far = server.url.replace('127.0.0.1', '0.0.0.0')
    const { link, managementLink } = await seal(server)
    server.requests.length = 0
    const sealing = ['seal', '--server', far, '--file', await secretFile()]
    const commands = [
      sealing,
      ['open', link.replace('127.0.0.1', '0.0.0.0')],
      ['burn', managementLink.replace('127.0.0.1', '0.0.0.0')],
    ]
    for (const args of commands) {
      const { code, stderr } = await inProcess(args)
      expect(code).toBe(2)
      expect(stderr).toMatch(/^Plain http can be intercepted: .+--insecure.+\n$/)
    }
    expect(server.requests).toEqual([])
    const insecure = await inProcess([...sealing, '--insecure'])
    expect(insecure.code).toBe(0)
  })

  test('a server without Sealed and an unreachable server are reported in one line', async () => {
    const other = createServer((_, response) => void response.end('<html>')).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    const sealing = ['seal', '--server', url, '--file', await secretFile()]
    expect(await inProcess(sealing)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Sealed was not found at this URL. Use the URL of its page.\n',
    })
    other.closeAllConnections()
    await new Promise((resolve) => other.close(resolve))
    expect(await inProcess(sealing)).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'Cannot reach the server. Check that it is running, its URL, its certificate and the network.\n',
    })
  })
})

describe('the vectors open on the command line', () => {
  /** Opens a link at a server that reveals this, and returns what was asked of it. */
  async function openAt(target: string, revealed: object, env: Record<string, string> = {}) {
    const asked: unknown[] = []
    const answer = { salt: null, passphraseProtected: false, remainingViews: 0, graceSeconds: 30 }
    const server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => {
          asked.push([request.url, JSON.parse(Buffer.concat(chunks).toString())])
          response.end(JSON.stringify({ ...answer, ...revealed }))
        })
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const stdin = `http://127.0.0.1:${port}/#${target}`
    return { opened: await strongroom(['open'], { stdin, env }), asked }
  }

  const claim = expect.stringMatching(/^[0-9a-f]{32}$/)
  const callsOf = (id: string, { link, proof }: { link: string; proof: string }) => [
    [`/v1/secrets/${id}/reveal`, { link, proof, claim }],
    [`/v1/secrets/${id}/ack`, { claim }],
  ]

  test.each([
    'a password with the newline of echo',
    'whitespace, CRLF, NUL and a byte order mark',
    'the largest text, in four-byte characters',
    'a passphrase that is not in NFC',
  ])('%s', async (name) => {
    const vector = secretNamed(name)
    const { id, text, passphrase, expected } = vector
    const { body } = sealByReference({ ...vector, content: text })
    const env = passphrase === null ? undefined : { STRONGROOM_PASSPHRASE: passphrase }
    const { opened, asked } = await openAt(`${id}:${expected.fragment}`, body, env)
    expect(opened).toEqual({ code: 0, stdout: text, stderr: '' })
    expect(asked).toEqual(callsOf(id, expected))
  })

  test('a .env with a passphrase', async () => {
    const vector = files.find(({ name }) => name === 'a .env with a passphrase')
    const { id = '', expected } = vector ?? {}
    const env = { STRONGROOM_PASSPHRASE: vector?.passphrase ?? '' }
    const { opened, asked } = await openAt(`${id}:${expected?.fragment}`, expected?.body ?? {}, env)
    expect(opened).toEqual({ code: 0, stdout: 'API_KEY=hunter2\n', stderr: '' })
    expect(asked).toEqual(callsOf(id, expected ?? { link: '', proof: '' }))
  })

  test('a text in a request', async () => {
    const [vector] = requests
    if (!vector) throw new Error('There is no vector')
    const { opened, asked } = await openAt(vector.expected.own, vector.expected.body)
    expect(opened).toEqual({ code: 0, stdout: vector.content, stderr: '' })
    expect(asked).toEqual(callsOf(vector.id, vector.expected))
  })
})
