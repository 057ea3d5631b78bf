import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { backup } from '../../../src/backup.ts'
import { COUNTERS, temporaryDirectory, temporaryStorage } from '../../support/programs/harness.ts'

async function backedUp() {
  const storage = temporaryStorage()
  await storage.createTable(COUNTERS)
  const file = join(temporaryDirectory(), 'backup')
  const again = () => backup(storage, { file })
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
  // Killed before anything was written.
  leave(file, endedProcess(), 0, '')
  await again()
  expect(names()).toEqual(['backup'])
})

test('a leftover of another file in the directory is removed if it has not changed for an hour', async () => {
  const { file, again, names } = await backedUp()
  leave(`${file}-of-monday`, endedProcess(), 2)
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
