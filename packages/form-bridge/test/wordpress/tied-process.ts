/** Processes that end with whoever started them, also when that is killed. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'

/** It waits for the end of its input, which comes with the end of the starter, however that ends. */
const SHELL = '("$@"; kill -TERM 0) & cat >/dev/null; kill -TERM 0'

export type TiedProcess = ChildProcessByStdio<Writable, Readable, null>

export function startTied(
  command: string,
  args: readonly string[],
  options: { env: NodeJS.ProcessEnv; cwd?: string; complaints: 'inherit' | 'ignore' },
): TiedProcess {
  const { complaints, ...rest } = options
  return spawn('sh', ['-c', SHELL, 'sh', command, ...args], {
    ...rest,
    stdio: ['pipe', 'pipe', complaints],
    // A group of its own, which ends as a whole.
    detached: true,
  })
}

export async function endTied(process: TiedProcess): Promise<void> {
  const closed = once(process, 'close')
  process.stdout.resume()
  process.stdin.end()
  await closed
}
