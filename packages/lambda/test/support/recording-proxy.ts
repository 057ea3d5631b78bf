/** Reports requests to DynamoDB or KMS, with the access key that signed them, then passes them on. */
import { once } from 'node:events'
import { Agent, createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface RecordingProxy {
  url: string
  close(): Promise<void>
}

export async function startRecordingProxy(
  to: string,
  report: (keyId: string, target: string, body: string) => Promise<void>,
): Promise<RecordingProxy> {
  const { hostname, port } = new URL(to)
  const agent = new Agent({ keepAlive: true })
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    const pass = async () => {
      const body = Buffer.concat(chunks)
      const [, keyId = ''] = /Credential=([^/]+)\//.exec(incoming.headers.authorization ?? '') ?? []
      await report(keyId, String(incoming.headers['x-amz-target']), body.toString())
      const { method = 'POST', url = '/', headers } = incoming
      const passed = httpRequest(
        { hostname, port, method, path: url, headers, agent },
        (response) => {
          outgoing.writeHead(response.statusCode ?? 502, response.headers)
          response.pipe(outgoing)
        },
      )
      passed.on('error', () => outgoing.destroy())
      passed.end(body)
    }
    incoming.on('end', () => void pass().catch(() => outgoing.destroy()))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      agent.destroy()
    },
  }
}
