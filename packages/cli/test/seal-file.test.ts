import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { files } from '../../sealed/test/crypto/vectors.ts'
import { openInNode, sealInNode } from '../../sealed/test/page/node-client.ts'
import { inProcess } from './in-process.ts'
import { inShell } from './in-shell.ts'
import { sealedServer } from './sealed-server.ts'
import { emptyDirectory, launcher, strongroom } from './strongroom.ts'

const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte)
const fileOf = (name: string, bytes = everyByte) => ({ name, mediaType: '', bytes })

async function sealFile(url: string, path: string, args: string[] = [], env = {}) {
  const { code, stdout, stderr } = await inProcess(['seal', '--json', '--file', path, ...args], {
    env: { STRONGROOM_SERVER: url, ...env },
  })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return (JSON.parse(stdout) as { link: string }).link
}

async function newFile(name: string, bytes: Uint8Array | string = everyByte) {
  const path = join(await emptyDirectory(), name)
  await writeFile(path, bytes)
  return path
}

/** Saves it in a new directory and returns what is there. */
async function openIn(link: string, args: string[], env = {}) {
  const cwd = await emptyDirectory()
  const { code, stdout, stderr } = await strongroom(['open', link, ...args], {
    stdin: '',
    cwd,
    env,
  })
  return { cwd, code, stdout, stderr, names: await readdir(cwd) }
}

describe('strongroom seal --file', () => {
  test('seals every byte and the name, with a passphrase, and no request contains them', async () => {
    const { url, requests } = await sealedServer()
    const env = { STRONGROOM_PASSPHRASE: 'two words' }
    const link = await sealFile(url, await newFile('server.p12'), [], env)
    expect(await openInNode(link, 'two words')).toEqual(fileOf('server.p12'))
    expect(JSON.stringify(requests)).not.toContain('server.p12')
  })

  test('refuses a file that is too large with its name before any request', async () => {
    const { url, requests } = await sealedServer()
    const env = { STRONGROOM_SERVER: url }
    for (const size of [51_200, 51_201, 200_000]) {
      const path = await newFile('a.key', new Uint8Array(size))
      expect(await inProcess(['seal', '--file', path], { env })).toEqual({
        code: 2,
        stdout: '',
        stderr:
          'The file is too large. File, name and media type have at most 51,200 bytes together.\n',
      })
    }
    expect(requests).toEqual([])
    const largest = await newFile('a.key', new Uint8Array(51_200 - 7))
    await sealFile(url, largest)
  })

  test('refuses a directory', async () => {
    expect(await inProcess(['seal', '--file', await emptyDirectory()])).toEqual({
      code: 2,
      stdout: '',
      stderr: 'Cannot read the file of --file (EISDIR): check its path\n',
    })
  })
})

