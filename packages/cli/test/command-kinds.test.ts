/** Every command does what its declared kind promises: which server it calls and which store it creates. */
import { once } from 'node:events'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { links } from '../../sealed/test/crypto/vectors.ts'
import type { Command } from '../src/command.ts'
import { commands } from '../src/run.ts'
import { firstStart } from './first-start.ts'
import { inProcess } from './in-process.ts'
import { pluginZip } from './plugin-zip.ts'
import { emptyDirectory, start, strongroom } from './strongroom.ts'

const all = (await Promise.all(Object.values(commands).map((load) => load()))).flat()
const ofKind = (kind: Command['kind']) => all.filter((command) => command.kind === kind)

const linkOf = (wanted: string) => links.valid.find(({ kind }) => kind === wanted)?.link ?? ''
const at = (server: string, link: string) => link.replace(/^https?:\/\/[^/]+/, server)

/** A request link whose token ends within the hour. */
function expiringSoon(link: string): string {
  const [base = '', id = '', fragment = ''] = link.split(/:(?!\/\/)/)
  const exp = Math.floor(Date.now() / 1000) + 3600
  const claims = Buffer.from(JSON.stringify({ jti: id, exp })).toString('base64url')
  return `${base}:${id}:${fragment}:x.${claims}.x`
}

/** Counts requests, and has no route. */
let requests = 0
const recorder = createServer((_request, response) => {
  requests++
  const error = { code: 'request.not_found', message: 'Not found' }
  response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
})
let server: string
let files: string
let cwd: string

beforeAll(async () => {
  await once(recorder.listen(0, '127.0.0.1'), 'listening')
  server = `http://127.0.0.1:${(recorder.address() as AddressInfo).port}`
  files = await emptyDirectory()
  await writeFile(join(files, 'secret'), 'a secret')
  await writeFile(join(files, 'plugin.zip'), pluginZip('1.0.0'))
  await writeFile(join(files, 'plugin.zip.sig'), 'signature')
  await firstStart(files)
  await inProcess(['backup', join(files, 'copy')], { cwd: files })
})
afterAll(() => void recorder.close())
beforeEach(async () => {
  cwd = await emptyDirectory()
  requests = 0
})

const credentials = () => ({
  STRONGROOM_SERVER: server,
  STRONGROOM_TOKEN: `sro_ops.${'x'.repeat(43)}`,
  FERRYHOOK_API_KEY: `fh_${'x'.repeat(43)}`,
})

/** Values of arguments that are enough to reach the server or the store. */
const ARGUMENTS: Readonly<Record<string, () => string>> = {
  AGENCY: () => 'agency_0123456789abcdef',
  EMAIL: () => 'ada@example.com',
  EVENT: () => 'evt_0123456789abcdef',
  FILE: () => join(files, 'copy'),
  JOB: () => 'job_01J9Z3NDEKTSV4RRFFQ69G5FAV',
  KIND: () => 'message',
  LINK: () => at(server, linkOf('secret')),
  NUMBER: () => '1',
  'MANAGEMENT-LINK': () => at(server, linkOf('management')),
  'REQUEST-LINK': () => at(server, expiringSoon(linkOf('request'))),
  REGISTRATION: () => 'reg_01J9Z3NDEKTSV4RRFFQ69G5FAV',
  PLAN: () => 'free',
  REPLAY: () => 'rpl_0123456789abcdef',
  ROLE: () => 'viewer',
  SCOPE: () => 'api',
  SITE: () => 'site_0123456789abcdef',
  SLUG: () => 'form-bridge',
  TOKEN_ID: () => '0'.repeat(64),
  TYPE: () => 'api_abuse',
  URL: () => 'https://example.com/hook',
  USER: () => 'ada@example.com',
  ZIP: () => join(files, 'plugin.zip'),
}

/** Options that a command needs, or that make one that keeps running fail immediately. */
const OPTIONS: Readonly<Record<string, () => string[]>> = {
  'agencies add': () => ['--email', 'ada@example.com', '--max-sites', '5'],
  'agencies change': () => ['--max-sites', '5'],
  'alerts set': () => ['--webhook', 'https://example.com/hook'],
  'connections change': () => ['--name', 'x'],
  'connections dry-run': () => ['--event', 'evt_0123456789abcdef'],
  dynamodb: () => ['--port', 'x'],
  'fake-slack': () => ['--port', 'x'],
  'fake-slack send': () => ['--name', ''],
  fill: () => ['--file', join(files, 'secret')],
  'kms serve': () => ['--port', 'x'],
  listen: () => ['--forward', 'http://127.0.0.1:9'],
  'operator change': () => ['--role', 'viewer'],
  'plugin build': () => [
    '--service=https://example.com',
    `--public-key=${'A'.repeat(43)}=`,
    `--out=${join(files, 'built.zip')}`,
  ],
  'plugin keygen': () => ['--out', join(files, 'secret')],
  'plugin sign': () => ['--key', join(files, 'secret')],
  'rate-limits set': () => ['--minute', '5'],
  restore: () => ['--data', join(cwd, 'data')],
  seal: () => ['--file', join(files, 'secret')],
  serve: () => ['--only', 'x'],
  'slack app add': () => ['--upstream', 'https://example.com'],
  'slack app change': () => ['--upstream', 'https://example.com'],
  'sources change': () => ['--name', 'x'],
  'sources rotate': () => ['--secret-file', join(files, 'secret')],
  worker: () => ['--metrics-port', 'x'],
}

