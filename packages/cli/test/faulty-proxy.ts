/** A proxy in front of a DynamoDB or KMS endpoint that fails as the test decides. */
import { once } from 'node:events'
import { createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface FaultyProxy {
  url: string
  close(): void
}

/** `drop` forwards the request and loses its response; `refuse` closes the connection at once. */
export type Fault = 'drop' | 'refuse' | { error: string } | undefined

/** `decide` gets the name of the operation, such as `Scan`, and its body. */
export async function startFaultyProxy(
  to: string,
  decide: (operation: string, body: string) => Fault | Promise<Fault>,
): Promise<FaultyProxy> {
  const server = createServer((incoming, response) => {
    void handle().catch(() => incoming.socket.destroy())

    async function handle(): Promise<void> {
      const body = await buffer(incoming)
      const target = String(incoming.headers['x-amz-target'])
      const fault = await decide(target.split('.').at(-1) ?? '', body.toString())
      if (fault === 'refuse') return void incoming.socket.destroy()
      if (typeof fault === 'object') {
        response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' })
        return void response.end(JSON.stringify({ __type: fault.error, message: 'by the test' }))
      }
      const { method, url: path, headers } = incoming
      const forwarded = send(to, { method, path, headers }).end(body)
      const [answer] = await once(forwarded, 'response')
      const content = await buffer(answer)
      if (fault === 'drop') return void incoming.socket.destroy()
      response.writeHead(answer.statusCode, answer.headers)
      response.end(content)
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
