/** `strongroom worker`: delivers what servers receive, in a process of its own. */
import { port } from '@strongroom/kit/config-types'
import { createLog } from '@strongroom/kit/log'
import { together } from '@strongroom/kit/log-lines'
import { services } from '@strongroom/server/services'
import { settings } from '@strongroom/server/settings'
import { type RunningWorkers, work } from '@strongroom/server/work'
import { type Command, UsageError } from '../command.ts'
import { passphraseAsker } from '../passphrase.ts'
import { stopSignal } from '../stop-signal.ts'

export const workerCommand: Command = {
  name: 'worker',
  summary: 'Deliver what Ferryhook receives, beside servers that need not',
  options: {
    data: {
      value: 'DIR',
      summary: 'Where the embedded store keeps its data (STRONGROOM_DATA, ./data)',
    },
    'metrics-port': {
      value: 'PORT',
      summary: 'Serve metrics on this port of 127.0.0.1, without a token',
    },
  },
  about: `Any number of them, on any number of machines, share the work through the store. A server
delivers too, unless FERRYHOOK_DELIVER is false.`,
  async run({ options, env, json, output }) {
    const { data } = options
    const configured = settings.parse({
      ...env,
      ...(typeof data === 'string' && { STRONGROOM_DATA: data }),
    })
    const metricsPort = metricsPortIn(options['metrics-port'])
    const log = createLog({
      level: configured.STRONGROOM_LOG_LEVEL,
      sink: together((text) => void process.stderr.write(text)),
      pretty: process.stderr.isTTY,
      colours: !env['NO_COLOR'],
    })
    // Listening before anything is said: whoever reads it may stop the worker at once.
    const stopped = stopSignal()
    const workers = await work({
      settings: configured,
      services,
      metricsPort,
      log,
      askPassphrase: passphraseAsker({ json }),
    })
    const { store, metricsUrl } = workers
    output.result(banner(workers), {
      store: { kind: store.kind, location: store.location },
      services: workers.services,
      ...(metricsUrl !== undefined && { metricsUrl }),
    })
    await stopped
    output.progress('Stopping: finishing what is running')
    await workers.close()
  },
}

function metricsPortIn(given: string | boolean | undefined): number | undefined {
  if (typeof given !== 'string') return undefined
  const { parse, expects } = port()
  const parsed = parse(given)
  if (parsed === undefined) throw new UsageError(`--metrics-port must be ${expects}`)
  return parsed
}

function banner({ store, metricsUrl }: RunningWorkers): string {
  const metrics = metricsUrl === undefined ? '' : `, with metrics at ${metricsUrl}`
  return `Delivering from ${store.label}, ${store.location}${metrics}. Press Ctrl+C to stop.\n`
}
