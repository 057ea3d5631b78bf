/** A real WordPress with the plugin, on PHP's built-in web server and SQLite. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { unzipSync } from 'fflate'
import { freePort } from './free-port.ts'
import type { Installation } from './installations.ts'
import { stopProcess, startProcess, type ServerProcess } from './child-process.ts'

const harness = fileURLToPath(new URL('site/', import.meta.url))

/** The service calls the site while the site calls the service. */
const WORKERS = '4'

/** The opcode cache is shared by all processes. */
const COMPILED = join(process.env['LASTING_TMPDIR'] ?? tmpdir(), 'strongroom-opcache')
const OPCACHE = [
  '-d',
  'opcache.enable_cli=1',
  '-d',
  `opcache.file_cache=${COMPILED}`,
  '-d',
  'opcache.revalidate_freq=0',
]

export interface HttpCall {
  url: string
  method: string
  timeout: number
}

export class WordPressSite {
  readonly url: string
  readonly #installation: Installation
  readonly #directory: string
  readonly #server: ServerProcess
  #cookies = ''

  private constructor(installation: Installation, directory: string, url: string) {
    this.#installation = installation
    this.#directory = directory
    this.url = url
    this.#server = startProcess(
      'php',
      [...OPCACHE, '-S', new URL(url).host, '-t', installation.files, join(harness, 'router.php')],
      { env: { ...this.#environment(), PHP_CLI_SERVER_WORKERS: WORKERS }, stderr: 'ignore' },
    )
  }

  /** A new site with the plugin active. */
  static async install(installation: Installation, plugin: Uint8Array): Promise<WordPressSite> {
    await mkdir(COMPILED, { recursive: true })
    const directory = await mkdtemp(join(tmpdir(), 'strongroom-wordpress-'))
    const content = join(directory, 'wp-content')
    for (const name of ['plugins', 'mu-plugins', 'themes/plain'])
      await mkdir(join(content, name), { recursive: true })
    await mkdir(join(directory, 'database'))
    await cp(join(harness, 'harness.php'), join(content, 'mu-plugins/harness.php'))
    await cp(join(harness, 'theme'), join(content, 'themes/plain'), { recursive: true })
    const sqlite = join(installation.files, 'sqlite-database-integration/wp-includes/sqlite/db.php')
    await writeFile(
      join(content, 'db.php'),
      `<?php define( 'DB_ENGINE', 'sqlite' ); require '${sqlite}';`,
    )
    await unpack(plugin, join(content, 'plugins'))
    await writeFile(join(directory, 'salt'), directory)
    const site = await WordPressSite.#open(installation, directory)
    await site.#install()
    return site
  }

  static async #open(installation: Installation, directory: string): Promise<WordPressSite> {
    const url = `http://127.0.0.1:${await freePort()}`
    await writeFile(join(directory, 'home'), url)
    const site = new WordPressSite(installation, directory, url)
    await site.#waitUntilReady()
    return site
  }

