/** Runs `strongroom` as a process in its own directory, as a person does. */
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'

export const launcher = fileURLToPath(new URL('../bin/strongroom.mjs', import.meta.url))

/** Node 22 and later cache compiled code here for all processes. */
const compiled = join(tmpdir(), 'strongroom-compiled')

export interface Finished {
  code: number | null
  stdout: string
  stderr: string
}

export interface Running {
  process: ChildProcess
  /** Resolves with what was printed so far once the text appears; fails if the process ends first. */
  until(text: string | RegExp): Promise<string>
  finished: Promise<Finished>
}

export function emptyDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'strongroom-'))
}

export interface StartOptions {
  cwd?: string
  env?: Record<string, string>
  /** What is on standard input; left open without it. */
  stdin?: string | Uint8Array | undefined
  /** What is on the file descriptor 3. */
  fd3?: string
  /** Another launcher than that of this clone, and another Node. */
  program?: string
  node?: string
}

export function start(args: readonly string[], options: StartOptions = {}): Running {
  const { cwd, env = {}, stdin, fd3, program = launcher, node = process.execPath } = options
  const { PATH, HOME } = process.env
  const child = spawn(node, [program, ...args], {
    cwd,
    // The developer's own settings must not affect tests.
    env: { PATH, HOME, TMPDIR: tmpdir(), NODE_COMPILE_CACHE: compiled, ...env },
    stdio: ['pipe', 'pipe', 'pipe', fd3 === undefined ? 'ignore' : 'pipe'],
    // Without the developer's terminal, so that no process waits for input.
    detached: stdin !== undefined,
  }) as ChildProcessWithoutNullStreams
  if (stdin !== undefined) child.stdin.end(stdin)
  if (fd3 !== undefined) (child.stdio[3] as Writable).end(fd3)
  const printed = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.stderr += text))
  const finished = once(child, 'close').then(([code]) => ({
    code: code as number | null,
    ...printed,
  }))
  return {
    process: child,
    finished,
    async until(text) {
      const isThere = () =>
        typeof text === 'string' ? printed.stdout.includes(text) : text.test(printed.stdout)
      while (!isThere()) {
        const ended = await Promise.race([once(child.stdout, 'data'), finished])
        if ('code' in ended)
          throw new Error(`Ended with ${ended.code} before "${String(text)}": ${ended.stderr}`)
      }
      return printed.stdout
    },
  }
}

export function strongroom(args: readonly string[], options?: StartOptions): Promise<Finished> {
  return start(args, options).finished
}
