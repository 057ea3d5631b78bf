// The file with the keys of encrypted items: one key of 32 bytes per slot. Unlike pages of LMDB, a slot
// is overwritten in place, which is what makes a deletion final. A key never crosses a sector.

import {
  closeSync,
  constants,
  existsSync,
  fdatasync,
  fdatasyncSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createPrivateFileSync } from '@strongroom/platform/private-file'
import { syncDirectory } from '@strongroom/platform/durable-directory'

export const SLOT_FILE = 'item-keys.bin'
export const KEY_BYTES = 32

const flushFile = promisify(fdatasync)

export class SlotFile {
  readonly #directory: string
  #descriptor: number | undefined
  #running: Promise<void> = Promise.resolve()
  #queued: Promise<void> | undefined

  constructor(directory: string) {
    this.#directory = directory
  }

  exists(): boolean {
    return existsSync(join(this.#directory, SLOT_FILE))
  }

  /** Reads the key of a slot into `key`; false if the file ends before it. */
  read(slot: number, key: Uint8Array): boolean {
    return readSync(this.#open(), key, 0, KEY_BYTES, slot * KEY_BYTES) === KEY_BYTES
  }

  /** Writes keys, which follow each other in `keys`, to slots. They are on disk after a flush. */
  write(slots: readonly number[], keys: Uint8Array): void {
    const file = this.#open()
    for (let from = 0; from < slots.length;) {
      let to = from + 1
      while (slots[to] === slots[from]! + to - from) to++
      const [start, length] = [from * KEY_BYTES, (to - from) * KEY_BYTES]
      const written = writeSync(file, keys, start, length, slots[from]! * KEY_BYTES)
      if (written < length) throw new Error(`${SLOT_FILE} could only be written in part`)
      from = to
    }
  }

  flushSync(): void {
    fdatasyncSync(this.#open())
  }

  /** Concurrent calls share a flush that begins after the last of them. */
  flush(): Promise<void> {
    this.#queued ??= this.#running.then(() => {
      this.#queued = undefined
      const flushed = flushFile(this.#open())
      this.#running = flushed.catch(() => undefined)
      return flushed
    })
    return this.#queued
  }

  /** Waits for a flush of keys that nobody waits for. */
  async close(): Promise<void> {
    await (this.#queued ?? this.#running).catch(() => undefined)
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
  }

  #open(): number {
    this.#descriptor ??= this.#openOrCreate()
    return this.#descriptor
  }

  #openOrCreate(): number {
    const file = join(this.#directory, SLOT_FILE)
    if (!this.exists()) {
      try {
        const created = createPrivateFileSync(file)
        syncDirectory(this.#directory)
        return created
      } catch (error) {
        // Another process may have created it at the same time.
        if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
      }
    }
    // Whoever created it may have been killed before it flushed the name.
    syncDirectory(this.#directory)
    const { O_NOFOLLOW = 0 } = constants as Partial<typeof constants>
    return openSync(file, constants.O_RDWR | O_NOFOLLOW)
  }
}
