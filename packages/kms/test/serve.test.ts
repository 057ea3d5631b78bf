import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serveKms } from '../src/serve.ts'
import { freshDirectory, freshKms } from './support/kms.ts'
import {
  credentials,
  freshServer,
  type RawRequest,
  send,
  sendBytes,
  signed,
} from './support/serve.ts'

const target = (name: string) => `TrentService.${name}`

describe('a response', () => {
  test('has bytes in base64 and dates in seconds', async () => {
    const { server, arn } = await freshServer()
    const call = async (name: string, body: object) =>
      (await send(server, await signed(server, target(name), JSON.stringify(body)))).body
    expect(await call('DescribeKey', { KeyId: arn })).toMatchObject({
      KeyMetadata: { Arn: arn, CreationDate: Date.parse('2100-01-01T00:00:00Z') / 1000 },
    })
    const { CiphertextBlob } = await call('Encrypt', { KeyId: arn, Plaintext: 'c2VjcmV0' })
    expect(CiphertextBlob).toMatch(/^[A-Za-z0-9+/]+={0,2}$/)
    expect(await call('Decrypt', { CiphertextBlob })).toMatchObject({ Plaintext: 'c2VjcmV0' })
  })

  test.each([
    ['', 'SerializationException'],
    ['{', 'SerializationException'],
    ['null', 'SerializationException'],
    ['[]', 'SerializationException'],
    ['"x"', 'SerializationException'],
    ['{"Plaintext":"***","KeyId":"x"}', 'SerializationException'],
    ['{"Plaintext":5,"KeyId":"x"}', 'SerializationException'],
    ['{"Plaintext":"AAAA"}', 'ValidationException'],
    ['{"Plaintext":"AAAA","KeyId":{}}', 'ValidationException'],
    ['{"Plaintext":"AAAA","KeyId":"alias/x"}', 'NotFoundException'],
    ['['.repeat(100_000), 'SerializationException'],
  ])('to the body %j says what is wrong', async (body, name) => {
    const { server } = await freshServer()
    const answer = await send(server, await signed(server, target('Encrypt'), body))
    expect(answer).toMatchObject({
      status: 400,
      body: { __type: name, message: expect.stringMatching(/^\w.*[^.]$/) },
    })
  })

  test("to an unknown operation has AWS's error", async () => {
    const { server } = await freshServer()
    for (const name of ['TrentService.MakeCoffee', 'TrentService.', 'ListKeys', 'x.ListKeys']) {
      const answer = await send(server, await signed(server, name, '{}'))
      expect(answer).toMatchObject({ status: 400, body: { __type: 'UnknownOperationException' } })
    }
    const getting = await send(server, { method: 'GET', headers: {} })
    expect(getting).toMatchObject({ status: 404, body: { __type: 'UnknownOperationException' } })
    const request = await signed(server, target('ListKeys'), '{}')
    expect(await send(server, { ...request, path: '/?x=1' })).toMatchObject({ status: 404 })
  })

  test('to a defect has status 500, and the text of the defect stays inside', async () => {
    const { kms } = await freshKms()
    const broken = { ...kms, as: () => broken, listKeys: () => Promise.reject(new Error('detail')) }
    const reported: unknown[] = []
    const onFailure = (error: unknown) => void reported.push(error)
    const server = await serveKms(broken, { port: 0, credentials: [credentials], onFailure })
    onTestFinished(() => server.close())
    const answer = await send(server, await signed(server, target('ListKeys'), '{}'))
    expect(answer).toMatchObject({ status: 500, body: { __type: 'KMSInternalException' } })
    expect(JSON.stringify(answer.body)).not.toContain('detail')
    expect(reported).toEqual([new Error('detail')])
  })

  test('to a body that is too large is an error, even if it is signed', async () => {
    const { server } = await freshServer()
    const body = JSON.stringify({ Description: 'x'.repeat(256 * 1024) })
    const answer = await send(server, await signed(server, target('CreateKey'), body))
    expect(answer).toMatchObject({
      status: 413,
      body: { __type: 'RequestEntityTooLargeException' },
    })
  })

  test('fits the largest request that KMS allows', async () => {
    const { server, arn } = await freshServer()
    const body = JSON.stringify({
      KeyId: arn,
      Plaintext: Buffer.alloc(4096).toString('base64'),
      GrantTokens: Array.from({ length: 10 }, () => 'x'.repeat(8192)),
    })
    expect(await send(server, await signed(server, target('Encrypt'), body))).toMatchObject({
      status: 200,
    })
  })
})

