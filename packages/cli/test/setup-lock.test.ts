import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { emptyDirectory } from './strongroom.ts'

const WAITING = 'Waiting for another setup to finish'
const scripts = ['setup.mjs', 'setup-lock.mjs', 'build.mjs', 'root.mjs']

/** Replaces npm: reports that it started, and ends when the test says so. */
const npm = `
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
appendFileSync('npm.log', process.pid + '\\n')
process.stderr.write('npm begins\\n')
while (!existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 10))
mkdirSync('node_modules', { recursive: true })
writeFileSync('node_modules/.package-lock.json', '{"packages":{}}')
`

/** A clone with nothing installed and nothing to bundle. */
async function freshClone() {
  const directory = await emptyDirectory()
  for (const name of ['scripts', 'packages', 'dist']) await mkdir(join(directory, name))
  for (const name of scripts) {
    const source = new URL(`../../../scripts/${name}`, import.meta.url)
    await copyFile(source, join(directory, 'scripts', name))
  }
  await writeFile(join(directory, 'package-lock.json'), '{"packages":{}}')
  await writeFile(join(directory, 'npm-cli.js'), npm.trimStart())
  await writeFile(join(directory, 'package.json'), '{"type":"module"}')
  await writeFile(join(directory, 'dist', 'strongroom.js'), '')
  const later = new Date(Date.now() + 60_000)
  await utimes(join(directory, 'dist', 'strongroom.js'), later, later)
  const lock = join(directory, '.setup-lock')
  return {
    lock,
    /** As if a process of this number had been at work since then. */
    async holdLock(pid: number, since = new Date()) {
      await mkdir(lock)
      await writeFile(join(lock, String(pid)), '')
      await utimes(join(lock, String(pid)), since, since)
    },
    setUp: () => setUp(directory),
    finishNpm: () => writeFile(join(directory, 'go'), ''),
    installs: async () => (await readFile(join(directory, 'npm.log'), 'utf8')).trim().split('\n'),
    leftovers: async () => (await readdir(directory)).filter((name) => name.startsWith('.setup')),
  }
}

function setUp(clone: string) {
  const child: ChildProcessByStdio<null, null, Readable> = spawn(
    process.execPath,
    [join(clone, 'scripts', 'setup.mjs')],
    {
      env: { PATH: process.env['PATH'], npm_execpath: join(clone, 'npm-cli.js') },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  const ended = once(child, 'exit').then(([code]) => ({ code: code as number | null, said }))
  return {
    kill: () => child.kill('SIGKILL'),
    ended,
    async says(text: string) {
      while (!said.includes(text)) await once(child.stderr, 'data')
    },
  }
}

/** The id of a process that has ended. */
async function deadProcess(): Promise<number> {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  return child.pid ?? 0
}

test('of two concurrent setups one installs, and the other reports that it waits', async () => {
  const clone = await freshClone()
  const first = clone.setUp()
  await first.says('npm begins')
  const second = clone.setUp()
  await second.says(WAITING)
  await clone.finishNpm()
  expect(await first.ended).toMatchObject({ code: 0 })
  expect(await second.ended).toMatchObject({ code: 0 })
  expect(await clone.installs()).toHaveLength(1)
  expect(await clone.leftovers()).toEqual([])
})

test('ten setups that find the lock of a killed setup run one at a time', async () => {
  const clone = await freshClone()
  await clone.holdLock(await deadProcess())
  await clone.finishNpm()
  const setups = Array.from({ length: 10 }, () => clone.setUp())
  for (const { ended } of setups) expect(await ended).toMatchObject({ code: 0 })
  expect(await clone.installs()).toHaveLength(1)
  expect(await clone.leftovers()).toEqual([])
})

test('after a kill the next setup waits until the running installation ends', async () => {
  const clone = await freshClone()
  const first = clone.setUp()
  await first.says('npm begins')
  first.kill()
  await first.ended
  const second = clone.setUp()
  await second.says(WAITING)
  await clone.finishNpm()
  expect(await second.ended).toMatchObject({ code: 0 })
  expect(await clone.installs()).toHaveLength(1)
  expect(await clone.leftovers()).toEqual([])
})

test('an old lock is ignored even if its process id is in use', async () => {
  const clone = await freshClone()
  await clone.holdLock(process.pid, new Date(Date.now() - 3_600_000))
  await clone.finishNpm()
  const { code, said } = await clone.setUp().ended
  expect(code).toBe(0)
  expect(said).not.toContain(WAITING)
})

test('an installation that fails leaves no lock', async () => {
  const clone = await freshClone()
  await writeFile(join(clone.lock, '..', 'npm-cli.js'), 'process.exit(1)')
  const { code, said } = await clone.setUp().ended
  expect(code).toBe(1)
  expect(said).toContain('Could not install dependencies')
  expect(existsSync(clone.lock)).toBe(false)
})
