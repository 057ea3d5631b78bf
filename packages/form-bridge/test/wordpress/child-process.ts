/** Child processes that end with their parent, even if it is killed. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'

/** Waits for the end of its input, which closes when the parent ends for any reason. */
const SHELL = '("$@"; kill -TERM 0) & cat >/dev/null; kill -TERM 0'

export type ServerProcess = ChildProcessByStdio<Writable, Readable, null>

export function startProcess(
  command: string,
  args: readonly string[],
  options: { env: NodeJS.ProcessEnv; cwd?: string; stderr: 'inherit' | 'ignore' },
): ServerProcess {
  const { stderr, ...rest } = options
  return spawn('sh', ['-c', SHELL, 'sh', command, ...args], {
    ...rest,
    stdio: ['pipe', 'pipe', stderr],
    // Its own process group, which is killed as a whole.
    detached: true,
  })
}

export async function stopProcess(process: ServerProcess): Promise<void> {
  const closed = once(process, 'close')
  process.stdout.resume()
  process.stdin.end()
  await closed
}
