/** Errors of one line that say what to do; part of ferryhook.test.ts, on its server. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Account, FerryhookServer } from './ferryhook-server.ts'
import { inProcess } from './in-process.ts'

const noJson = join(mkdtempSync(join(tmpdir(), 'strongroom-')), 'filter.json')
writeFileSync(noJson, '{"path":')
const inLatin1 = join(dirname(noJson), 'headers.json')
writeFileSync(inLatin1, Buffer.from('{"x-key":"höhle"}', 'latin1'))
const tooLong = join(dirname(noJson), 'long.json')
writeFileSync(tooLong, `[]${' '.repeat(1024 * 1024)}`)
const event = 'evt_AAAAAAAAAAAAAAAA'

export function refusals(server: () => FerryhookServer): void {
  describe('what is wrong before the server is asked', () => {
    const key = { FERRYHOOK_API_KEY: 'fh_live_x' }

    test.each([
      [
        ['sources', 'list'],
        'No API key: set FERRYHOOK_API_KEY to one that "strongroom user add" prints',
        {},
      ],
      [
        ['sources', 'list', '--server', 'ftp://x'],
        '--server must be an http or https address without user, query and fragment',
      ],
      [
        ['sources', 'add'],
        '"strongroom sources add" needs NAME: run "strongroom sources add --help"',
      ],
      [
        ['sources', 'add', 'a', '--secret-fd', '3', '--secret-file', 'f'],
        '--secret-fd and --secret-file exclude each other: choose one',
      ],
      [
        ['sources', 'add', 'a', '--secret-fd', 'hush'],
        '--secret-fd must be the number of an open file descriptor, such as 3',
      ],
      [
        ['sources', 'add', 'a', '--secret-file', '/nonexistent'],
        'Cannot read the file of --secret-file (ENOENT): check its path',
      ],
      [
        ['sources', 'add', 'a', '--unsigned'],
        '--unsigned excludes a signing secret: omit one of them',
        { ...key, FERRYHOOK_SIGNING_SECRET: 'hush' },
      ],
      [['connections', 'add', 'a'], 'Missing destination: pass SOURCE and URL'],
      [
        ['connections', 'add', 'a', 'nowhere'],
        'URL must be absolute, such as https://shop.example.com/hooks, or test:200',
      ],
      [
        ['connections', 'add', 'a', 'localhost:3000'],
        'URL must be absolute, such as https://shop.example.com/hooks, or test:200',
      ],
      [
        ['connections', 'add', 'a', 'https://x.example', '--headers', inLatin1],
        'The file of --headers is not UTF-8: save it as UTF-8, or encode it, for example with base64',
      ],
      [
        ['connections', 'add', 'a', 'https://x.example', '--filter', tooLong],
        'The file of --filter is larger than 1 MB: use a smaller one',
      ],
      [
        ['connections', 'add', 'a', 'https://x.example', '--filter', noJson],
        'The file of --filter is not JSON: correct it',
      ],
      [
        ['sources', 'add', 'a', '--provider', 'githb'],
        '--provider has no value "githb": did you mean github?',
      ],
      [
        ['events', 'list', '--status', 'lost-for-ever'],
        '--status has no value "lost-for-ever": choose from received, processing, filtered, delivered, retrying, failed, held, unrouted, signature_failed',
      ],
      [['events', 'list', '--limit', 'all'], '--limit must be a number from 1 to 9999'],
      [
        ['events', 'list', '--since', 'yesterday'],
        '--since takes a number and one of s, m, h, d, w: such as 30d',
      ],
      [
        ['events', 'list', '--since', '2026-13-40'],
        '--since must be a time such as 2h or 2026-01-31T12:00:00Z',
      ],
      [
        ['events', 'list', '--since', '9999999w'],
        '--since must be a time such as 2h or 2026-01-31T12:00:00Z',
      ],
      [
        ['events', 'list', '--search', 'x'],
        'A text search requires a start time: add --since, such as --since 1d',
      ],
      [
        ['events', 'show', 'x'],
        'EVENT must be an id, evt_ and 16 characters: see "strongroom events list"',
      ],
      [['events', 'replay'], 'Nothing to replay: pass an EVENT, or --source with --since'],
      [['events', 'replay', event, '--since', '1h'], '--since requires --source'],
      [['events', 'replay', event, '--source', 'a'], 'Use either an EVENT or --source, not both'],
      [
        ['events', 'replay', '--source', 'a'],
        '--source requires a start time: add --since, such as --since 2h',
      ],
      [
        ['events', 'replay', '--source', 'a', '--since', '1h', '--per-second', '0'],
        '--per-second must be a number from 1 to 500',
      ],
      [
        ['replays', 'cancel', 'x'],
        'REPLAY must be an id, rpl_ and 16 characters: see "strongroom replays list"',
      ],
    ] as [string[], string, Record<string, string>?][])('%s', async (args, line, env = key) => {
      const refused = await inProcess(args, { env })
      expect(refused).toEqual({ code: 2, stdout: '', stderr: `${line}\n` })
    })

    test('a server that does not answer', async () => {
      const args = ['sources', 'list', '--server', 'http://127.0.0.1:9']
      const { code, stdout, stderr } = await inProcess(args, { env: key })
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(/^Cannot reach the server at [^\n]+: check that it runs and [^\n]+\n$/)
      const forPrograms = await inProcess([...args, '--json'], { env: key })
      const error = { code: 'server_unusable', message: stderr.trimEnd() }
      expect(JSON.parse(forPrograms.stdout)).toEqual({ error })
    })
  })

  describe('what the server refuses', () => {
    let account: Account
    beforeAll(async () => {
      account = await server().account()
      for (const name of ['Shop', 'Twin', 'Twin']) await account.does('sources', 'add', name)
    })

    test.each([
      [['sources', 'show', 'Shoop'], 1, 'No source is called "Shoop": did you mean "Shop"?'],
      [
        ['events', 'list', 'nothing like it'],
        1,
        'No source is called "nothing like it": see "strongroom sources list"',
      ],
      [
        ['sources', 'remove', 'Twin'],
        2,
        'Several sources are called "Twin": use the id from "strongroom sources list"',
      ],
      [
        ['sources', 'show', 'src_AAAAAAAAAAAAAAAA'],
        1,
        'Source not found: see "strongroom sources list"',
      ],
      [
        ['connections', 'pause', 'Shop'],
        1,
        'No connection is called "Shop": see "strongroom connections list"',
      ],
      [
        ['connections', 'remove', 'conn_AAAAAAAAAAAAAAAA'],
        1,
        'Connection not found: see "strongroom connections list"',
      ],
      [
        ['listen', 'Shoop', '--forward', 'http://127.0.0.1:9'],
        1,
        'No source is called "Shoop": did you mean "Shop"?',
      ],
      [['events', 'show', event], 1, 'Event not found or expired: see "strongroom events list"'],
      [['events', 'replay', event], 1, 'Event not found or expired: see "strongroom events list"'],
      [
        ['replays', 'cancel', 'rpl_AAAAAAAAAAAAAAAA'],
        1,
        'Replay not found: see "strongroom replays list"',
      ],
      [
        ['events', 'replay', '--source', 'Shop', '--since', '1h'],
        1,
        'The source has no connection: see "strongroom connections add --help"',
      ],
    ] as [string[], number, string][])('%s', async (args, code, line) => {
      expect(await account.tries(args)).toEqual({ code, stdout: '', stderr: `${line}\n` })
    })

    test('a field that is wrong is named', async () => {
      const wrong = await account.tries(['sources', 'add', 'x'.repeat(101)])
      expect(wrong).toMatchObject({ code: 1, stdout: '' })
      expect(wrong.stderr).toMatch(/^The request is not valid: correct name \([^\n]+\)\n$/)
      expect(await account.json('sources', 'list')).toHaveLength(3)
    })

    test('an API key that it has not made, or that may not do it, is told so and not repeated', async () => {
      const env = { FERRYHOOK_API_KEY: 'fh_live_wrong' }
      const unknown = await account.tries(['sources', 'list'], env)
      expect(unknown).toEqual({
        code: 1,
        stdout: '',
        stderr: 'The server rejects this API key: set FERRYHOOK_API_KEY to a valid one\n',
      })
      const answer = await fetch(`${server().url}/ferryhook/v1/api-keys`, {
        method: 'POST',
        headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'reader', permissions: 'read' }),
      })
      const { key = '' } = (await answer.json()) as { key?: string }
      const refused = await account.tries(['sources', 'remove', 'Shop'], { FERRYHOOK_API_KEY: key })
      expect(refused).toEqual({
        code: 1,
        stdout: '',
        stderr: 'This API key lacks permission: use one with the permission write\n',
      })
    })
  })
}
