import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { backup } from '../../../src/backup.ts'
import { COUNTERS, temporaryDirectory, temporaryStorage } from '../../support/programs/harness.ts'

const NOBODY = 65_534

async function backedUp() {
  const storage = temporaryStorage()
  await storage.createTable(COUNTERS)
  const file = join(temporaryDirectory(), 'backup')
  const again = (onProgress = () => {}) => backup(storage, { file, onProgress })
  await again()
  return { file, again, names: () => readdirSync(dirname(file)).toSorted() }
}

/** The id of a process that has ended. */
function endedProcess(): number {
  return spawnSync(process.execPath, ['--version']).pid
}

async function livingProcess(): Promise<number> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'])
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'spawn')
  return child.pid ?? 0
}

/** As a backup to the file leaves it that is killed, or is running; written to for the last time then. */
function leave(file: string, id: number | string, hoursAgo = 0, content?: string): string {
  const leftover = `${file}.${id}.tmp`
  writeFileSync(leftover, content ?? readFileSync(join(dirname(file), 'backup')).subarray(0, -40))
  const then = Date.now() / 1000 - hoursAgo * 3600
  utimesSync(leftover, then, then)
  return basename(leftover)
}

test('what a killed backup left behind is removed by the next one to the same file', async () => {
  const { file, again, names } = await backedUp()
  leave(file, endedProcess())
  leave(file, `${endedProcess()}-0123456789abcdef`)
  // A container gives every process the same id.
  leave(file, `${process.pid}-0123456789abcdef`)
  // Killed before anything was written.
  leave(file, endedProcess(), 0, '')
  await again()
  expect(names()).toEqual(['backup'])
})

test('a leftover of another file in the directory is removed if it has not changed for an hour', async () => {
  const { file, again, names } = await backedUp()
  leave(`${file}-of-monday`, endedProcess(), 2)
  leave(`${file}-of-tuesday`, `${endedProcess()}-0123456789abcdef`, 2)
  const running = leave(`${file}-of-another-machine`, endedProcess(), 0.5)
  await again()
  expect(names()).toEqual(['backup', running])
})

test('what belongs to a backup that is running stays, however long it has been quiet', async () => {
  const { file, again, names } = await backedUp()
  const id = await livingProcess()
  const running = [leave(file, id, 2), leave(`${file}-of-monday`, id, 2)]
  await again()
  expect(names()).toEqual(['backup', ...running].toSorted())
})

test('what was not left by a backup stays', async () => {
  const { file, again, names } = await backedUp()
  const kept = [
    leave(file, 'notes', 2),
    leave(file, `0${endedProcess()}`, 2),
    leave(`${file}-of-monday`, `${endedProcess()}.old`, 2),
    ...[file, `${file}-notes`].map((path) => leave(path, endedProcess(), 2, 'of somebody else')),
  ]
  await again()
  expect(names()).toEqual(['backup', ...kept].toSorted())
})

describe('in a directory that others can write to', () => {
  /** The names that earlier versions used, and that somebody could plant something under. */
  const guessable = (file: string) => [
    `${file}.${process.pid}.tmp`,
    `${file}.${endedProcess()}.tmp`,
  ]

  test('a backup does not follow planted links', async () => {
    const { file, again } = await backedUp()
    const victim = join(dirname(file), 'victim')
    writeFileSync(victim, '')
    const links = [file, ...guessable(file)]
    rmSync(file)
    for (const link of links) symlinkSync(victim, link)
    await again()
    expect(readFileSync(victim, 'utf8')).toBe('')
    expect(lstatSync(file).isFile()).toBe(true)
    for (const link of links.slice(1)) expect(lstatSync(link).isSymbolicLink()).toBe(true)
  })

  test('a backup does not write into a planted file that everyone can read', async () => {
    const { file, again } = await backedUp()
    const planted = guessable(file)[0] ?? ''
    rmSync(file)
    for (const each of [file, planted]) writeFileSync(each, 'planted', { mode: 0o666 })
    const reader = openSync(planted, 'r')
    await again()
    expect(readFileSync(reader, 'utf8')).toBe('planted')
    closeSync(reader)
    expect(readFileSync(planted, 'utf8')).toBe('planted')
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test('the temporary file of a running backup has a random name and is private', async () => {
    const { file, again, names } = await backedUp()
    const seen: { name: string; mode: number }[] = []
    const look = () => {
      for (const name of names().filter((each) => each !== 'backup'))
        seen.push({ name, mode: statSync(join(dirname(file), name)).mode & 0o777 })
    }
    await again(look)
    expect(seen).toEqual([
      {
        name: expect.stringMatching(new RegExp(`^backup\\.${process.pid}-[0-9a-f]{16}\\.tmp$`)),
        mode: 0o600,
      },
    ])
  })

  test.runIf(process.getuid?.() === 0)('leftovers of other users stay', async () => {
    const { file, again, names } = await backedUp()
    const [empty, whole] = [leave(file, endedProcess(), 2, ''), leave(file, endedProcess(), 2)]
    for (const name of [empty, whole]) chownSync(join(dirname(file), name), NOBODY, NOBODY)
    await again()
    expect(names()).toEqual(['backup', empty, whole].toSorted())
  })
})
