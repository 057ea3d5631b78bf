// The directories and processes of a run. Data that several sections need is loaded once; everything
// is closed and removed at the end.

import { constants, mkdtempSync, rmSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SystemName } from './systems/open.ts'
import { WorkerProcess } from './worker-process.ts'

export class Workspace {
  /** Set BENCH_DIR to a directory on a disk if /tmp is in memory. */
  readonly #root = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'strongroom-bench-'))
  readonly #loaded = new Map<string, Promise<string>>()
  #directories = 0

  directory(): string {
    this.#directories += 1
    return join(this.#root, `${this.#directories}`)
  }

  /** A directory that holds `count` items of a system that keeps them on disk. */
  loaded(name: 'engine' | 'lmdb', count: number): Promise<string> {
    const id = `${name} ${count}`
    let loading = this.#loaded.get(id)
    if (loading === undefined) {
      loading = load(name, this.directory(), count)
      this.#loaded.set(id, loading)
    }
    return loading
  }

  /** Starts a worker on a directory that is loaded already. */
  async on(name: 'engine' | 'lmdb', count: number): Promise<WorkerProcess> {
    return WorkerProcess.start(name, await this.loaded(name, count), count)
  }

  /** Starts a worker with data of its own; undefined if the system is not installed. */
  async fresh(name: SystemName, count: number): Promise<WorkerProcess | undefined> {
    const worker = await WorkerProcess.start(name, this.directory(), count)
    if (!worker.opened.available) {
      await worker.close()
      return undefined
    }
    await worker.load(count)
    return worker
  }

  /** Copies a directory the first time; later calls return the same copy. */
  copyOf(directory: string): Promise<string> {
    let copying = this.#loaded.get(directory)
    if (copying === undefined) {
      copying = copy(directory, this.directory())
      this.#loaded.set(directory, copying)
    }
    return copying
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true })
  }
}

async function copy(from: string, to: string): Promise<string> {
  // Shares the blocks if the file system can.
  await cp(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE })
  return to
}

async function load(name: SystemName, directory: string, count: number): Promise<string> {
  const worker = await WorkerProcess.start(name, directory, count)
  await worker.load(count)
  await worker.close()
  return directory
}
