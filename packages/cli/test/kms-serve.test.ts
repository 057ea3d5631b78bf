import { once } from 'node:events'
import { mkdir, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { DecryptCommand, EncryptCommand, KMSClient } from '@aws-sdk/client-kms'
import { afterEach, describe, expect, inject, test } from 'vitest'
import { inProcess } from './in-process.ts'
import { withoutNotices } from './notices.ts'
import { emptyDirectory, type Running, start } from './strongroom.ts'

const credentials = { AWS_ACCESS_KEY_ID: 'AKIDTEST', AWS_SECRET_ACCESS_KEY: 'test-secret' }

describe('strongroom kms serve', () => {
  const running: Running[] = []
  afterEach(() => {
    for (const each of running.splice(0)) each.process.kill('SIGKILL')
  })

  async function served(cwd: string, args = ['--port', '0']) {
    const server = start(['kms', 'serve', ...args], { cwd, env: credentials })
    running.push(server)
    const printed = await server.until('Press Ctrl+C to stop')
    const [, endpoint = ''] = /KMS_ENDPOINT=(\S+)/.exec(printed) ?? []
    const [, arn = ''] = /KMS_KEY_ARN=(\S+)/.exec(printed) ?? []
    const stop = async () => {
      server.process.kill('SIGTERM')
      return server.finished
    }
    return { endpoint, arn, stop }
  }

  function client(endpoint: string, secretAccessKey: string) {
    return new KMSClient({
      endpoint,
      region: 'local',
      credentials: { accessKeyId: credentials.AWS_ACCESS_KEY_ID, secretAccessKey },
      maxAttempts: 1,
    })
  }

  test('serves any AWS SDK with its credentials, also after a restart', async () => {
    const cwd = await emptyDirectory()
    const first = await served(cwd)
    const kms = client(first.endpoint, credentials.AWS_SECRET_ACCESS_KEY)
    const encrypted = await kms.send(
      new EncryptCommand({ KeyId: first.arn, Plaintext: Buffer.from('hello') }),
    )
    const stranger = client(first.endpoint, 'another')
    await expect(
      stranger.send(new DecryptCommand({ CiphertextBlob: encrypted.CiphertextBlob })),
    ).rejects.toMatchObject({ name: expect.stringContaining('Signature') })
    for (const each of [kms, stranger]) each.destroy()
    expect((await first.stop()).code).toBe(0)

    const second = await served(cwd)
    expect(second.arn).toBe(first.arn)
    const again = client(second.endpoint, credentials.AWS_SECRET_ACCESS_KEY)
    const { Plaintext = new Uint8Array() } = await again.send(
      new DecryptCommand({ CiphertextBlob: encrypted.CiphertextBlob }),
    )
    again.destroy()
    expect(Buffer.from(Plaintext).toString()).toBe('hello')
  })

  test.skipIf(process.platform === 'win32')('listens on a socket too', async () => {
    const cwd = await emptyDirectory()
    const { arn } = await served(cwd, ['--socket', 'kms.sock'])
    expect(arn).toMatch(/^arn:/)
    const asking = request({ socketPath: join(cwd, 'kms.sock'), method: 'POST', path: '/' }).end()
    const [answer] = await once(asking, 'response')
    expect(await json(answer)).toMatchObject({ __type: expect.any(String) })
  })

  test('tells clients only that it is unavailable, and its operator which file is the cause', async () => {
    const cwd = await emptyDirectory()
    const { endpoint, arn, stop } = await served(cwd)
    const log = join(cwd, 'data', 'keys', 'kms-audit.log')
    await rm(log)
    await mkdir(log)
    const kms = client(endpoint, credentials.AWS_SECRET_ACCESS_KEY)
    await expect(
      kms.send(new EncryptCommand({ KeyId: arn, Plaintext: Buffer.from('hello') })),
    ).rejects.toMatchObject({
      name: 'KMSInternalException',
      message: 'The KMS cannot answer now: try again later',
    })
    kms.destroy()
    expect((await stop()).stderr).toContain(`Cannot write the audit log "${log}": EISDIR`)
  })

  test('requires credentials and a valid port or socket', async () => {
    const cwd = await emptyDirectory()
    const run = async (args: string[], env = {}) => {
      const { code, stderr } = await inProcess(['kms', 'serve', ...args], { cwd, env })
      return [code, withoutNotices(stderr)]
    }
    expect(await run([])).toEqual([
      2,
      'Requests must be signed: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY here and in the clients\n',
    ])
    expect(await run(['--port', 'x'])).toEqual([
      2,
      '--port must be a whole number from 0 to 65535\n',
    ])
    expect(await run(['--port', '1', '--socket', 'x'])).toEqual([
      2,
      'Use either --port or --socket, not both\n',
    ])
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    expect(await run(['--port', String(port)], credentials)).toEqual([
      1,
      `Port ${port} of 127.0.0.1 is in use: stop what uses it, or choose another port\n`,
    ])
    other.close()
    expect(await run(['--socket', 'nowhere/kms.sock'], credentials)).toEqual([
      1,
      expect.stringMatching(/^Cannot listen on "nowhere\/kms.sock": .*\n$/),
    ])
  })

  const shares = process.env['SLOW'] && inject('dynamodbLocal')
  test.runIf(shares)('lets a server run on a store that is shared', async () => {
    const cwd = await emptyDirectory()
    const shared = {
      DYNAMODB_ENDPOINT: inject('dynamodbLocal') ?? '',
      STRONGROOM_TABLE_PREFIX: `kms${process.pid}-`,
      PORT: '0',
    }
    await inProcess(['tables', 'create'], { cwd, env: shared })
    const { endpoint, arn } = await served(cwd)
    const env = { ...shared, ...credentials, KMS_ENDPOINT: endpoint, KMS_KEY_ARN: arn }
    const server = start(['serve'], { cwd, env })
    running.push(server)
    const printed = await server.until('Press Ctrl+C to stop')
    expect(printed).toContain(`KMS         KMS endpoint, ${endpoint}\n`)
    const [url = ''] = /http:\/\/\S+/.exec(printed) ?? []
    expect(await (await fetch(`${url}/readyz`)).json()).toEqual({
      status: 'ready',
      keyCacheSeconds: 300,
    })
  })
})
