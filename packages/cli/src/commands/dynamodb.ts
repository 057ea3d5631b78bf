/** `strongroom dynamodb`: the engine alone, for any DynamoDB client. */
import { resolve } from 'node:path'
import { openEngine } from '@strongroom/engine/engine'
import { hasData } from '@strongroom/engine/storage/lmdb/format'
import { isLoopback, serve } from '@strongroom/engine/wire/server'
import { port as portType } from '@strongroom/kit/config-types'
import { listenFailure } from '@strongroom/kit/http/node'
import { type Command, usageError } from '../command.ts'
import { reportConversion, reportCreated, signingCredentials } from '../store.ts'
import { stopSignal } from '../stop-signal.ts'

const DEFAULT_PORT = '8000'

const dynamodb: Command = {
  name: 'dynamodb',
  kind: 'store',
  creates: true,
  summary: 'Run the embedded engine as a DynamoDB server over HTTP',
  options: {
    port: { value: 'PORT', summary: `Port to listen on (${DEFAULT_PORT})` },
    host: { value: 'HOST', summary: 'Address to listen on (127.0.0.1)' },
    signed: {
      summary: 'Require requests to be signed with the AWS credentials of the environment',
    },
    data: { value: 'DIR', summary: 'Data directory (./dynamodb-data)' },
  },
  about: `Point any AWS SDK, the AWS CLI or a DynamoDB tool at it:
  export AWS_DEFAULT_REGION=local AWS_ACCESS_KEY_ID=any AWS_SECRET_ACCESS_KEY=any
  aws dynamodb list-tables --endpoint-url http://127.0.0.1:${DEFAULT_PORT}
Any region and credentials work, since it listens on this machine only. With --signed, and on an
address that other machines can reach, requests must be signed with AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY of its environment. They are not encrypted: put a TLS proxy in front.`,
  async run({ options, env, output }) {
    const port = portType().parse(String(options['port'] ?? DEFAULT_PORT))
    if (port === undefined) throw usageError(`--port must be ${portType().expects}`)
    const directory = resolve(String(options['data'] ?? './dynamodb-data'))
    const host = String(options['host'] ?? '127.0.0.1')
    const isSigned = options['signed'] === true || !isLoopback(host)
    const signatures = isSigned && { credentials: [signingCredentials(env)] }
    const stopped = stopSignal()
    const isNew = !hasData(directory)
    const engine = await openEngine({ directory, onConversion: reportConversion(output) })
    if (isNew) reportCreated(output)(directory)
    try {
      const server = await serve(engine, { host, port, ...signatures }).catch(
        (error: NodeJS.ErrnoException) => {
          throw error.code ? listenFailure(error, host, port) : usageError(error.message)
        },
      )
      // The AWS CLI sends nothing without credentials.
      const any = isSigned ? '' : 'AWS_ACCESS_KEY_ID=any AWS_SECRET_ACCESS_KEY=any '
      const attempt = `${any}aws dynamodb list-tables --region local --endpoint-url ${server.url}`
      output.result(
        `\nDynamoDB on ${server.url}\n\n  Data    ${directory}\n  Try     ${attempt}\n\nPress Ctrl+C to stop.\n`,
        { url: server.url, data: directory },
      )
      await stopped
      output.progress('Stopping: waiting for running requests')
      await server.close()
    } finally {
      await engine.close()
    }
  },
}

export const commands: readonly Command[] = [dynamodb]
