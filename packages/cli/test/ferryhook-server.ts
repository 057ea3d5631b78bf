/** A server with Ferryhook that delivers to this machine, and accounts to try commands with. */
import { createHmac } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { inProcess } from './in-process.ts'
import { emptyDirectory, type Finished, start } from './strongroom.ts'

export interface Account {
  key: string
  /** Runs a command that is to succeed, and returns what it prints. */
  does(...args: string[]): Promise<string>
  json<T = Record<string, unknown>>(...args: string[]): Promise<T>
  /** Runs a command, whatever becomes of it. */
  tries(args: readonly string[], env?: Record<string, string>): Promise<Finished>
  /** The event of an id once it has the status. */
  untilStatus(eventId: string, status: string): Promise<Record<string, unknown>>
}

export interface FerryhookServer {
  url: string
  cwd: string
  /** Writes a file where the server runs, and returns its path. */
  file(name: string, text: string): Promise<string>
  /** Each test has its own: a key may ask a hundred times a minute. */
  account(): Promise<Account>
  close(): void
}

export async function ferryhookServer(): Promise<FerryhookServer> {
  const cwd = await emptyDirectory()
  const env = {
    PORT: '0',
    FERRYHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    FERRYHOOK_ALLOW_HTTP: 'true',
  }
  const server = start(['serve', '--json'], { cwd, env })
  const { url } = JSON.parse(await server.until('\n}\n')) as { url: string }
  let accounts = 0

  async function account(): Promise<Account> {
    const added = await inProcess(['user', 'add', `user${++accounts}@example.com`], { cwd })
    const key = added.stdout.trim()
    expect(key).toMatch(/^fh_live_/)
    const tries = (args: readonly string[], more = {}) =>
      inProcess([...args, '--server', url], { cwd, env: { FERRYHOOK_API_KEY: key, ...more } })
    const does = async (...args: string[]) => {
      const { code, stdout, stderr } = await tries(args)
      expect([args, code, stderr]).toEqual([args, 0, expect.any(String)])
      expect(stdout + stderr).not.toContain(key)
      return stdout
    }
    const json = async <T = Record<string, unknown>>(...args: string[]) =>
      JSON.parse(await does(...args, '--json')) as T
    return {
      key,
      does,
      json,
      tries,
      untilStatus: (eventId, status) =>
        vi.waitFor(
          async () => {
            const event = await json('events', 'show', eventId)
            expect(event['status']).toBe(status)
            return event
          },
          { timeout: 15_000, interval: 100 },
        ),
    }
  }

  async function file(name: string, text: string): Promise<string> {
    const path = join(cwd, name)
    await writeFile(path, text)
    return path
  }

  return { url, cwd, file, account, close: () => void server.process.kill('SIGKILL') }
}

/** Sends a webhook and returns the id of its event. */
export async function send(to: string, body: string, headers: Record<string, string> = {}) {
  const answer = await fetch(to, { method: 'POST', headers, body })
  const [id = ''] = /evt_[\w-]{16}/.exec(await answer.text()) ?? []
  return { status: answer.status, id }
}

export function asGitHubSigns(secret: string, body: string): Record<string, string> {
  const mac = createHmac('sha256', secret).update(body).digest('hex')
  return { 'x-github-event': 'ping', 'x-hub-signature-256': `sha256=${mac}` }
}
