/** The package `strongroom` as users install it, from an empty directory with only Node and npm. */
import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { mkdtemp, open, readdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import {
  installNode,
  installProject,
  packagesRequired,
  NEWEST_NODE,
  type Project,
  tarball,
} from '@strongroom/kit/testing/published'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { start, type StartOptions, strongroom } from '../strongroom.ts'

const MAX_INSTALL_MS = 300_000
/** Two thirds are the native binary, in four variants. */
const MAX_INSTALLED_BYTES = 40_000_000
const OLDEST_NODE_ON_NPM = 4

const launcherIn = (directory: string) => join(directory, 'node_modules/.bin/strongroom')

function sizeOf(path: string): number {
  const found = lstatSync(path)
  if (!found.isDirectory()) return found.size
  return readdirSync(path).reduce((total, name) => total + sizeOf(join(path, name)), 0)
}

describe.runIf(packagesRequired)('the installed command', () => {
  let project: Project
  let newest: { path: string; project: Project }

  beforeAll(async () => {
    project = await installProject([tarball('strongroom')])
    newest = await installNode(NEWEST_NODE)
  }, MAX_INSTALL_MS)

  afterAll(async () => {
    await project.remove()
    await newest.project.remove()
  })

  test('is small and brings the native library and nothing else', async () => {
    const modules = join(project.directory, 'node_modules')
    const bytes = sizeOf(modules)
    console.log(`strongroom installed: ${(bytes / 1e6).toFixed(1)} MB`)
    expect(bytes).toBeLessThan(MAX_INSTALLED_BYTES)
    const names = (await readdir(modules)).filter((name) => !name.startsWith('.'))
    expect(names.toSorted()).toEqual([
      '@harperfast',
      '@lmdb',
      '@msgpackr-extract',
      'detect-libc',
      'lmdb',
      'msgpackr',
      'msgpackr-extract',
      'node-addon-api',
      'node-gyp-build-optional-packages',
      'ordered-binary',
      'strongroom',
      'weak-lru-cache',
    ])
    const files = await readdir(join(modules, 'strongroom'), { recursive: true })
    expect(files.filter((file) => /\.(?:ts|map)$|test/.test(file))).toEqual([])
  })

  test.each(['this Node', `Node ${NEWEST_NODE}`])(
    'serves five services, the console and the guides on %s, seals a secret, and stops',
    async (version) => {
      const node = version === 'this Node' ? process.execPath : newest.path
      await expectService(project.directory, node)
    },
  )

  test('builds the WordPress plugin with the same bytes as a clone', async () => {
    const cwd = await mkdtemp(join(project.directory, 'run-'))
    const options = ['--service', 'https://forms.example.com/form-bridge', '--version', '1.2.3']
    const key = Buffer.alloc(32, 1).toString('base64')
    const line = ['plugin', 'build', ...options, '--public-key', key]
    const installed = { cwd, program: launcherIn(project.directory), stdin: '' }
    expect(await strongroom(line, installed)).toMatchObject({
      code: 0,
      stdout: 'form-bridge-1.2.3.zip\n',
    })
    expect(await strongroom([...line, '--out', 'clone.zip'], { cwd, stdin: '' })).toMatchObject({
      code: 0,
    })
    const [built, expected] = await Promise.all(
      ['form-bridge-1.2.3.zip', 'clone.zip'].map((name) => readFile(join(cwd, name))),
    )
    expect(built?.length).toBeGreaterThan(50_000)
    expect(built?.equals(expected ?? Buffer.alloc(0))).toBe(true)

    const refused = await strongroom(
      ['plugin', 'build', '--service', 'x', '--public-key', key],
      installed,
    )
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toMatch(/^--service must be a URL .+\n$/)
  })

  test(
    'runs in a directory with spaces and letters beyond ASCII, without install scripts, in a strict layout',
    async () => {
      const strict = await installProject([tarball('strongroom')], {
        name: "Tür & Schloß's 鍵",
        options: ['--ignore-scripts', '--install-strategy=linked'],
      })
      onTestFinished(() => strict.remove())
      await expectService(strict.directory, process.execPath)
    },
    MAX_INSTALL_MS,
  )

  test(
    'says which Node it needs, also on a Node that cannot parse it',
    async () => {
      const old = await installNode(OLDEST_NODE_ON_NPM)
      onTestFinished(() => old.project.remove())
      const program = join(project.directory, 'node_modules/strongroom/bin/strongroom.cjs')
      const finished = await old.project.run([program, 'serve'], { node: old.path })
      expect(finished.code).toBe(1)
      expect(finished.stdout).toBe('')
      expect(finished.stderr).toMatch(
        /^Strongroom needs Node 20\.19 or newer, this is 4\.\d+\.\d+: get one at nodejs\.org\n$/,
      )
    },
    MAX_INSTALL_MS,
  )

  describe('without a usable native library', () => {
    const scope = () => join(project.directory, 'node_modules/@lmdb')

    async function expectExplanation() {
      const cwd = await mkdtemp(join(project.directory, 'run-'))
      const options = { cwd, program: launcherIn(project.directory), stdin: '' }
      for (const args of [
        ['serve', '--port', '0'],
        ['dynamodb', '--port', '0'],
        ['tables', 'create'],
      ]) {
        const { code, stdout, stderr } = await strongroom(args, options)
        expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
        expect(stderr).toMatch(
          /^Cannot load the native library "lmdb" for \w+-\w+ on Node [\d.]+ \(.+\)\. Remove node_modules and install again on this machine, without --omit=optional; .+\n$/,
        )
        expect(await readdir(cwd)).toEqual([])
      }
      const json = await strongroom(['serve', '--json'], options)
      expect(JSON.parse(json.stdout)).toMatchObject({ error: { code: 'failed' } })
      // What needs no data directory works.
      const help = await strongroom(['--help'], options)
      expect(help).toMatchObject({ code: 0, stderr: '' })
    }

    test('a missing binary is explained, and nothing is created', async () => {
      await rename(scope(), `${scope()}-away`)
      onTestFinished(() => rename(`${scope()}-away`, scope()))
      await expectExplanation()
    })

    test.runIf(process.platform === 'linux')(
      'a binary for another architecture is explained, and nothing is created',
      async () => {
        const [name = ''] = await readdir(scope())
        const binaries = (await readdir(join(scope(), name)))
          .filter((file) => file.endsWith('.node'))
          .map((file) => join(scope(), name, file))
        expect(binaries.length).toBeGreaterThan(0)
        const restore = await Promise.all(binaries.map(makeForeign))
        onTestFinished(async () => {
          for (const each of restore) await each()
        })
        await expectExplanation()
      },
    )
  })
})

/** Where an ELF file says for which machine it is; 0xff is none that exists. */
const ELF_MACHINE_OFFSET = 18

async function makeForeign(file: string): Promise<() => Promise<void>> {
  const write = async (byte: number) => {
    const handle = await open(file, 'r+')
    const before = Buffer.alloc(1)
    await handle.read(before, 0, 1, ELF_MACHINE_OFFSET)
    await handle.write(Buffer.of(byte), 0, 1, ELF_MACHINE_OFFSET)
    await handle.close()
    return before[0] ?? 0
  }
  const machine = await write(0xff)
  return async () => void (await write(machine))
}

async function expectService(directory: string, node: string): Promise<void> {
  const cwd = await mkdtemp(join(directory, 'run-'))
  const installed: StartOptions = { cwd, node, program: launcherIn(directory) }
  const server = start(['serve'], { ...installed, env: { PORT: '0' } })
  onTestFinished(() => void server.process.kill('SIGKILL'))
  const printed = await server.until('Press Ctrl+C to stop')
  const [url = ''] = /http:\/\/127[^\s"]+/.exec(printed) ?? []

  const get = async (path: string) => {
    const response = await fetch(url + path)
    return { status: response.status, text: await response.text() }
  }
  expect(JSON.parse((await get('/readyz')).text)).toMatchObject({ status: 'ready' })
  const { paths } = JSON.parse((await get('/openapi.json')).text) as { paths: object }
  for (const service of ['sealed', 'ferryhook', 'form-bridge', 'key-store', 'two-key'])
    expect(Object.keys(paths).some((path) => path.startsWith(`/${service}/`))).toBe(true)
  for (const path of ['/', '/docs', '/docs/guides/ferryhook', '/sealed/'])
    expect({ path, ...(await get(path)) }).toMatchObject({ path, status: 200 })
  const consolePage = await get('/console/')
  expect(consolePage.status).toBe(200)
  const scripts = [...consolePage.text.matchAll(/(?:src|href)="(\/console\/[^"]+\.(?:js|css))"/g)]
  expect(scripts.length).toBeGreaterThan(0)
  for (const [, script = ''] of scripts) expect((await get(script)).status).toBe(200)

  const sealed = await strongroom(['seal', '--server', url], { ...installed, stdin: 'hunter2\n' })
  expect(sealed).toMatchObject({ code: 0, stderr: '' })
  const [link] = sealed.stdout.split('\n')
  const opened = await strongroom(['open'], { ...installed, stdin: `${link}\n` })
  expect(opened).toEqual({ code: 0, stdout: 'hunter2\n', stderr: '' })

  server.process.kill('SIGTERM')
  const { code, stderr } = await server.finished
  expect(code).toBe(0)
  expect(stderr).toContain('Stopping: waiting for running requests')
  expect(existsSync(join(cwd, 'data/keys/master.key'))).toBe(true)
}
