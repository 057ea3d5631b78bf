/** The service as people run it: a process of its own, with somebody between it and the sites. */
import { spawn } from 'node:child_process'
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPlugin } from '../../../../scripts/build-plugin.mjs'
import { Destination } from './destination.ts'
import { freePort } from './free-port.ts'
import { GoBetween } from './go-between.ts'
import { endTied, startTied, type TiedProcess } from './tied-process.ts'

const launcher = fileURLToPath(new URL('../../../cli/bin/strongroom.mjs', import.meta.url))

const { privateKey: releaseKey } = generateKeyPairSync('ed25519')

export class RunningService {
  readonly between: GoBetween
  readonly destination: Destination
  readonly #process: TiedProcess
  readonly #directory: string
  readonly #token: string

  private constructor(
    parts: Pick<RunningService, 'between' | 'destination'>,
    child: TiedProcess,
    directory: string,
    token: string,
  ) {
    this.between = parts.between
    this.destination = parts.destination
    this.#process = child
    this.#directory = directory
    this.#token = token
  }

  static async start(): Promise<RunningService> {
    const directory = await mkdtemp(join(tmpdir(), 'strongroom-form-bridge-'))
    const port = await freePort()
    const between = await GoBetween.open(`http://127.0.0.1:${port}`)
    const destination = await Destination.open()
    const child = startTied(process.execPath, [launcher, 'serve'], {
      cwd: directory,
      complaints: 'inherit',
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        PORT: String(port),
        PUBLIC_URL: between.url,
        STRONGROOM_DATA: join(directory, 'data'),
        STRONGROOM_LOG_LEVEL: 'error',
        FORM_BRIDGE_ALLOW_HTTP: 'true',
        FORM_BRIDGE_ALLOWED_NETWORKS: '127.0.0.0/8',
        FORM_BRIDGE_DESTINATION: destination.url,
        FORM_BRIDGE_DESTINATION_NETWORKS: '127.0.0.0/8',
        FORM_BRIDGE_RELEASE_KEYS: publicKeyOf(releaseKey),
      },
    })
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
    while (!printed.includes('Press Ctrl+C')) {
      const ended = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
      if (typeof ended[0] !== 'string') throw new Error(`The service ended: ${printed}`)
    }
    const token = await readFile(join(directory, 'data', 'operator-admin.token'), 'utf8')
    return new RunningService({ between, destination }, child, directory, token.trim())
  }

  /** Where sites think that the service is. */
  get url(): string {
    return `${this.between.url}/form-bridge`
  }

  /** The plugin in a version, made for this service. */
  plugin(version: string): Uint8Array {
    const publicKeys = [publicKeyOf(releaseKey)]
    return buildPlugin({ service: this.url, publicKeys, version }).zip
  }

  /** Signs a package where the service has no access, and publishes it, as its makers do. */
  async publish(version: string): Promise<void> {
    const file = join(this.#directory, `form-bridge-${version}.zip`)
    const key = join(this.#directory, 'release.key')
    await writeFile(file, this.plugin(version))
    await writeFile(key, releaseKey.export({ type: 'pkcs8', format: 'pem' }))
    await this.#strongroom(['plugin', 'sign', file, '--key', key])
    await this.#strongroom(['plugin', 'publish', file, '--server', this.between.url])
  }

  /** A call of the operator, past whoever stands between. */
  async operator(
    method: string,
    path: string,
    body?: Uint8Array,
    headers: Record<string, string> = {},
  ): Promise<Record<string, unknown>> {
    const state = this.between.state
    this.between.state = 'up'
    const response = await fetch(`${this.url}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, ...headers },
      ...(body && { body }),
    })
    this.between.state = state
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
    return JSON.parse(text) as Record<string, unknown>
  }

  async #strongroom(args: string[]) {
    const child = spawn(process.execPath, [launcher, ...args], {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], STRONGROOM_TOKEN: this.#token },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`strongroom ${args.join(' ')} ended with ${code}`)
  }

  async stop(): Promise<void> {
    await endTied(this.#process)
    await this.between.close()
    await this.destination.close()
    await rm(this.#directory, { recursive: true, force: true })
  }
}

/** The 32 bytes of the key alone, in base64. */
function publicKeyOf(key: KeyObject): string {
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  return Buffer.from(x, 'base64url').toString('base64')
}
