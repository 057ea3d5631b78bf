import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { askHidden, newPassphrase } from '../src/input.ts'

/** A terminal on which somebody types these lines, each when it is asked for. */
function terminal(...typed: string[]) {
  const input = Object.assign(new PassThrough(), { isTTY: true })
  const shown: string[] = []
  const show = (text: string) => {
    shown.push(text)
    if (text.endsWith(': ')) input.write(typed.shift() ?? '')
  }
  return { input, show, shown }
}

describe('a passphrase that is asked for', () => {
  test('is not shown, and has no spaces around it', async () => {
    const person = terminal(' open sesame \n')
    expect(await askHidden('Passphrase: ', person)).toBe('open sesame')
    expect(person.shown).toEqual(['Passphrase: ', '\n'])
  })

  test('is asked for twice when it is new', async () => {
    const person = terminal('open sesame\n', 'open sesame\n')
    expect(await newPassphrase(undefined, person)).toBe('open sesame')
  })

  test.each([
    [['one\n', 'two\n'], 'The passphrases do not match: nothing was changed'],
    [['\n'], 'A passphrase cannot be empty'],
    [['\u0003'], 'No input: run the command again'],
  ])('is refused when %o is typed', async (typed, message) => {
    await expect(newPassphrase(undefined, terminal(...typed))).rejects.toThrow(message)
  })
})

describe('a passphrase without a terminal', () => {
  test.each([
    [undefined, 'No terminal to ask on: pass the new passphrase with --fd'],
    ['x', '--fd must be the number of an open file descriptor, such as 3'],
    ['999', 'Cannot read the descriptor of --fd (EBADF): open it, as with 999<file'],
  ])('is refused from %s', async (descriptor, message) => {
    const nobody = { input: new PassThrough(), show: () => {} }
    await expect(newPassphrase(descriptor, nobody)).rejects.toThrow(message)
  })
})