describe('whatever is sent, the server stays up', () => {
  test('signed bodies of any JSON, to every operation', async () => {
    const { server, arn } = await freshServer()
    const operation = fc.constantFrom('Encrypt', 'Decrypt', 'ReEncrypt', 'GenerateDataKey')
    const other = fc.constantFrom('CreateKey', 'ListKeys', 'DescribeKey', 'ScheduleKeyDeletion')
    const member = fc.oneof(fc.jsonValue(), fc.constant(arn), fc.base64String())
    const request = fc.record(
      {
        KeyId: member,
        Plaintext: member,
        CiphertextBlob: member,
        EncryptionContext: member,
        GrantTokens: member,
        NumberOfBytes: member,
        DestinationKeyId: member,
        Limit: member,
        Description: member,
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(operation, other),
        fc.oneof(request, fc.jsonValue()),
        async (name, body) => {
          const text = JSON.stringify(body)
          const { status } = await send(server, await signed(server, target(name), text))
          expect([200, 400]).toContain(status)
        },
      ),
      { numRuns: 150 },
    )
  })

  test('bytes that are no HTTP', async () => {
    const { server } = await freshServer()
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 300 }), async (garbage) => {
        const bytes = Buffer.concat([garbage, Buffer.from('\r\n\r\n')])
        expect(await sendBytes(server, bytes)).toMatch(/^(HTTP\/1\.1 4\d\d |$)/)
      }),
      { numRuns: 50 },
    )
    expect(await send(server, await signed(server, target('ListKeys'), '{}'))).toMatchObject({
      status: 200,
    })
  })

  test('Authorization headers of any kind', async () => {
    const { server } = await freshServer()
    const right = await signed(server, target('ListKeys'), '{}')
    const value = right.headers['authorization'] ?? ''
    await fc.assert(
      fc.asyncProperty(
        fc.nat(value.length - 1),
        fc.constantFrom('', ' ', ',', ';', '/', '=', 'x', '0'),
        async (index, replacement) => {
          const authorization = `${value.slice(0, index)}${replacement}${value.slice(index + 1)}`
          // A space after a comma may be left out.
          fc.pre(authorization.replaceAll(', ', ',') !== value.replaceAll(', ', ','))
          const answer = await send(server, {
            ...right,
            headers: { ...right.headers, authorization },
          })
          expect(answer.status).toBe(403)
        },
      ),
      { numRuns: 100 },
    )
  })

  test('a request that never arrives whole', async () => {
    const { server } = await freshServer({ requestTimeoutMs: 50 })
    const request = written(await signed(server, target('ListKeys'), '{}'))
    const answer = await sendBytes(server, request.slice(0, -1))
    expect(answer).toMatch(/^HTTP\/1\.1 408 /)
    expect(answer).toContain('RequestTimeoutException')
  })
})

