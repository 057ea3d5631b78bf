/** `strongroom serve`: what `npm start` runs. */
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { batchLines, createLog } from '@strongroom/kit/log'
import { nearest } from '@strongroom/kit/nearest'
import type { Service } from '@strongroom/kit/service'
import { createPrivateFile } from '@strongroom/platform/private-file'
import { type RunningServer, serve } from '@strongroom/server/serve'
import { services } from '@strongroom/server/services'
import { settings } from '@strongroom/server/settings'
import { version } from '@strongroom/server/version'
import { type Command, usageError } from '../command.ts'
import { askMasterKeyPassphrase } from '../input.ts'
import { stopSignal } from '../stop-signal.ts'
import { reportCreated } from '../store.ts'

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
    // Listen for signals before the banner, because its reader may stop the server immediately.
    const stopped = stopSignal()
    const server = await serve({
      settings: configured,
      services: chosen,
      atRoot: options['only'] !== undefined,
      log,
      askPassphrase: askMasterKeyPassphrase({ json }),
      onStoreCreated: reportCreated(output),
    })
    const { operatorToken: token } = server
    const shown = !json && process.stdout.isTTY
    const kept =
      token === undefined || shown ? undefined : await saveToken(token, configured.STRONGROOM_DATA)
    output.result(banner(server, kept), {
      version,
      url: server.url,
      store: { kind: server.store.kind, location: server.store.location },
      kms: { kind: server.kms.kind, location: server.kms.location },
      services: server.services.map(({ name }) => name),
      ...(kept && 'file' in kept && { operatorTokenFile: kept.file }),
    })
    await stopped
    output.progress('Stopping: waiting for running requests')
    await server.close()
  },
}

function chooseServices(only: string | boolean | undefined): readonly Service[] {
  if (typeof only !== 'string') return services
  const found = services.find(({ name }) => name === only)
  if (found) return [found]
  const names = services.map(({ name }) => name)
  const meant = nearest(only, names)
  const known =
    names.length > 0 ? `choose from ${names.join(', ')}` : 'none is part of this version'
  throw usageError(
    `There is no service "${only}": ${meant === undefined ? known : `did you mean ${meant}?`}`,
  )
}

function banner(server: RunningServer, kept: SavedToken | undefined): string {
  const { url, store, kms, services: running, metricsUrl, operatorToken } = server
  const lines: (readonly [name: string, value: string])[] = [
    ['Home', url],
    ['API', `${url}/docs`],
    ...running.map((service) => [service.title, service.url] as const),
    ...(metricsUrl === undefined ? [] : [['Metrics', metricsUrl] as const]),
    ['Store', `${store.label}, ${store.location}`],
    ['KMS', `${kms.label}, ${kms.kind === 'embedded' ? 'master key in ' : ''}${kms.location}`],
    ...(operatorToken === undefined ? [] : [['Operator', tokenLine(operatorToken, kept)] as const]),
  ]
  const shown = lines.map(([name, value]) => `  ${name.padEnd(12)}${value}\n`).join('')
  return `\nStrongroom ${version}\n\n${shown}\nPress Ctrl+C to stop.\n`
}

function tokenLine(token: string, kept: SavedToken | undefined): string {
  if (kept === undefined) return `${token} (shown once)`
  if ('file' in kept) return `token in ${kept.file}`
  return `token could not be written (${kept.lost}): run "strongroom operator rotate admin"`
}

// The first operator's token is printed on a terminal, otherwise written to a file that only its
// owner can read. Never to a log.

/** The file with the token, or why it could not be written. */
export type SavedToken = { file: string } | { lost: string }

/** Writes a token to a new file; the token of another store may be in the directory already. */
export async function saveToken(token: string, directory: string): Promise<SavedToken> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    for (let number = 1; ; number++) {
      const name = number === 1 ? 'operator-admin.token' : `operator-admin-${number}.token`
      const file = resolve(join(directory, name))
      if (await writeNewFile(file, `${token}\n`)) return { file }
    }
  } catch (error) {
    return { lost: codeOf(error) }
  }
}

/** Returns false if the file exists. */
async function writeNewFile(file: string, text: string): Promise<boolean> {
  try {
    await using handle = await createPrivateFile(file)
    await handle.writeFile(text)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}

export const commands: readonly Command[] = [serveCommand]
