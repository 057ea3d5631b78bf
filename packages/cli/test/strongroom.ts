/** Runs `strongroom` as a person does: as a process, in a directory of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const launcher = fileURLToPath(new URL('../bin/strongroom.mjs', import.meta.url))

export interface Finished {
  code: number | null
  stdout: string
  stderr: string
}

export interface Running {
  process: ChildProcess
  /** Resolves with what was printed so far once the text appears; fails if the process ends first. */
  until(text: string): Promise<string>
  finished: Promise<Finished>
}

export function emptyDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'strongroom-'))
}

export function start(
  args: string[],
  {
    cwd,
    env = {},
    stdin,
  }: { cwd?: string; env?: Record<string, string>; stdin?: string | undefined } = {},
): Running {
  const { PATH, HOME } = process.env
  const child = spawn(process.execPath, [launcher, ...args], {
    cwd,
    // Nothing of the developer's own settings may decide a test.
    env: { PATH, HOME, ...env },
  })
  if (stdin !== undefined) child.stdin.end(stdin)
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
      while (!printed.stdout.includes(text)) {
        const ended = await Promise.race([once(child.stdout, 'data'), finished])
        if ('code' in ended)
          throw new Error(`Ended with ${ended.code} before "${text}": ${ended.stderr}`)
      }
      return printed.stdout
    },
  }
}

export function strongroom(
  args: string[],
  options?: Parameters<typeof start>[1],
): Promise<Finished> {
  return start(args, options).finished
}
