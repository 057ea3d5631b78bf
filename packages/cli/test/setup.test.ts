import { execFile } from 'node:child_process'
import { copyFile, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { installed } from '../../../scripts/setup.mjs'
import { emptyDirectory } from './strongroom.ts'

async function clone() {
  const directory = await emptyDirectory()
  const lock = JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.0' } } })
  await mkdir(join(directory, 'node_modules', 'a'), { recursive: true })
  await writeFile(join(directory, 'package-lock.json'), lock)
  await writeFile(join(directory, 'node_modules', '.package-lock.json'), lock)
  return directory
}

test('a clone is set up when it has every package in the version of the lock file', async () => {
  const directory = await clone()
  expect(installed(directory)).toBe(true)
  const newer = JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.1' } } })
  await writeFile(join(directory, 'package-lock.json'), newer)
  expect(installed(directory)).toBe(false)
})

test('a clone that lost a package or all of them is not set up', async () => {
  const directory = await clone()
  await rm(join(directory, 'node_modules', 'a'), { recursive: true })
  expect(installed(directory)).toBe(false)
  await rm(join(directory, 'node_modules'), { recursive: true })
  expect(installed(directory)).toBe(false)
})

test.skipIf(process.platform === 'win32')('a script runs also by way of a link', async () => {
  const directory = await emptyDirectory()
  const scripts = join(directory, 'real', 'scripts')
  await mkdir(scripts, { recursive: true })
  await symlink(join(directory, 'real'), join(directory, 'link'))
  for (const name of ['setup.mjs', 'setup-lock.mjs', 'build.mjs', 'root.mjs']) {
    const source = new URL(`../../../scripts/${name}`, import.meta.url)
    await copyFile(source, join(scripts, name))
  }
  // Without npm in PATH an installation would fail with a message.
  const env = { PATH: join(directory, 'nothing') }
  const script = join(directory, 'link', 'scripts', 'setup.mjs')
  const run = promisify(execFile)(process.execPath, [script], { env })
  await expect(run).rejects.toThrow('Could not install dependencies')
})
