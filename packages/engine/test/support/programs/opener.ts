// Opens and closes directories without pause. Arguments: how often, the directory, and, if there is
// to be a new one each time, the number of processes that go through them in step. Prints why it was
// refused.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openStorage } from '../../../src/storage/open-storage.ts'

const [times, directory, processes] = process.argv.slice(2) as [string, string, string?]

function meet(place: string, count: number): void {
  mkdirSync(place, { recursive: true })
  const names = Array.from({ length: count }, (_, number) => join(place, `here-${number}`))
  names.some((name) => arrived(name))
  while (!existsSync(names.at(-1)!));
}

function arrived(name: string): boolean {
  try {
    writeFileSync(name, '', { flag: 'wx' })
    return true
  } catch {
    return false
  }
}

for (let time = 0; time < Number(times); time++) {
  let chosen = directory
  if (processes !== undefined) {
    const place = join(directory, String(time))
    meet(place, Number(processes))
    chosen = join(place, 'data')
  }
  try {
    await openStorage({ directory: chosen, sweepIntervalMs: 0 }).close()
  } catch (error) {
    console.log(String(error))
  }
}
