/** Runs a line of bash in which $STRONGROOM is the program: for what only a shell can hand over. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { type Finished, launcher } from './strongroom.ts'

export async function inShell(line: string, env: Record<string, string> = {}): Promise<Finished> {
  const { PATH, HOME } = process.env
  const child = spawn('bash', ['-c', `set -o pipefail; ${line}`], {
    env: { PATH, HOME, STRONGROOM: `${process.execPath} ${launcher}`, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const closed = once(child, 'close') as Promise<[number | null]>
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = await closed
  return { code, stdout, stderr }
}