/** These read a secret from standard input, so they need a process. */
const READS_INPUT = [
  'registrations find',
  'slack app add',
  'slack secret rotate',
  'slack token set',
]

const lineOf = ({ name, args = '' }: Command): string[] => [
  ...name.split(' '),
  ...args
    .replaceAll(/[[\]]/g, '')
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => ARGUMENTS[word]?.() ?? 'x'),
  ...(OPTIONS[name]?.() ?? []),
]

const execute = (command: Command, env: Record<string, string>, ...more: string[]) => {
  const line = [...lineOf(command), ...more]
  return READS_INPUT.includes(command.name)
    ? strongroom(line, { cwd, env, stdin: 'a secret' })
    : inProcess(line, { cwd, env })
}

test('commands have the kinds that the documentation lists', () => {
  const words = (kind: Command['kind']) =>
    new Set(ofKind(kind).map(({ name }) => name.split(' ')[0]))
  expect(words('either')).toEqual(
    new Set(['audit', 'keys', 'operator', 'sealed', 'secrets', 'user']),
  )
  const onStore =
    'backup check copy dynamodb kms operator recover restore serve tables worker'.split(' ')
  expect(words('store')).toEqual(new Set(onStore))
  expect(words('standalone')).toEqual(new Set(['config', 'fake-slack', 'kms', 'plugin']))
})

test.each(all)('the help of $name says what it works on', async ({ name, kind, creates }) => {
  const { stdout } = await inProcess([...name.split(' '), '--help'])
  const words = { client: 'Calls a server', either: '--local', store: 'Works on the store' }
  expect(stdout).toContain(kind === 'standalone' ? 'neither a server nor the store' : words[kind])
  expect(stdout.includes('Creates the store if there is none')).toBe(creates === true)
})

test.each(ofKind('client'))('$name calls the server and creates nothing', async (command) => {
  const { code } = await execute(command, credentials())
  expect([code === 0, requests > 0]).toEqual([false, true])
  expect(await readdir(cwd)).toEqual([])
})

describe.each(ofKind('either'))('$name', (command) => {
  // A bootstrap code replaces the token.
  test.skipIf(command.name === 'operator claim')(
    'requires a token if STRONGROOM_SERVER is set',
    async () => {
      const { code, stderr } = await execute(command, { STRONGROOM_SERVER: server })
      expect([code, stderr]).toEqual([
        2,
        "STRONGROOM_SERVER is set, so this command calls that server and requires an operator's token: set STRONGROOM_TOKEN, or use --local for the store\n",
      ])
      const explicit = await execute(command, {}, '--server', server)
      expect([explicit.code, explicit.stderr]).toEqual([
        2,
        "--server requires an operator's token: set STRONGROOM_TOKEN\n",
      ])
      expect([requests, await readdir(cwd)]).toEqual([0, []])
    },
  )

  test('uses the server that is set, and never the store', async () => {
    const { STRONGROOM_TOKEN } = credentials()
    const chosen = await execute(command, { STRONGROOM_TOKEN }, '--server', server)
    const standard = await execute(command, credentials())
    for (const { code, stdout, stderr } of [chosen, standard]) {
      expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(server)])
    }
    expect(requests).toBeGreaterThan(0)
    expect(await readdir(cwd)).toEqual([])
  })

  test('uses the store with --local', async () => {
    const both = await execute(command, credentials(), '--server', server, '--local')
    expect([both.code, both.stderr]).toEqual([2, 'Use either --server or --local, not both\n'])
    const { code, stderr } = await execute(command, credentials(), '--local')
    expect(requests).toBe(0)
    const [store, left] = command.creates
      ? [`Created a store in ${join(cwd, 'data')}\n`, ['data']]
      : [missing(), []]
    expect([code, stderr]).toEqual([command.creates ? 0 : 1, expect.stringContaining(store)])
    expect(await readdir(cwd)).toEqual(left)
  })
})

