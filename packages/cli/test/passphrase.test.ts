import { describe, expect, test } from 'vitest'
import { newPassphrase } from '../src/input.ts'

/** A person who types these lines, one for each question. */
function person(...lines: string[]) {
  return async () => lines.shift()
}

describe('a new passphrase', () => {
  test('is asked for twice and trimmed', async () => {
    const passphrase = await newPassphrase(undefined, person(' open sesame ', 'open sesame'))
    expect(passphrase).toBe('open sesame')
  })

  test.each([
    [['one', 'two'], 'The passphrases do not match: nothing was changed'],
    [[' '], 'A passphrase cannot be empty'],
  ])('is rejected if %o is typed', async (lines, message) => {
    await expect(newPassphrase(undefined, person(...lines))).rejects.toThrow(message)
  })

  test.each([
    [undefined, 'No terminal to ask on: pass the new passphrase with --fd'],
    ['x', '--fd must be the number of an open file descriptor, such as 3'],
    ['999', 'Cannot read the descriptor of --fd (EBADF): open it, as with 999<file'],
  ])('is rejected without a terminal if --fd is %s', async (descriptor, message) => {
    await expect(newPassphrase(descriptor, person())).rejects.toThrow(message)
  })
})
