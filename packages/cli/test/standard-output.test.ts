/** Standard output without a reader, or on a full disk. */
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { inShell } from './in-shell.ts'

test('a closed pipe is not a failure', async () => {
  for (const reader of ['true', 'head -1 > /dev/null']) {
    const ended = await inShell(`$STRONGROOM tables cloudformation | ${reader}`)
    expect(ended).toEqual({ code: 0, stdout: '', stderr: '' })
  }
})

test('a long-running command stops cleanly when its pipe is closed', async () => {
  const ended = await inShell('$STRONGROOM fake-slack --port 0 | true')
  expect(ended).toEqual({ code: 0, stdout: '', stderr: '' })
})

test.runIf(existsSync('/dev/full'))('a full disk is told in one line', async () => {
  expect(await inShell('$STRONGROOM config > /dev/full')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'Cannot write to standard output (ENOSPC): free some space, or redirect it\n',
  })
})

test.runIf(existsSync('/dev/full'))('what cannot be told has its exit code', async () => {
  const ended = await inShell('$STRONGROOM nonsense 2> /dev/full')
  expect(ended).toEqual({ code: 2, stdout: '', stderr: '' })
})
