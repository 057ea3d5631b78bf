import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { backup, restore } from '../../../src/backup.ts'
import { COUNTERS, temporaryDirectory, temporaryStorage } from '../../support/programs/harness.ts'

async function backupFile(): Promise<string> {
  const storage = temporaryStorage()
  await storage.createTable(COUNTERS)
  const file = join(temporaryDirectory(), 'backup')
  await backup(storage, { file })
  return file
}

/** The id of a process that has ended. */
function endedProcess(): number {
  return spawnSync(process.execPath, ['--version']).pid
}

/** As a restore into the directory leaves it that is killed. */
function leave(directory: string, id: number | string): string {
  const leftover = `${directory}.restoring-${id}`
  mkdirSync(leftover)
  writeFileSync(join(leftover, 'data.mdb'), 'a copy of the data')
  return basename(leftover)
}

test('what a killed restore left behind is removed by the next one into the same directory', async () => {
  const file = await backupFile()
  const directory = join(dirname(file), 'data')
  leave(directory, endedProcess())
  await restore({ file, directory })
  expect(readdirSync(dirname(file)).toSorted()).toEqual(['backup', 'data'])
})

test('what belongs to a living process, another directory or somebody else stays', async () => {
  const file = await backupFile()
  const directory = join(dirname(file), 'data')
  const kept = [
    leave(directory, process.ppid),
    leave(`${directory}-of-others`, endedProcess()),
    leave(directory, 'notes'),
    leave(directory, `${endedProcess()}.old`),
  ]
  await restore({ file, directory })
  expect(readdirSync(dirname(file)).toSorted()).toEqual(['backup', 'data', ...kept].toSorted())
})

test('a restore that is refused removes nothing', async () => {
  const file = await backupFile()
  writeFileSync(file, 'no backup')
  const directory = join(dirname(file), 'data')
  const left = leave(directory, endedProcess())
  await expect(restore({ file, directory })).rejects.toThrow('it is not a backup')
  expect(readdirSync(dirname(file)).toSorted()).toEqual(['backup', left])
})
