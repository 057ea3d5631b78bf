// A server in its own process, so that its CPU time is measured without that of the client.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { pinned } from '../overload/cores.ts'

export class ServerProcess {
  readonly url: string
  readonly pid: number
  readonly #child: ChildProcess

  private constructor(url: string, child: ChildProcess) {
    if (child.pid === undefined) throw new Error('A server has no process')
    this.url = url
    this.pid = child.pid
    this.#child = child
  }

  /** Starts the server; its first output must be JSON, with its `url` if it has one. */
  static async start(
    args: string[],
    options: { cwd?: string; env?: NodeJS.ProcessEnv; core?: number | undefined } = {},
  ) {
    const command = [process.execPath, ...args]
    const [program, ...rest] = options.core === undefined ? command : pinned(options.core, command)
    const child = spawn(program!, rest, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let printed = ''
    for await (const text of child.stdout.setEncoding('utf8')) {
      printed += text
      const url = urlIn(printed)
      if (url !== undefined) return new ServerProcess(url, child)
    }
    throw new Error(`A server ended before it answered: ${args.join(' ')}`)
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return
    const exit = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await exit
  }
}

interface Announcement {
  url?: string
  error?: { message: string }
}

function urlIn(printed: string): string | undefined {
  let failure: string
  try {
    const { url = '', error } = JSON.parse(printed) as Announcement
    if (error === undefined) return url
    failure = error.message
  } catch {
    return undefined
  }
  throw new Error(`A server did not start: ${failure}`)
}
