/**
 * Runs `strongroom` in the process of the test, on the data of a directory, which is much faster than
 * a process of its own. Not for commands that read standard input or take relative paths.
 */
import { join } from 'node:path'
import { reportFailure } from '../src/failure.ts'
import { commands, run } from '../src/run.ts'
import type { Finished } from './strongroom.ts'

export async function inProcess(
  args: readonly string[],
  { cwd, env = {}, width }: { cwd?: string; env?: Record<string, string>; width?: number } = {},
): Promise<Finished> {
  const finished: Finished = { code: null, stdout: '', stderr: '' }
  const terminal = {
    env: { ...(cwd !== undefined && { STRONGROOM_DATA: join(cwd, 'data') }), ...env },
    width,
    out: (text: string) => void (finished.stdout += text),
    error: (text: string) => void (finished.stderr += text),
  }
  try {
    finished.code = await run(args, commands, terminal)
  } catch (error) {
    finished.code = reportFailure(error, args, terminal)
  }
  return finished
}