describe('the server', () => {
  test('listens on this machine only', async () => {
    const { server } = await freshServer()
    const socket = connect(server.port ?? 0, '127.0.0.1')
    await once(socket, 'connect')
    expect(socket.remoteAddress).toBe('127.0.0.1')
    socket.destroy()
  })

  test('is not started without credentials, or with some that are not safe', async () => {
    const { kms } = await freshKms()
    const start = (given: (typeof credentials)[]) => serveKms(kms, { port: 0, credentials: given })
    await expect(start([])).rejects.toThrow('Credentials must')
    await expect(start([{ ...credentials, secretAccessKey: '' }])).rejects.toThrow(
      'Credentials must',
    )
    await expect(start([{ ...credentials, accessKeyId: '' }])).rejects.toThrow('Credentials must')
    await expect(start([credentials, credentials])).rejects.toThrow('Credentials must')
  })

  test('reports a port that is in use', async () => {
    const { server, kms } = await freshServer()
    const second = serveKms(kms, { port: server.port ?? 0, credentials: [credentials] })
    await expect(second).rejects.toThrow('EADDRINUSE')
  })

  test('responds to a client that half-closes the connection after its request', async () => {
    const { server } = await freshServer()
    const socket = connect(server.port ?? 0, '127.0.0.1').setEncoding('utf8')
    socket.end(written(await signed(server, target('CreateKey'), '{}')))
    let received = ''
    for await (const part of socket) received += String(part)
    expect(received).toContain('"KeyMetadata"')
  })

  test('responds to a request on its way on an idle connection while it closes, and announces that it is the last', async () => {
    const { server } = await freshServer()
    const request = written(await signed(server, target('ListKeys'), '{}'))
    const socket = connect(server.port ?? 0, '127.0.0.1').setEncoding('utf8')
    const ended = once(socket, 'close')
    socket.write(request)
    expect(String(await once(socket, 'data'))).toMatch(/connection: keep-alive[^]*"Keys"/i)
    const closed = server.close()
    socket.write(request)
    expect(String(await once(socket, 'data'))).toMatch(/connection: close[^]*"Keys"/i)
    await Promise.all([ended, closed])
  })

  test('finishes running requests before it closes', async () => {
    const { server } = await freshServer()
    const request = await signed(server, target('ListKeys'), '{}')
    const answering = send(server, request)
    expect(await answering).toMatchObject({ status: 200 })
    await server.close()
    await expect(send(server, request)).rejects.toThrow('ECONNREFUSED')
  })
})

describe('a socket', () => {
  const place = () => join(freshDirectory(), 'kms.sock')

  test('is open to its owner only, and gone after closing', async () => {
    const { kms } = await freshKms()
    const socketPath = place()
    const server = await serveKms(kms, { socketPath, credentials: [credentials] })
    expect(server.port).toBeUndefined()
    expect(statSync(socketPath).mode & 0o777).toBe(0o600)
    await server.close()
    expect(() => statSync(socketPath)).toThrow('ENOENT')
  })

  test('that somebody listens on is not taken away', async () => {
    const { kms } = await freshKms()
    const socketPath = place()
    const server = await serveKms(kms, { socketPath, credentials: [credentials] })
    onTestFinished(() => server.close())
    const second = serveKms(kms, { socketPath, credentials: [credentials] })
    await expect(second).rejects.toThrow('another process is listening there')
    expect(statSync(socketPath).isSocket()).toBe(true)
  })

  test('that a crash left behind is replaced', async () => {
    const { kms } = await freshKms()
    const socketPath = place()
    await abandoned(socketPath)
    expect(statSync(socketPath).isSocket()).toBe(true)
    const server = await serveKms(kms, { socketPath, credentials: [credentials] })
    onTestFinished(() => server.close())
    const socket = connect(socketPath)
    await once(socket, 'connect')
    socket.destroy()
  })

  test('does not replace another file', async () => {
    const { kms } = await freshKms()
    const socketPath = place()
    writeFileSync(socketPath, 'mine')
    const server = serveKms(kms, { socketPath, credentials: [credentials] })
    await expect(server).rejects.toThrow('a file with that name exists')
  })
})

/** As it goes over the wire. */
function written({ headers, body = '' }: RawRequest): string {
  const all = { ...headers, 'content-length': body.length }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${String(value)}\r\n`)
  return `POST / HTTP/1.1\r\n${lines.join('')}\r\n${String(body)}`
}

/** A socket whose process was killed. */
async function abandoned(socketPath: string): Promise<void> {
  const program = `require('node:net').createServer().listen(${JSON.stringify(socketPath)}, () => console.log('ready'))`
  const child = spawn(process.execPath, ['-e', program])
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
}
