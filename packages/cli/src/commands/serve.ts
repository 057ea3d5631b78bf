/** `strongroom serve`: what `npm start` runs. */
import { batchLines, createLog } from '@strongroom/kit/log'
import { type RunningServer, serve } from '@strongroom/server/serve'
import { services } from '@strongroom/server/services'
import { settings } from '@strongroom/server/settings'
import { version } from '@strongroom/server/version'
import { chooseServices } from '../choose-services.ts'
import type { Command } from '../command.ts'
import { askMasterKeyPassphrase } from '../input.ts'
import { requireOutside, saveBootstrapCode, type SavedCode } from '../server/bootstrap-file.ts'
import { stopSignal } from '../stop-signal.ts'
import { reportConversion, reportCreated } from '../store.ts'

/** Options that set a setting. */
const FLAGS = { port: 'PORT', host: 'HOST', data: 'STRONGROOM_DATA' } as const

const serveCommand: Command = {
  name: 'serve',
  kind: 'store',
  creates: true,
  summary: 'Run the server with all services, or one',
  options: {
    only: { value: 'SERVICE', summary: 'Run only this service, at the root' },
    port: { value: 'PORT', summary: 'The port to listen on (PORT, 4280)' },
    host: { value: 'HOST', summary: 'Address to listen on (HOST, 127.0.0.1)' },
    data: {
      value: 'DIR',
      summary: 'Data directory of the embedded store (STRONGROOM_DATA, ./data)',
    },
  },
  about: `SERVICE is one of ${services.map(({ name }) => name).join(', ')}.`,
  async run({ options, env, json, output }) {
    const chosen = chooseServices(options['only'])
    const flags = Object.entries(FLAGS).flatMap(([flag, name]) => {
      const value = options[flag]
      return typeof value === 'string' ? [[name, value] as const] : []
    })
    const configured = settings.parse({ ...env, ...Object.fromEntries(flags) })
    const log = createLog({
      level: configured.STRONGROOM_LOG_LEVEL,
      sink: batchLines((text) => void process.stderr.write(text)),
      pretty: process.stderr.isTTY,
      colours: !env['NO_COLOR'],
    })
    const fileOptions = {
      file: configured.STRONGROOM_BOOTSTRAP_FILE,
      dataDirectory: configured.STRONGROOM_DATA,
      runtimeDirectory: env['XDG_RUNTIME_DIR'],
    }
    requireOutside(fileOptions)
    // Listen for signals before the banner, because its reader may stop the server immediately.
    const stopped = stopSignal()
    const server = await serve({
      settings: configured,
      services: chosen,
      atRoot: options['only'] !== undefined,
      log,
      askPassphrase: askMasterKeyPassphrase({ json }),
      onStoreCreated: reportCreated(output),
      onConversion: reportConversion(output),
    })
    const { bootstrap } = server
    const isShown = !json && process.stdout.isTTY
    const saved =
      bootstrap === undefined || isShown
        ? undefined
        : await saveBootstrapCode(bootstrap.code, fileOptions)
    output.result(banner(server, saved), {
      version,
      url: server.url,
      store: { kind: server.store.kind, location: server.store.location },
      kms: { kind: server.kms.kind, location: server.kms.location },
      services: server.services.map(({ name }) => name),
      notices: [
        ...server.services.flatMap(({ notice }) => notice ?? []),
        ...(server.kms.warning === undefined ? [] : [server.kms.warning]),
      ],
      ...(saved?.kind === 'saved' && { bootstrapFile: saved.file }),
    })
    await stopped
    output.progress('Stopping: waiting for running requests')
    await server.close()
    if (saved?.kind === 'saved') await saved.remove()
  },
}

function banner(server: RunningServer, saved: SavedCode | undefined): string {
  const { url, store, kms, services: running, metricsUrl, bootstrap } = server
  const lines: (readonly [name: string, value: string])[] = [
    ['Home', url],
    ['API', `${url}/docs`],
    ...running.flatMap(({ title, url: at, notice }) => [
      [title, at] as const,
      ...(notice === undefined ? [] : [['', notice] as const]),
    ]),
    ...(metricsUrl === undefined ? [] : [['Metrics', metricsUrl] as const]),
    ['Store', `${store.label}, ${store.location}`],
    ['KMS', `${kms.label}, ${kms.kind === 'embedded' ? 'master key in ' : ''}${kms.location}`],
    ...(kms.warning === undefined ? [] : [['', kms.warning] as const]),
    ...(bootstrap === undefined ? [] : bootstrapLines(url, bootstrap.code, saved)),
  ]
  const shown = lines.map(([name, value]) => `  ${name.padEnd(12)}${value}\n`).join('')
  return `\nStrongroom ${version}\n\n${shown}\nPress Ctrl+C to stop.\n`
}

/** The code is printed on a terminal only, otherwise it is in a file; never in a log. */
function bootstrapLines(url: string, code: string, saved: SavedCode | undefined) {
  const claim = 'strongroom operator claim'
  if (saved === undefined) {
    return [
      ['Operator', `${url}/console/#bootstrap=${code}`],
      ['', `or run "${claim} ${code}" within 30 minutes to become the first admin`],
    ] as const
  }
  const text =
    saved.kind === 'saved'
      ? `bootstrap code in ${saved.file}: run "${claim} CODE" within 30 minutes`
      : `bootstrap code could not be written (${saved.reason}): run "strongroom operator bootstrap"`
  return [['Operator', text]] as const
}

export const commands: readonly Command[] = [serveCommand]
