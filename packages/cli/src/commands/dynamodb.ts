/** `strongroom dynamodb`: the engine alone, for any program that speaks DynamoDB's protocol. */
import { resolve } from 'node:path'
import { openEngine } from '@strongroom/engine/engine'
import { serve } from '@strongroom/engine/protocol'
import { port as portType } from '@strongroom/kit/config-types'
import { listenFailure } from '@strongroom/server/listen'
import { type Command, UsageError } from '../command.ts'
import { stopSignal } from '../stop-signal.ts'

const DEFAULT_PORT = '8000'

export const dynamodb: Command = {
  name: 'dynamodb',
  summary: 'Run the embedded engine as a DynamoDB of its own, over HTTP',
  options: {
    port: { value: 'PORT', summary: `The port to listen on (${DEFAULT_PORT})` },
    host: { value: 'HOST', summary: 'The loopback address to listen on (127.0.0.1)' },
    data: { value: 'DIR', summary: 'Where to keep the data (./dynamodb-data)' },
  },
  about: `Point any AWS SDK, the AWS CLI or a DynamoDB tool at it:
  aws dynamodb list-tables --endpoint-url http://127.0.0.1:${DEFAULT_PORT}
Any region and any credentials will do. Only this machine reaches it.`,
  async run({ options, output }) {
    const port = portType().parse(String(options['port'] ?? DEFAULT_PORT))
    if (port === undefined) throw new UsageError(`--port must be ${portType().expects}`)
    const directory = resolve(String(options['data'] ?? './dynamodb-data'))
    const stopped = stopSignal()
    const engine = await openEngine({ directory })
    try {
      const host = String(options['host'] ?? '127.0.0.1')
      const server = await serve(engine, { host, port }).catch((error: NodeJS.ErrnoException) => {
        throw error.code ? listenFailure(error, host, port) : new UsageError(error.message)
      })
      output.result(
        `\nDynamoDB on ${server.url}\n\n  Data    ${directory}\n  Try     aws dynamodb list-tables --endpoint-url ${server.url}\n\nPress Ctrl+C to stop.\n`,
        { url: server.url, data: directory },
      )
      await stopped
      output.progress('Stopping: finishing what is running')
      await server.close()
    } finally {
      await engine.close()
    }
  },
}
