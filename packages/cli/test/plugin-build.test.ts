import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { strFromU8, unzipSync } from 'fflate'
import { beforeEach, describe, expect, test } from 'vitest'
import { inProcess } from './in-process.ts'
import { emptyDirectory, strongroom } from './strongroom.ts'

const service = 'https://forms.example.com/form-bridge/'
const [key, otherKey] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64')) as [
  string,
  string,
]
/** Its last character has bits that belong to no byte. */
const inexactKey = key.replace(/.=$/, 'F=')

let cwd: string
let file: string
beforeEach(async () => {
  cwd = await emptyDirectory()
  file = join(cwd, 'plugin.zip')
})

interface Options {
  service?: string
  keys?: readonly string[]
  more?: readonly string[]
}

const lineOf = ({ service: url = service, keys = [key], more = [] }: Options = {}) => [
  'plugin',
  'build',
  '--service',
  url,
  ...keys.flatMap((each) => ['--public-key', each]),
  ...more,
]

const build = (options?: Options) => inProcess([...lineOf(options), '--out', file], { cwd })

async function builtFiles(options?: Options): Promise<Record<string, string>> {
  expect(await build(options)).toMatchObject({ code: 0, stdout: `${file}\n` })
  const files = Object.entries(unzipSync(await readFile(file)))
  return Object.fromEntries(files.map(([name, content]) => [name, strFromU8(content)]))
}

describe('the package of the plugin', () => {
  test('has the same bytes each time, also from the bundle', async () => {
    await build()
    const first = await readFile(file)
    await build()
    expect((await readFile(file)).equals(first)).toBe(true)

    const bundled = await strongroom(lineOf({ more: ['--json'] }), { cwd, stdin: '' })
    expect(bundled).toMatchObject({ code: 0, stderr: '' })
    const printed = JSON.parse(bundled.stdout) as Record<string, unknown>
    expect(printed).toMatchObject({ slug: 'form-bridge', bytes: first.length })
    expect(printed['file']).toBe(`form-bridge-${String(printed['version'])}.zip`)
    expect((await readFile(join(cwd, String(printed['file'])))).equals(first)).toBe(true)
  })

  test('contains the service URL, the trusted keys and the version', async () => {
    const files = await builtFiles({ keys: [key, otherKey], more: ['--version', '2.3.4-beta.1'] })
    const main = files['form-bridge/form-bridge.php']
    expect(main).toMatch(/^ \* Version: +2\.3\.4-beta\.1$/m)
    expect(main).toContain("define( 'FORM_BRIDGE_VERSION', '2.3.4-beta.1' )")
    expect(main).toMatch(
      /^ \* Update URI: +https:\/\/forms\.example\.com\/form-bridge\/v1\/plugins\/form-bridge$/m,
    )
    expect(files['form-bridge/readme.txt']).toContain('Stable tag: 2.3.4-beta.1\n')
    const facts = files['form-bridge/build.php']
    expect(facts).toContain("'service_url'  => 'https://forms.example.com/form-bridge',\n")
    expect(facts).toContain(`array(\n\t\t'${key}',\n\t\t'${otherKey}',\n\t),\n`)
  })

  test('has the files of the source without its tests, in one folder', async () => {
    const source = new URL('../../../plugins/wordpress/form-bridge/', import.meta.url)
    const entries = await readdir(source, { recursive: true, withFileTypes: true })
    const count = entries.filter(
      (entry) => entry.isFile() && !/form-bridge\/tests(?:\/|$)/.test(entry.parentPath),
    ).length
    const files = await builtFiles()
    expect(Object.keys(files).filter((name) => !name.startsWith('form-bridge/'))).toEqual([])
    expect(Object.keys(files).filter((name) => name.includes('/tests/'))).toEqual([])
    expect(Object.keys(files)).toHaveLength(count)
    expect(files['form-bridge/uninstall.php']).toBe(
      await readFile(new URL('uninstall.php', source), 'utf8'),
    )
  })

  test('keeps a URL as it is, also with characters that PHP or a replacement would interpret', async () => {
    const files = await builtFiles({ service: "https://forms.example.com/$&/$1/it's" })
    expect(files['form-bridge/form-bridge.php']).toMatch(
      /^ \* Update URI: +https:\/\/forms\.example\.com\/\$&\/\$1\/it's\/v1\/plugins\/form-bridge$/m,
    )
    expect(files['form-bridge/build.php']).toContain(
      String.raw`'https://forms.example.com/$&/$1/it\'s'`,
    )
  })

  test('can be signed', async () => {
    await build({ more: ['--version', '2.0.0'] })
    const releaseKey = join(cwd, 'release.key')
    await inProcess(['plugin', 'keygen', '--out', releaseKey], { cwd })
    expect(await inProcess(['plugin', 'sign', file, '--key', releaseKey], { cwd })).toMatchObject({
      code: 0,
      stdout: `form-bridge 2.0.0 is signed: ${file}.sig\n`,
    })
  })

  test.skipIf(process.platform === 'win32')('is readable by everyone', async () => {
    await build()
    expect((await stat(file)).mode & 0o777).toBe(0o644)
  })
})

