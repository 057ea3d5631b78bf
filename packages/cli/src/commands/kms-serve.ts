/** `strongroom kms serve`: the embedded KMS over HTTP, for programs in any language. */
import { port as portType } from '@strongroom/kit/config-types'
import { serveKms } from '@strongroom/kms/serve'
import { CannotListen, listenFailure } from '@strongroom/server/listen'
import { type Command, type CommandInput, UsageError } from '../command.ts'
import { signingCredentials } from '../signing-credentials.ts'
import { stopSignal } from '../stop-signal.ts'
import { withEmbeddedKms } from '../with-store.ts'

const DEFAULT_PORT = '8090'

type Place = { port: number } | { socketPath: string }

export const kmsServe: Command = {
  name: 'kms serve',
  summary: 'Serve the embedded KMS over HTTP, for any program that speaks the protocol of AWS KMS',
  options: {
    port: { value: 'PORT', summary: `The port of 127.0.0.1 to listen on (${DEFAULT_PORT})` },
    socket: { value: 'PATH', summary: 'A socket to listen on instead' },
  },
  about: `Requests must be signed with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of its environment:
whoever has them may decrypt. Only this machine reaches it.`,
  async run(input) {
    const place = placeOf(input)
    const credentials = [signingCredentials(input.env)]
    await withEmbeddedKms(input, async ({ kms, record }) => {
      const stopped = stopSignal()
      const { arn = null } = (await record()) ?? {}
      const onFailure = (error: unknown) => void tellOperator(error)
      const server = await serveKms(kms, { ...place, credentials, onFailure }).catch(
        cannotListen(place),
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
      input.output.progress('Stopping: finishing what is running')
      await server.close()
    })
  },
}

function placeOf({ options: { port, socket } }: CommandInput): Place {
  if (typeof socket === 'string') {
    if (port !== undefined) throw new UsageError('Give either --port or --socket, not both')
    return { socketPath: socket }
  }
  const number = portType().parse(String(port ?? DEFAULT_PORT))
  if (number === undefined) throw new UsageError(`--port must be ${portType().expects}`)
  return { port: number }
}

/** Clients are told only that there was something. */
async function tellOperator(error: unknown): Promise<void> {
  // Much to load for what goes well.
  const { explain } = await import('../failure.ts')
  process.stderr.write(`${explain(error)}\n`)
}

function cannotListen(place: Place) {
  return (error: NodeJS.ErrnoException): never => {
    if ('port' in place) throw listenFailure(error, '127.0.0.1', place.port)
    throw new CannotListen(
      error.message.startsWith('Cannot listen')
        ? error.message
        : `Cannot listen on "${place.socketPath}": ${error.message}`,
    )
  }
}
