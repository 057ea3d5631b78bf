/** A server with two tables, raw requests to it, and what every answer must look like. */
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { expect, onTestFinished } from 'vitest'
import { type DynamoServer, serve } from '../../src/wire/server.ts'
import { freshEngine, notes, plain } from './engine.ts'

export async function freshServer() {
  const engine = await freshEngine()
  await engine.createTable(plain)
  await engine.createTable(notes)
  await engine.putItem({ TableName: 'plain', Item: { id: 'a', list: [1, 2], map: { x: 1 } } })
  const server = await serve(engine)
  const agent = new Agent({ keepAlive: true })
  onTestFinished(async () => {
    agent.destroy()
    await server.close()
  })
  return { engine, server, agent }
}

export interface Answer {
  status: number
  body: object
}

export async function send(
  server: DynamoServer,
  agent: Agent,
  operation: string | { target: string },
  body: string | Buffer,
): Promise<Answer> {
  const outgoing = request({
    host: server.host,
    port: server.port,
    method: 'POST',
    agent,
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target':
        typeof operation === 'string' ? `DynamoDB_20120810.${operation}` : operation.target,
      'content-length': Buffer.byteLength(body),
    },
  })
  outgoing.end(body)
  const [response] = await once(outgoing, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return { status: response.statusCode, body: JSON.parse(Buffer.concat(chunks).toString()) }
}

/** Whatever was sent, the answer is a result or a failure in AWS's form, never a defect. */
export function expectAwsShaped({ status, body }: Answer): void {
  if (status === 200) return
  expect({ status, ...body }).toMatchObject({
    status: expect.toSatisfy((code: number) => code >= 400 && code < 500),
    __type: expect.stringMatching(/^com\.amazon(aws)?\.[\w.]+#\w+$/),
  })
}