const noUrl =
  '--service must be a URL such as https://forms.example.com/form-bridge, without a query\n'
const noPassword =
  '--service must have no user name and no password: everyone who has the plugin could read them\n'
const otherPath =
  '--service must have no asterisk and at most 2000 characters: mount the service at another path\n'
const noKey =
  '--public-key must be 32 bytes in base64 (44 characters), as "strongroom plugin keygen" prints it\n'
const noVersion =
  '--version must be like 1.2.0 or 1.2.0-beta.1, with at most 64 characters: sites compare it\n'
const incomplete =
  'Pass --service, such as https://forms.example.com/form-bridge, and --public-key, as "strongroom plugin keygen" printed it\n'

describe('is refused, and nothing is written', () => {
  test.each<[string, Options, string]>([
    ['a service that is no URL', { service: 'forms.example.com' }, noUrl],
    ['another protocol', { service: 'ftp://forms.example.com' }, noUrl],
    ['a query', { service: 'https://x.example/?a=1' }, noUrl],
    ['an empty query', { service: 'https://x.example/?' }, noUrl],
    ['a fragment', { service: 'https://x.example/#a' }, noUrl],
    ['a password', { service: 'https://ada:hunter2@x.example/' }, noPassword],
    ['a URL that ends a comment', { service: 'https://x.example/*/' }, otherPath],
    ['a long URL', { service: `https://x.example/${'a'.repeat(2_000)}` }, otherPath],
    ['no key', { keys: [] }, incomplete],
    ['a short key', { keys: ['short'] }, noKey],
    ['an inexact key', { keys: [inexactKey] }, noKey],
    ['a second key that is none', { keys: [key, "x');"] }, noKey],
    ['a version in words', { more: ['--version', 'latest'] }, noVersion],
    ['a long version', { more: ['--version', `1.0.0-${'a'.repeat(60)}`] }, noVersion],
  ])('%s', async (_case, options, message) => {
    expect(await build(options)).toEqual({ code: 2, stdout: '', stderr: message })
    expect(await readdir(cwd)).toEqual([])
  })

  test('no service', async () => {
    const { code, stderr } = await inProcess(['plugin', 'build', '--public-key', key])
    expect([code, stderr]).toEqual([2, incomplete])
  })

  test('a file in a missing directory, or a directory in place of the file', async () => {
    const missing = join(cwd, 'missing', 'plugin.zip')
    expect(await inProcess([...lineOf(), '--out', missing])).toEqual({
      code: 2,
      stdout: '',
      stderr: `${missing} cannot be written (ENOENT): check its path\n`,
    })
    await mkdir(file)
    await writeFile(join(file, 'content'), '')
    const { code, stderr } = await build()
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${file} cannot be written (`)])
    expect(await readdir(cwd)).toEqual(['plugin.zip'])
  })
})
