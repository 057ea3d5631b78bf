/** `strongroom worker`: delivers Ferryhook events in its own process. */
import { port } from '@strongroom/kit/config-types'
import { batchLines, createLog } from '@strongroom/kit/log'
import { services } from '@strongroom/server/services'
import { settings } from '@strongroom/server/settings'
import { type RunningWorkers, runWorkers } from '@strongroom/server/run-worker'
import { type Command, usageError } from '../command.ts'
import { askMasterKeyPassphrase } from '../input.ts'
import { stopSignal } from '../stop-signal.ts'
import { reportConversion, reportCreated } from '../store.ts'

const workerCommand: Command = {
  name: 'worker',
  kind: 'store',
  creates: true,
  summary: 'Run a delivery worker',
  options: {
    data: {
      value: 'DIR',
      summary: 'Data directory of the embedded store (STRONGROOM_DATA, ./data)',
    },
    'metrics-port': {
      value: 'PORT',
      summary: 'Serve metrics on this port of 127.0.0.1, without a token',
    },
  },
  about: `Any number of workers, on any number of machines, share the work through the store. A server also
delivers, unless FERRYHOOK_DELIVER is false.`,
  async run({ options, env, json, output }) {
    const { data } = options
    const configured = settings.parse({
      ...env,
      ...(typeof data === 'string' && { STRONGROOM_DATA: data }),
    })
    const metricsPort = parseMetricsPort(options['metrics-port'])
    const log = createLog({
      level: configured.STRONGROOM_LOG_LEVEL,
      sink: batchLines((text) => void process.stderr.write(text)),
      pretty: process.stderr.isTTY,
      colours: !env['NO_COLOR'],
    })
    // Listen for signals before the first output, because its reader may stop the worker immediately.
    const stopped = stopSignal()
    const workers = await runWorkers({
      settings: configured,
      services,
      metricsPort,
      log,
      askPassphrase: askMasterKeyPassphrase({ json }),
      onStoreCreated: reportCreated(output),
      onConversion: reportConversion(output),
    })
    const { store, kms, metricsUrl } = workers
    if (kms.warning !== undefined) output.notice(kms.warning)
    output.result(banner(workers), {
      store: { kind: store.kind, location: store.location },
      services: workers.services,
      ...(metricsUrl !== undefined && { metricsUrl }),
    })
    await stopped
    output.progress('Stopping: waiting for running requests')
    await workers.close()
  },
}

function parseMetricsPort(given: string | boolean | undefined): number | undefined {
  if (typeof given !== 'string') return undefined
  const { parse, expects } = port()
  const parsed = parse(given)
  if (parsed === undefined) throw usageError(`--metrics-port must be ${expects}`)
  return parsed
}

function banner({ store, metricsUrl }: RunningWorkers): string {
  const metrics = metricsUrl === undefined ? '' : `, with metrics at ${metricsUrl}`
  return `Delivering from ${store.label}, ${store.location}${metrics}. Press Ctrl+C to stop.\n`
}

export const commands: readonly Command[] = [workerCommand]