describe('strongroom open of a file', () => {
  test('writes its exact bytes to standard output that is not a terminal', async () => {
    const { url } = await sealedServer()
    const { link } = await sealInNode(`${url}/sealed/`, fileOf('key.bin'), { views: 2 })
    const run = promisify(execFile)
    for (const args of [[], ['--output', '-']]) {
      const argv = [launcher, 'open', link, ...args]
      const { stdout } = await run(process.execPath, argv, { encoding: 'buffer' })
      expect(new Uint8Array(stdout)).toEqual(everyByte)
    }
  })

  test('saves it under the path of --output, readable only by its owner', async () => {
    const { url } = await sealedServer()
    const { link } = await sealInNode(`${url}/sealed/`, fileOf('key.bin'))
    const { cwd, code, stdout, names } = await openIn(link, ['--output', 'mine.bin'])
    expect({ code, stdout, names }).toEqual({
      code: 0,
      stdout: 'Saved to mine.bin\n',
      names: ['mine.bin'],
    })
    expect(new Uint8Array(await readFile(join(cwd, 'mine.bin')))).toEqual(everyByte)
    const isPrivate = (mode: number) => process.platform === 'win32' || (mode & 0o777) === 0o600
    expect(isPrivate((await stat(join(cwd, 'mine.bin'))).mode)).toBe(true)
  })

  test('saves it in a directory under a safe name, numbered if the name is taken', async () => {
    const { url } = await sealedServer()
    const sealed = ['../../x', '.bash_login'].map((name) =>
      sealInNode(`${url}/sealed/`, fileOf(name), { views: 2 }),
    )
    const [escaping, hidden] = await Promise.all(sealed)
    const first = await openIn(escaping?.link ?? '', ['--output', '.'])
    expect([first.stdout, first.names]).toEqual(['Saved to __.._x\n', ['__.._x']])
    await writeFile(join(first.cwd, '__.._x'), 'mine')
    await strongroom(['open', escaping?.link ?? '', '--output', first.cwd], { stdin: '' })
    const again = join(first.cwd, '__.-1._x')
    expect(await readFile(again)).toEqual(Buffer.from(everyByte))
    expect(await readFile(join(first.cwd, '__.._x'), 'utf8')).toBe('mine')
    // A shell would run a file of its own name at the next login.
    expect((await openIn(hidden?.link ?? '', ['--output', '.'])).names).toEqual(['_bash_login'])
  })

  test('never overwrites a file, follows no link, and uses no view for a target it cannot use', async () => {
    const { url, requests } = await sealedServer()
    const { link } = await sealInNode(`${url}/sealed/`, fileOf('key.bin'))
    const cwd = await emptyDirectory()
    await writeFile(join(cwd, 'taken'), 'mine')
    await symlink(join(cwd, 'elsewhere'), join(cwd, 'dangling'))
    const before = requests.length
    const refused = async (output: string) => {
      const { code, stderr } = await strongroom(['open', link, '--output', output], {
        stdin: '',
        cwd,
      })
      return { code, stderr }
    }
    const exists = {
      code: 2,
      stderr: 'The file of --output exists already: choose another path, or remove it\n',
    }
    expect([await refused('taken'), await refused('dangling')]).toEqual([exists, exists])
    expect(await refused('missing/file')).toEqual({
      code: 2,
      stderr: 'The directory of --output does not exist or cannot be written: check its path\n',
    })
    expect(requests).toHaveLength(before)
    expect(await readFile(join(cwd, 'taken'), 'utf8')).toBe('mine')
    expect(await openInNode(link)).toEqual(fileOf('key.bin'))
  })

  test('uses no view for a path of --output that cannot be created, and leaves no file', async () => {
    const { url, requests } = await sealedServer()
    const { link } = await sealInNode(`${url}/sealed/`, fileOf('key.bin'))
    const before = requests.length
    const missing =
      'The directory of --output does not exist or cannot be written: check its path\n'
    const cases = [
      ['', '--output has no value: pass PATH, or omit it\n'],
      ['newdir/', missing],
      ['newdir/.', missing],
      ['n'.repeat(300), 'Cannot create the file of --output (ENAMETOOLONG): choose another path\n'],
    ] as const
    for (const [output, stderr] of cases) {
      const { cwd: _, ...ended } = await openIn(link, ['--output', output])
      expect(ended).toEqual({ code: 2, stdout: '', stderr, names: [] })
    }
    expect(requests).toHaveLength(before)
    expect(await openInNode(link)).toEqual(fileOf('key.bin'))
    const gone = await openIn(link, ['--output', 'mine.bin'])
    expect([gone.code, gone.names]).toEqual([3, []])
  })

  test('a name of 255 bytes that is taken is shortened for its number', async () => {
    const { url } = await sealedServer()
    const name = `${'ä'.repeat(125)}a.bin`
    const { link } = await sealInNode(`${url}/sealed/`, fileOf(name), { views: 2 })
    const { cwd, code } = await openIn(link, ['--output', '.'])
    expect(code).toBe(0)
    const second = await strongroom(['open', link, '--output', cwd], { stdin: '' })
    expect([second.code, second.stderr]).toEqual([0, ''])
    const shortened = `${'ä'.repeat(124)}-1.bin`
    expect(new Set(await readdir(cwd))).toEqual(new Set([name, shortened]))
    expect(await readFile(join(cwd, shortened))).toEqual(Buffer.from(everyByte))
  })

  test.runIf(existsSync('/dev/full'))(
    'a full standard output does not hide that it was saved',
    async () => {
      const { url } = await sealedServer()
      const { link } = await sealInNode(`${url}/sealed/`, fileOf('key.bin'))
      const cwd = await emptyDirectory()
      const path = join(cwd, 'mine.bin')
      expect(await inShell(`$STRONGROOM open '${link}' --output ${path} > /dev/full`)).toEqual({
        code: 1,
        stdout: '',
        stderr: `Cannot write to standard output (ENOSPC): the secret was saved to ${path}\n`,
      })
      expect(await readFile(path)).toEqual(Buffer.from(everyByte))
    },
  )

  test('prints it in base64 for programs, or where it was saved', async () => {
    const { url } = await sealedServer()
    const { link } = await sealInNode(`${url}/sealed/`, fileOf('key.bin'), { views: 2 })
    const printed = await openIn(link, ['--json'])
    expect(JSON.parse(printed.stdout)).toEqual({
      name: 'key.bin',
      mediaType: '',
      base64: Buffer.from(everyByte).toString('base64'),
      remainingViews: 1,
    })
    const saved = await openIn(link, ['--json', '--output', '.'])
    expect(JSON.parse(saved.stdout)).toEqual({
      path: 'key.bin',
      name: 'key.bin',
      mediaType: '',
      remainingViews: 0,
    })
  })

  test('a text is saved too', async () => {
    const { url } = await sealedServer()
    const { link } = await sealInNode(`${url}/sealed/`, 'a text')
    const { cwd, names } = await openIn(link, ['--output', '.'])
    expect(names).toEqual(['secret.txt'])
    expect(await readFile(join(cwd, 'secret.txt'), 'utf8')).toBe('a text')
  })

  test.runIf(process.platform === 'linux')(
    'saves it in the current directory on a terminal and prints the name',
    async () => {
      const { url } = await sealedServer()
      const { link } = await sealInNode(`${url}/sealed/`, fileOf('key.bin'))
      const cwd = await emptyDirectory()
      const command = `${process.execPath} ${launcher} open '${link}'`
      const { stdout } = await promisify(execFile)('script', ['-qec', command, '/dev/null'], {
        cwd,
      })
      expect(stdout.trim()).toBe('Saved to key.bin')
      expect(await readFile(join(cwd, 'key.bin'))).toEqual(Buffer.from(everyByte))
    },
  )
})

test('a link with a flag that this version does not know is refused before any request', async () => {
  const { url, requests } = await sealedServer()
  const [vector] = files
  const fragment = Buffer.from(vector?.expected.fragment ?? '', 'base64url')
  for (const flag of [4, 8, 128]) {
    fragment[1] = flag
    const link = `${url}/sealed/#${vector?.id}:${fragment.toString('base64url')}`
    expect(await inProcess(['open', link])).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'The link was created by a newer version. Open it in a browser, or update this program.\n',
    })
  }
  expect(requests).toEqual([])
})
