import { Sha256 } from '@aws-crypto/sha256-js'
import { SignatureV4 } from '@smithy/signature-v4'
import { once } from 'node:events'
import { Agent, request, type OutgoingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { onTestFinished } from 'vitest'
import { type KmsServer, serveKms, type ServeKmsOptions } from '../../src/serve.ts'
import { freshKms } from './kms.ts'

export const credentials = { accessKeyId: 'AKIDTEST', secretAccessKey: 'secret of the test' }

export async function freshServer(options: Partial<ServeKmsOptions> = {}) {
  const fresh = await freshKms()
  const server = await serveKms(fresh.kms, { port: 0, credentials: [credentials], ...options })
  onTestFinished(() => server.close())
  return { ...fresh, server }
}

export interface RawRequest {
  method?: string
  path?: string
  headers: OutgoingHttpHeaders
  body?: string | Uint8Array
}

interface SigningOptions {
  date?: Date
  service?: string
  secretAccessKey?: string
  accessKeyId?: string
  headers?: Record<string, string>
  unsignable?: string[]
}

/** A request signed like an AWS SDK does, at the time of the tests' clock. */
export async function signed(
  server: KmsServer,
  target: string,
  body: string,
  options: SigningOptions = {},
): Promise<RawRequest & { headers: Record<string, string> }> {
  const { date = new Date('2100-01-01T00:00:00Z'), service = 'kms', unsignable = [] } = options
  const signer = new SignatureV4({
    service,
    region: 'local',
    credentials: { ...credentials, ...options },
    sha256: Sha256,
    applyChecksum: options.headers?.['x-amz-content-sha256'] !== undefined,
  })
  const { headers } = await signer.sign(
    {
      method: 'POST',
      protocol: 'http:',
      hostname: '127.0.0.1',
      path: '/',
      headers: {
        host: `127.0.0.1:${server.port}`,
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': target,
        ...options.headers,
      },
      body,
    },
    { signingDate: date, unsignableHeaders: new Set(unsignable) },
  )
  return { headers, body }
}

/** Sends a raw HTTP request on a new connection. */
export async function send(
  server: KmsServer,
  { method = 'POST', path = '/', ...rest }: RawRequest,
) {
  const outgoing = request({
    host: '127.0.0.1',
    port: server.port,
    method,
    path,
    agent: new Agent(),
    headers: rest.headers,
  })
  outgoing.end(rest.body)
  const [response] = await once(outgoing, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  return {
    status: response.statusCode as number,
    headers: response.headers as Record<string, string>,
    body: JSON.parse(text) as Record<string, unknown>,
  }
}

/** What the server says to bytes that may be no request at all. */
export async function sendBytes(server: KmsServer, bytes: string | Uint8Array): Promise<string> {
  const socket = connect(server.port ?? 0, '127.0.0.1')
  socket.write(bytes)
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
