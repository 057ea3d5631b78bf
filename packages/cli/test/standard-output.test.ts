/** Standard output that nobody reads, or that leads to a full disk. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { launcher } from './strongroom.ts'

/** In a shell, because only there it is closed before the first byte. */
async function inShell(script: string): Promise<{ code: number | null; stderr: string }> {
  const { PATH, HOME } = process.env
  const child = spawn('bash', ['-c', `set -o pipefail; ${script}`], {
    env: { PATH, HOME, STRONGROOM: `${process.execPath} ${launcher}` },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stderr }
}

test('a reader that has gone is no failure', async () => {
  for (const reader of ['true', 'head -1']) {
    const script = `$STRONGROOM tables cloudformation | ${reader}`
    expect(await inShell(script)).toEqual({ code: 0, stderr: '' })
  }
})

test.runIf(existsSync('/dev/full'))('a full disk is told in one line', async () => {
  expect(await inShell('$STRONGROOM config > /dev/full')).toEqual({
    code: 1,
    stderr:
      'Cannot write to standard output (ENOSPC): free some space, or let it go somewhere else\n',
  })
})

test.runIf(existsSync('/dev/full'))(
  'what cannot be told either still has its exit code',
  async () => {
    expect(await inShell('$STRONGROOM nonsense 2> /dev/full')).toEqual({ code: 2, stderr: '' })
  },
)