describe.each(ofKind('store'))('$name', (command) => {
  test('says that it ignores STRONGROOM_SERVER, also with --json', async () => {
    for (const more of [[], ['--json']]) {
      const { stderr } = await execute(command, credentials(), ...more)
      expect(stderr).toContain(
        `"strongroom ${command.name}" ignores STRONGROOM_SERVER and works on the store itself\n`,
      )
    }
    expect(requests).toBe(0)
    expect((await execute(command, {})).stderr).not.toContain('STRONGROOM_SERVER')
  })
})

const missing = () => `There is no store in ${join(cwd, 'data')}: `

describe.each([{ state: 'missing' }, { state: 'empty' }])('in a $state directory', ({ state }) => {
  beforeEach(async () => {
    if (state === 'empty') await mkdir(join(cwd, 'data'))
  })

  /** These need no store: two print what AWS needs, the others look for a file in its directory. */
  const needNone: Readonly<Record<string, string>> = {
    'tables cloudformation': '',
    'tables policy': '',
    'kms audit verify': 'kms-audit.log not found',
    'kms passphrase change': 'master.key not found',
    'kms passphrase remove': 'master.key not found',
    'kms passphrase set': 'master.key not found',
  }
  const usesStore = [...ofKind('store'), ...ofKind('either')].filter(({ creates }) => !creates)

  test.each(usesStore)('$name creates nothing', async (command) => {
    const { code, stderr } = await execute(command, {})
    const message = needNone[command.name] ?? missing()
    expect([code, stderr]).toEqual([message === '' ? 0 : 1, expect.stringContaining(message)])
    expect(await readdir(cwd, { recursive: true })).toEqual(state === 'empty' ? ['data'] : [])
  })
})

test('a command that reads creates no tables and no master key in a store without them', async () => {
  await inProcess(['tables', 'create'], { cwd })
  const keys = await inProcess(['keys', 'list'], { cwd })
  const secrets = await inProcess(['secrets', 'list'], { cwd })
  expect([keys.stdout, secrets.stdout]).toEqual([
    'There are no branch keys\n',
    'There are no secrets yet\n',
  ])
  for (const line of [
    ['keys', 'rotate', 'x'],
    ['secrets', 'rotate', 'x'],
    ['kms', 'rotate'],
  ]) {
    const { code, stderr } = await inProcess(line, { cwd })
    expect([code, stderr]).toEqual([
      1,
      'The KMS of this store has no key yet: the first start of the server creates it\n',
    ])
  }
  expect(await readdir(join(cwd, 'data'))).not.toContain('keys')

  const other = { STRONGROOM_TABLE_PREFIX: 'other-' }
  const { code, stderr } = await inProcess(['operator', 'list'], { cwd, env: other })
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^The store in .* has no table strongroom-server: set .*\n$/),
  ])
  const verified = await inProcess(['tables', 'verify'], { cwd, env: other })
  expect([verified.code, verified.stdout]).toEqual([1, expect.stringContaining('does not exist')])
})

describe('a command that creates a store prints which one', () => {
  test.each([['tables create'], ['tables create --json']])('%s', async (line) => {
    const { code, stderr } = await inProcess(line.split(' '), { cwd })
    expect(code).toBe(0)
    expect(stderr).toContain(`Created a store in ${join(cwd, 'data')}\n`)
    expect((await inProcess(line.split(' '), { cwd })).stderr).not.toContain('Created')
  })

  test('restore', async () => {
    const { code, stderr } = await inProcess(['restore', join(files, 'copy')], { cwd })
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining(`Created a store in ${join(cwd, 'data')}\n`),
    ])
  })

  test.each([
    { line: ['serve'], data: 'data' },
    { line: ['worker'], data: 'data' },
    { line: ['kms', 'serve', '--port', '0'], data: 'data' },
    { line: ['dynamodb', '--port', '0'], data: 'dynamodb-data' },
  ])('$line', async ({ line, data }) => {
    const env = { PORT: '0', AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' }
    for (const isFirst of [true, false]) {
      const running = start([...line, '--json'], { cwd, env })
      onTestFinished(() => void running.process.kill('SIGKILL'))
      await running.until('\n}\n')
      running.process.kill('SIGTERM')
      const { stderr } = await running.finished
      expect(stderr.includes(`Created a store in ${join(cwd, data)}\n`)).toBe(isFirst)
    }
  })
})

test.each(ofKind('standalone'))('$name uses neither a server nor the store', async (command) => {
  const { stderr } = await execute(command, credentials())
  expect(stderr).not.toContain('STRONGROOM_SERVER')
  expect([requests, await readdir(cwd)]).toEqual([0, []])
})
