/** The service in its own process, behind a proxy that tests control. */
import { spawn } from 'node:child_process'
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Destination } from './destination.ts'
import { freePort } from './free-port.ts'
import { InterceptingProxy } from './intercepting-proxy.ts'
import { stopProcess, startProcess, type ServerProcess } from './child-process.ts'

const launcher = fileURLToPath(new URL('../../../cli/bin/strongroom.mjs', import.meta.url))

const { privateKey: releaseKey } = generateKeyPairSync('ed25519')

export class RunningService {
  readonly proxy: InterceptingProxy
  readonly destination: Destination
  readonly #process: ServerProcess
  readonly #directory: string
  readonly #token: string

  private constructor(
    parts: Pick<RunningService, 'proxy' | 'destination'>,
    child: ServerProcess,
    directory: string,
    token: string,
  ) {
    this.proxy = parts.proxy
    this.destination = parts.destination
    this.#process = child
    this.#directory = directory
    this.#token = token
  }

  static async start(): Promise<RunningService> {
    const directory = await mkdtemp(join(tmpdir(), 'strongroom-form-bridge-'))
    const port = await freePort()
    const proxy = await InterceptingProxy.open(`http://127.0.0.1:${port}`)
    const destination = await Destination.open()
    const child = startProcess(process.execPath, [launcher, 'serve'], {
      cwd: directory,
      stderr: 'inherit',
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        PORT: String(port),
        PUBLIC_URL: proxy.url,
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
    const token = await addOperator(join(directory, 'data'))
    return new RunningService({ proxy, destination }, child, directory, token)
  }

  /** The URL of the service as sites know it. */
  get url(): string {
    return `${this.proxy.url}/form-bridge`
  }

  /** The plugin package in a version, built for this service. */
  async plugin(version: string): Promise<Buffer> {
    return readFile(await this.#buildPlugin(version))
  }

  /** Signs a package offline and publishes it. */
  async publish(version: string): Promise<void> {
    const file = await this.#buildPlugin(version)
    const key = join(this.#directory, 'release.key')
    await writeFile(key, releaseKey.export({ type: 'pkcs8', format: 'pem' }))
    await this.#strongroom(['plugin', 'sign', file, '--key', key])
    await this.#strongroom(['plugin', 'publish', file, '--server', this.proxy.url])
  }

  /** Calls the operator API; the state of the proxy does not affect it. */
  async operator(
    method: string,
    path: string,
    body?: Uint8Array,
    headers: Record<string, string> = {},
  ): Promise<Record<string, unknown>> {
    const state = this.proxy.state
    this.proxy.state = 'up'
    const response = await fetch(`${this.url}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, ...headers },
      ...(body && { body }),
    })
    this.proxy.state = state
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${text}`)
    return JSON.parse(text) as Record<string, unknown>
  }

  async #buildPlugin(version: string): Promise<string> {
    const file = join(this.#directory, `form-bridge-${version}.zip`)
    const keys = ['--public-key', publicKeyOf(releaseKey)]
    const options = ['--service', this.url, ...keys, '--version', version, '--out', file]
    await this.#strongroom(['plugin', 'build', ...options, '--json'])
    return file
  }

  async #strongroom(args: string[]) {
    const child = spawn(process.execPath, [launcher, ...args], {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], STRONGROOM_TOKEN: this.#token },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`strongroom ${args.join(' ')} exited with ${code}`)
  }

  async stop(): Promise<void> {
    await stopProcess(this.#process)
    await this.proxy.close()
    await this.destination.close()
    await rm(this.#directory, { recursive: true, force: true })
  }
}

async function addOperator(data: string): Promise<string> {
  const { PATH, HOME } = process.env
  const child = spawn(process.execPath, [launcher, 'operator', 'add', 'tests'], {
    env: { PATH, HOME, STRONGROOM_DATA: data },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return (await readText(child.stdout)).trim()
}

/** The raw 32 bytes of the key, in base64. */
function publicKeyOf(key: KeyObject): string {
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  return Buffer.from(x, 'base64url').toString('base64')
}
