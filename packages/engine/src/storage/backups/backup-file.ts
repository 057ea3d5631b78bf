// The backup file: a magic line, frames (length 4, type 1, payload) and the SHA-256 of everything before
// it. The first frame is the header and the last is the manifest; between them are the attachments, and
// each table followed by its items.

import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, stat, type FileHandle } from 'node:fs/promises'
import type { NewTable } from '../storage.ts'
import { DataError } from '../lmdb/failures.ts'

/** Apart from the format of data directories, which may change when that of backups does not. */
export const BACKUP_VERSION = 2
const OLDEST_VERSION = 1

const MAGIC = Buffer.from('strongroom-backup\n')
const DIGEST_BYTES = 32
const FRAME_HEADER_BYTES = 5
const CHUNK_BYTES = 1 << 20

export const HEADER_FRAME = 1
export const TABLE_FRAME = 2
export const ITEM_FRAME = 3
export const MANIFEST_FRAME = 4
export const ATTACHMENT_FRAME = 5

export interface BackupHeader {
  format: number
  /** Milliseconds since the epoch. */
  createdAt: number
}

export interface BackupTable extends NewTable {
  createdAt: number
}

export interface BackupManifest extends BackupHeader {
  tables: { name: string; items: number }[]
  /** Existing tables that were left out. */
  excluded: string[]
  /** Names of the attachments. */
  attachments: string[]
}

/** Data that is not a table, such as the master key; the engine stores it without reading it. */
export interface BackupAttachment {
  name: string
  content: Uint8Array
}

export interface Frame {
  type: number
  payload: Buffer
}

export class BackupWriter {
  readonly #handle: FileHandle
  readonly #hash: Hash = createHash('sha256')
  #chunks: Buffer[] = [MAGIC]
  #size = MAGIC.length

  constructor(handle: FileHandle) {
    this.#handle = handle
  }

  /** Copies the payload. Call `drain` regularly. */
  frame(type: number, payload: Uint8Array): void {
    const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payload.length)
    frame.writeUInt32BE(payload.length, 0)
    frame[4] = type
    frame.set(payload, FRAME_HEADER_BYTES)
    this.#chunks.push(frame)
    this.#size += frame.length
  }

  json(type: number, content: unknown): void {
    this.frame(type, Buffer.from(JSON.stringify(content)))
  }

  attachment({ name, content }: BackupAttachment): void {
    this.json(ATTACHMENT_FRAME, { name, content: Buffer.from(content).toString('base64') })
  }

  get isFull(): boolean {
    return this.#size >= CHUNK_BYTES
  }

  async drain(): Promise<void> {
    const bytes = Buffer.concat(this.#chunks)
    this.#chunks = []
    this.#size = 0
    this.#hash.update(bytes)
    await this.#handle.writeFile(bytes)
  }

  /** Writes the digest and flushes to disk. */
  async finish(): Promise<string> {
    await this.drain()
    const digest = this.#hash.digest()
    await this.#handle.writeFile(digest)
    await this.#handle.sync()
    return digest.toString('hex')
  }
}

export function cannotBackUp(file: string, reason: string, cause: unknown): DataError {
  return new DataError(`Cannot write the backup "${file}": ${reason}`, { cause })
}

export function cannotRestore(file: string, reason: string, cause?: unknown): DataError {
  return new DataError(`Cannot restore the backup "${file}": ${reason}`, { cause })
}

/** Throws unless the file is a complete, undamaged backup of a known version; returns its manifest. */
export async function verifyBackup(file: string): Promise<BackupManifest> {
  const handle = await open(file, 'r').catch((error: unknown) => {
    throw cannotRestore(file, 'it cannot be read', error)
  })
  try {
    const { size } = await handle.stat()
    if (!(await beginsAsBackup(handle))) throw cannotRestore(file, 'it is not a backup')
    await assertVersion(file, handle)
    const hash = createHash('sha256')
    const end = size - DIGEST_BYTES
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    for (let at = 0; at < end;) {
      const { bytesRead } = await handle.read(chunk, 0, Math.min(CHUNK_BYTES, end - at), at)
      if (bytesRead === 0) break
      hash.update(chunk.subarray(0, bytesRead))
      at += bytesRead
    }
    const stored = Buffer.alloc(DIGEST_BYTES)
    await handle.read(stored, 0, DIGEST_BYTES, Math.max(0, end))
    if (!hash.digest().equals(stored)) {
      throw cannotRestore(file, 'it is damaged or cut off: its checksum does not match')
    }
  } finally {
    await handle.close()
  }
  let manifest: BackupManifest | undefined
  for await (const frame of readFrames(file)) {
    manifest = frame.type === MANIFEST_FRAME ? parse<BackupManifest>(frame) : undefined
  }
  if (manifest === undefined) throw cannotRestore(file, 'it has no manifest')
  return manifest
}

/** Whether a file is a backup, or the beginning of one. */
export async function beginsAsBackup(handle: FileHandle): Promise<boolean> {
  const start = Buffer.alloc(MAGIC.length)
  await handle.read(start, 0, MAGIC.length, 0)
  return start.equals(MAGIC)
}

/** Called before the checksum is verified, because a newer version may end differently. */
async function assertVersion(file: string, handle: FileHandle): Promise<void> {
  const head = Buffer.alloc(4096)
  const { bytesRead } = await handle.read(head, 0, head.length, MAGIC.length)
  const length = bytesRead < FRAME_HEADER_BYTES ? 0 : head.readUInt32BE(0)
  let format: unknown
  try {
    format = parse<BackupHeader>({
      type: HEADER_FRAME,
      payload: head.subarray(FRAME_HEADER_BYTES, FRAME_HEADER_BYTES + length),
    }).format
  } catch (error) {
    throw cannotRestore(file, 'its header is damaged', error)
  }
  if (!(Number(format) >= OLDEST_VERSION && Number(format) <= BACKUP_VERSION)) {
    throw cannotRestore(
      file,
      `its format version is ${String(format)}, and this engine knows versions ${OLDEST_VERSION} to ${BACKUP_VERSION} only`,
    )
  }
}

export async function* readFrames(file: string): AsyncGenerator<Frame> {
  const end = (await stat(file)).size - DIGEST_BYTES - 1
  let buffer = Buffer.alloc(0)
  const options = { start: MAGIC.length, end, highWaterMark: CHUNK_BYTES }
  for await (const chunk of createReadStream(file, options)) {
    buffer = Buffer.concat([buffer, chunk as Buffer])
    for (let size = frameSize(buffer); size <= buffer.length; size = frameSize(buffer)) {
      yield { type: buffer[4]!, payload: buffer.subarray(FRAME_HEADER_BYTES, size) }
      buffer = buffer.subarray(size)
    }
  }
  if (buffer.length > 0) throw cannotRestore(file, 'it ends within a frame')
}

/** The size of the first frame, or infinity if even its length has not been read yet. */
function frameSize(buffer: Buffer): number {
  if (buffer.length < FRAME_HEADER_BYTES) return Number.POSITIVE_INFINITY
  return FRAME_HEADER_BYTES + buffer.readUInt32BE(0)
}

export function parse<T>(frame: Frame): T {
  return JSON.parse(frame.payload.toString()) as T
}