  /** The same files and database at another address, as a copy or after a move. */
  async copy(): Promise<WordPressSite> {
    const directory = await mkdtemp(join(tmpdir(), 'strongroom-wordpress-'))
    await cp(this.#directory, directory, { recursive: true })
    return WordPressSite.#open(this.#installation, directory)
  }

  /** Evaluates PHP inside the site and returns its result. */
  async php<Result = unknown>(code: string): Promise<Result> {
    const response = await fetch(this.url, {
      method: 'POST',
      headers: { 'x-test-run': this.#directory, 'content-type': 'text/plain' },
      body: code,
    })
    const [, result] = (await response.text()).split('\n@@result:')
    if (result === undefined)
      throw new Error(`PHP ended early: ${(await this.#log()).slice(-2000)}`)
    return JSON.parse(result) as Result
  }

  /** Runs all scheduled events of a hook, like wp-cron. */
  async cron(hook: string): Promise<void> {
    await this.php(
      `define( 'DOING_CRON', true );
      foreach ( _get_cron_array() as $time => $hooks ) {
        foreach ( $hooks[ '${hook}' ] ?? array() as $event ) {
          wp_unschedule_event( $time, '${hook}', $event['args'] );
          do_action_ref_array( '${hook}', $event['args'] );
        }
      }`,
    )
  }

  /** Requests a page as a visitor or, after {@link signIn}, as the owner. */
  async page(path: string, init: RequestInit = {}): Promise<{ status: number; text: string }> {
    const headers = { ...(init.headers as Record<string, string>), cookie: this.#cookies }
    const response = await fetch(this.url + path, { redirect: 'manual', ...init, headers })
    return { status: response.status, text: await response.text() }
  }

  async signIn(): Promise<void> {
    const response = await fetch(`${this.url}/wp-login.php`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: 'wordpress_test_cookie=WP%20Cookie%20check' },
      body: new URLSearchParams({ log: 'owner', pwd: 'password', testcookie: '1' }),
    })
    await response.text()
    this.#cookies = response.headers
      .getSetCookie()
      .map((cookie) => cookie.split(';')[0])
      .join('; ')
    if (!this.#cookies.includes('wordpress_logged_in')) throw new Error('Could not sign in')
  }

  /** Submits the form of a button on the settings page. */
  async press(button: string, values: Record<string, string | string[]> = {}): Promise<void> {
    const { text } = await this.page('/wp-admin/options-general.php?page=form-bridge')
    const form = [...text.matchAll(/<form method="post"[^]*?<\/form>/g)].find(([html]) =>
      html.includes(`name="do" value="${button}"`),
    )?.[0]
    if (form === undefined) throw new Error(`The page has no button "${button}"`)
    const fields = new URLSearchParams()
    for (const [, name = '', value = ''] of form.matchAll(
      /<input type="hidden"[^>]* name="([^"]*)" value="([^"]*)"/g,
    ))
      fields.append(name, value)
    for (const [name, value] of Object.entries(values)) {
      fields.delete(name)
      for (const each of [value].flat()) fields.append(name, each)
    }
    const response = await this.page('/wp-admin/admin-post.php', { method: 'POST', body: fields })
    if (response.status !== 302) throw new Error(`The button returned ${response.status}`)
  }

  /** HTTP requests that WordPress made since the last call. */
  async httpCalls(): Promise<HttpCall[]> {
    const file = join(this.#directory, 'http.log')
    const text = await readFile(file, 'utf8').catch(() => '')
    await rm(file, { force: true })
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as HttpCall)
  }

  /** Lines of the PHP error log that name the plugin. */
  async phpErrors(): Promise<string[]> {
    const text = await this.#log()
    return text.split('\n').filter((line) => line.includes('/plugins/form-bridge/'))
  }

  /** Defines constants in wp-config.php. */
  async define(constants: Record<string, string>): Promise<void> {
    const lines = Object.entries(constants).map(
      ([name, value]) => `define( '${name}', '${value}' );`,
    )
    await writeFile(join(this.#directory, 'constants.php'), `<?php\n${lines.join('\n')}\n`)
  }

  /** Blocks anonymous REST requests, or all requests of the service. */
  async block(what: 'rest' | 'firewall' | 'nothing'): Promise<void> {
    await writeFile(join(this.#directory, 'closed'), what)
  }

  /** Installs and activates a stand-in of `form-plugins`. */
  async addFormPlugin(name: string): Promise<void> {
    const content = join(this.#directory, 'wp-content')
    const source = fileURLToPath(new URL('form-plugins/', import.meta.url))
    await cp(join(source, 'uploads.php'), join(content, 'mu-plugins/uploads.php'))
    await cp(join(source, `${name}.php`), join(content, `plugins/${name}/${name}.php`))
    await this.php(`return activate_plugin( '${name}/${name}.php' );`)
  }

  /** Signs out all users and makes encrypted options unreadable. */
  async changeSalts(): Promise<void> {
    await writeFile(join(this.#directory, 'salt'), `${this.#directory} changed`)
  }

  async stop(): Promise<void> {
    await stopProcess(this.#server)
    await rm(this.#directory, { recursive: true, force: true })
  }

  #log(): Promise<string> {
    return readFile(join(this.#directory, 'debug.log'), 'utf8').catch(() => '')
  }

  async #install() {
    const child = spawn('php', [...OPCACHE, join(harness, 'install.php')], {
      env: this.#environment(),
      stdio: 'ignore',
    })
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`WordPress was not installed: ${await this.#log()}`)
  }

  #environment() {
    return {
      PATH: process.env['PATH'],
      WORDPRESS_SITE: this.#directory,
      WORDPRESS_FILES: this.#installation.files,
      WORDPRESS_CONFIG: join(harness, 'wp-config.php'),
      WORDPRESS_HOST: new URL(this.url).host,
    }
  }

  async #waitUntilReady() {
    for (let tries = 0; tries < 200; tries++) {
      const isReady = await fetch(`${this.url}/readme.html`).then(
        (response) => response.text().then(() => true),
        () => false,
      )
      if (isReady) return
      await setTimeout(25)
    }
    throw new Error('The PHP web server did not start')
  }
}

async function unpack(zip: Uint8Array, into: string) {
  for (const [name, content] of Object.entries(unzipSync(zip))) {
    await mkdir(join(into, dirname(name)), { recursive: true })
    await writeFile(join(into, name), content)
  }
}
