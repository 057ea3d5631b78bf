// An empty server: reads each request and responds with as many bytes as the engine would. Shows the
// minimum cost of an HTTP server in Node. Usage: <port>.

import { createServer } from 'node:http'
import { keyOf, orderOf } from '../data.ts'
import { attributes } from '../systems/sdk.ts'

const item = attributes(orderOf(keyOf(0)))
const items = Array.from({ length: 25 }, () => item)
const answers: Record<string, Buffer> = {
  GetItem: Buffer.from(JSON.stringify({ Item: item })),
  Query: Buffer.from(JSON.stringify({ Items: items, Count: 25, ScannedCount: 25 })),
}
const nothing = Buffer.from('{}')

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? ''
    const body = answers[operation] ?? nothing
    response.writeHead(200, {
      'content-type': 'application/x-amz-json-1.0',
      'content-length': body.length,
      'x-amzn-requestid': '00000000-0000-0000-0000-000000000000',
      'x-amz-crc32': '0000000000',
    })
    response.end(body)
  })
})
server.listen(Number(process.argv[2]), '127.0.0.1')
process.once('SIGTERM', () => process.exit(0))
