import { describe, expect, test } from 'vitest'
import { links } from '../../sealed/test/crypto/vectors.ts'
import { exitCodeOf, explain } from '../src/failure.ts'
import { commands, run } from '../src/run.ts'
import { strongroom } from './strongroom.ts'

async function usage(argv: string[], env: NodeJS.ProcessEnv = {}) {
  const terminal = { env, out: () => {}, error: () => {} }
  try {
    return { code: await run(argv, commands, terminal), message: '' }
  } catch (error) {
    return { code: exitCodeOf(error), message: explain(error) }
  }
}

const secretLink = links.valid.find(({ kind }) => kind === 'secret')?.link ?? ''
const managementLink = links.valid.find(({ kind }) => kind === 'management')?.link ?? ''
const withoutKey = links.valid.find(({ kind }) => kind === 'secret-without-key')?.link ?? ''

describe('an invalid command line of Sealed is rejected in one line before any request', () => {
  test.each([
    [['seal', '--ttl', '1y'], '--ttl takes a number and one of s, m, h, d, w: such as 30d'],
    [['seal', '--ttl', '899s'], '--ttl must be from 15m to 90d, such as 900s, 15m, 1h or 7d'],
    [['seal', '--ttl', '91d'], '--ttl must be from 15m to 90d, such as 900s, 15m, 1h or 7d'],
    [['seal', '--views', '0'], '--views must be a number from 1 to 5'],
    [['seal', '--views', '6'], '--views must be a number from 1 to 5'],
    [['seal', '--views', 'two'], '--views must be a number from 1 to 5'],
    [
      ['seal', '--server', 'strongroom.example'],
      'The server must be an address such as https://strongroom.example',
    ],
    [
      ['seal', '--passphrase', '--passphrase-fd', '3', '--file', 'x'],
      '--passphrase and --passphrase-fd exclude each other: choose one',
    ],
    [
      ['seal', '--passphrase-fd', '0'],
      'Standard input cannot contain both the secret and the passphrase: use another descriptor',
    ],
    [
      ['open', '-', '--passphrase-fd', '0'],
      'Standard input cannot contain both the link and the passphrase: use another descriptor',
    ],
    [
      ['seal', '--file', '/nonexistent/file'],
      'Cannot read the file of --file (ENOENT): check its path',
    ],
    [['open', managementLink], 'This is a management link. Use the link that opens the secret.'],
    [
      ['open', withoutKey],
      'The link does not contain the key. Add the key that you received separately.',
    ],
    [['burn', secretLink], 'This link opens a secret. Use its management link.'],
    [['receipt', secretLink], 'This link opens a secret. Use its management link.'],
  ])('%s', async (argv, message) => {
    expect(await usage(argv)).toEqual({ code: 2, message })
  })

  test.each(['open', 'burn', 'receipt'])('%s rejects every invalid link', async (command) => {
    const wrong = links.refused.filter(({ link }) => link !== '' && link === link.trim())
    const refusals = await Promise.all(wrong.map(({ link }) => usage([command, link])))
    expect(new Set(refusals.map(({ code }) => code))).toEqual(new Set([2]))
    const said = refusals.map(({ message }) => message).join('\n')
    expect(wrong.filter(({ link }) => said.includes(link.split('#')[1] || link))).toEqual([])
  })

  test('without repeating what may be a secret', async () => {
    const misplaced = [
      ['seal', 'hunter2'],
      ['seal', '--passphrase', 'hunter2'],
      ['seal', '--passphrase=hunter2'],
      ['open', 'a', 'hunter2'],
      ['opne', 'https://x.example/#hunter2'],
      ['https://x.example/#hunter2'],
    ]
    for (const argv of misplaced) {
      const { code, message } = await usage(argv)
      expect(code).toBe(2)
      expect(message).not.toContain('hunter2')
      expect(message).not.toContain('\n')
    }
  })

  test('if there are two sources of the passphrase', async () => {
    const env = { STRONGROOM_PASSPHRASE: 'x', STRONGROOM_PASSPHRASE_FILE: '/x' }
    const file = new URL(import.meta.url).pathname
    expect(await usage(['seal', '--file', file], env)).toEqual({
      code: 2,
      message: 'STRONGROOM_PASSPHRASE and STRONGROOM_PASSPHRASE_FILE are both set: remove one',
    })
  })

  test.each([
    ['nothing', '', 'The text is empty. Enter a text to seal.'],
    [
      'more than 50 KB',
      'x'.repeat(51_201),
      'The text is too long. The maximum is 51,200 bytes of UTF-8.',
    ],
    [
      'no text',
      Uint8Array.of(0xff, 0xfe),
      'Standard input is not UTF-8: save it as UTF-8, or encode it, for example with base64',
    ],
  ])('if standard input cannot be sealed: %s', async (_, stdin, line) => {
    // Nothing listens there: it is refused before.
    const { code, stdout, stderr } = await strongroom(['seal', '--server', 'http://127.0.0.1:9'], {
      stdin,
    })
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: `${line}\n` })
  })

  test('if the descriptor is not open', async () => {
    const args = ['seal', '--server', 'http://127.0.0.1:9', '--passphrase-fd', '99']
    expect(await strongroom(args, { stdin: 'x' })).toEqual({
      code: 2,
      stdout: '',
      stderr: 'Cannot read the descriptor of --passphrase-fd (EBADF): open it, as with 99<file\n',
    })
  })

  test('if the passphrase is too long', async () => {
    const args = ['seal', '--server', 'http://127.0.0.1:9', '--passphrase-fd', '3']
    expect(await strongroom(args, { stdin: 'x', fd3: 'x'.repeat(4097) })).toEqual({
      code: 2,
      stdout: '',
      stderr: 'The passphrase is longer than 4096 bytes\n',
    })
  })

  test('if the link is missing', async () => {
    expect(await strongroom(['open'], { stdin: '\n' })).toEqual({
      code: 2,
      stdout: '',
      stderr: 'No link given: pass it as an argument or on standard input\n',
    })
  })
})

test.each(['seal', 'open', 'burn', 'receipt'])(
  'the help of %s explains its exit codes',
  async (name) => {
    const lines: string[] = []
    await run([name, '--help'], commands, {
      env: {},
      out: (text) => void lines.push(text),
      error() {},
    })
    expect(lines.join('')).toContain('3 not available')
  },
)
