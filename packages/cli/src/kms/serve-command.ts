/** `strongroom kms serve`: the embedded KMS over HTTP, for programs in any language. */
import { Failure } from '@strongroom/kit/errors'
import { port as portType } from '@strongroom/kit/config-types'
import { startDeletionSweeper } from '@strongroom/kms/deletion-sweep'
import { serveKms } from '@strongroom/kms/serve'
import { listenFailure } from '@strongroom/kit/http/node'
import { startBackgroundTimer } from '@strongroom/platform/timers'
import { type Command, type CommandInput, usageError } from '../command.ts'
import { signingCredentials, withEmbeddedKms } from '../store.ts'
import { stopSignal } from '../stop-signal.ts'

const DEFAULT_PORT = '8090'

type Place = { port: number } | { socketPath: string }

export const kmsServe: Command = {
  name: 'kms serve',
  kind: 'store',
  creates: true,
  summary: 'Serve the embedded KMS over HTTP, with the AWS KMS protocol',
  options: {
    port: { value: 'PORT', summary: `Port of 127.0.0.1 to listen on (${DEFAULT_PORT})` },
    socket: { value: 'PATH', summary: 'Unix socket to listen on instead' },
  },
  about: `Requests must be signed with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of its environment:
anyone who has them can decrypt. It listens on this machine only.`,
  async run(input) {
    const place = parsePlace(input)
    const credentials = [signingCredentials(input.env)]
    await withEmbeddedKms(input, async ({ kms, record }) => {
      const stopped = stopSignal()
      const { arn = null } = (await record()) ?? {}
      const onFailure = (error: unknown) => void printFailure(error)
      const sweeper = startDeletionSweeper({ kms, startTimer: startBackgroundTimer, onFailure })
      const server = await serveKms(kms, { ...place, credentials, onFailure }).catch(
        rethrowListenFailure(place),
      )
      const endpoint = 'port' in place ? `http://127.0.0.1:${server.port}` : place.socketPath
      const lines = [
        ...('port' in place ? [`  KMS_ENDPOINT=${endpoint}\n`] : []),
        ...(arn === null ? [] : [`  KMS_KEY_ARN=${arn}\n`]),
      ]
      input.output.result(`\nKMS on ${endpoint}\n\n${lines.join('')}\nPress Ctrl+C to stop.\n`, {
        endpoint,
        arn,
      })
      await stopped
      input.output.progress('Stopping: waiting for running requests')
      await server.close()
      await sweeper.close()
    })
  },
}

function parsePlace({ options: { port, socket } }: CommandInput): Place {
  if (typeof socket === 'string') {
    if (port !== undefined) throw usageError('Use either --port or --socket, not both')
    return { socketPath: socket }
  }
  const number = portType().parse(String(port ?? DEFAULT_PORT))
  if (number === undefined) throw usageError(`--port must be ${portType().expects}`)
  return { port: number }
}

/** For the operator: clients get no details of a failure. */
async function printFailure(error: unknown): Promise<void> {
  // Loaded only on failure, because it imports the errors of every package.
  const { explain } = await import('../failure.ts')
  process.stderr.write(`${explain(error)}\n`)
}

function rethrowListenFailure(place: Place) {
  return (error: NodeJS.ErrnoException): never => {
    if ('port' in place) throw listenFailure(error, '127.0.0.1', place.port)
    throw new Failure(
      'failed',
      error.message.startsWith('Cannot listen')
        ? error.message
        : `Cannot listen on "${place.socketPath}": ${error.message}`,
    )
  }
}
