/**
 * The directory of a zip archive, read without unpacking anything (APPNOTE.TXT 6.3). What two readers
 * could understand differently is refused: names that differ between directory and file header,
 * data before, after or between, sizes that are told later, more than one disk.
 */
export interface ZipEntry {
  name: string
  isFolder: boolean
  isLink: boolean
  isEncrypted: boolean
  /** 0 is stored, 8 is deflated. */
  method: number
  crc32: number
  size: number
  compressed: Uint8Array
}

/** What is wrong with an archive, in one sentence. */
export class BadZip extends Error {
  override readonly name = 'BadZip'
}

const END = 0x06054b50
const ENTRY = 0x02014b50
const FILE = 0x04034b50
const END_BYTES = 22
const ENTRY_BYTES = 46
const FILE_BYTES = 30
const LINK = 0xa000
const TYPE = 0xf000

export function zipDirectory(zip: Uint8Array): ZipEntry[] {
  const view = Buffer.from(zip.buffer, zip.byteOffset, zip.byteLength)
  // Without a comment, or something may hide behind it.
  const end = view.length - END_BYTES
  if (end < 0 || view.readUInt32LE(end) !== END) throw new BadZip('Is not a plain zip archive')
  const count = view.readUInt16LE(end + 10)
  const start = view.readUInt32LE(end + 16)
  if (start + view.readUInt32LE(end + 12) !== end)
    throw new BadZip('Has more than its directory says')
  const entries: ZipEntry[] = []
  let at = start
  for (let number = 0; number < count; number++) {
    const { entry, next } = entryAt(view, at, end)
    entries.push(entry)
    at = next
  }
  if (at !== end) throw new BadZip('Has a directory of another length than it says')
  return entries
}

function entryAt(view: Buffer, at: number, end: number): { entry: ZipEntry; next: number } {
  if (at + ENTRY_BYTES > end || view.readUInt32LE(at) !== ENTRY) {
    throw new BadZip('Has a damaged directory')
  }
  const flags = view.readUInt16LE(at + 8)
  const nameLength = view.readUInt16LE(at + 28)
  const rawName = view.subarray(at + ENTRY_BYTES, at + ENTRY_BYTES + nameLength)
  const compressedSize = view.readUInt32LE(at + 20)
  const next =
    at + ENTRY_BYTES + nameLength + view.readUInt16LE(at + 30) + view.readUInt16LE(at + 32)
  const name = rawName.toString()
  const compressed = dataAt(view, view.readUInt32LE(at + 42), rawName, compressedSize)
  const entry = {
    name,
    isFolder: name.endsWith('/'),
    isLink: ((view.readUInt32LE(at + 38) >>> 16) & TYPE) === LINK,
    isEncrypted: (flags & 1) !== 0,
    method: view.readUInt16LE(at + 10),
    crc32: view.readUInt32LE(at + 16),
    size: view.readUInt32LE(at + 24),
    compressed,
  }
  return { entry, next }
}

function dataAt(view: Buffer, at: number, name: Buffer, size: number): Uint8Array {
  if (at + FILE_BYTES > view.length || view.readUInt32LE(at) !== FILE) {
    throw new BadZip('Has a file that is not where its directory says')
  }
  const nameLength = view.readUInt16LE(at + 26)
  const own = view.subarray(at + FILE_BYTES, at + FILE_BYTES + nameLength)
  if (!own.equals(name)) throw new BadZip('Has a file of two names')
  const start = at + FILE_BYTES + nameLength + view.readUInt16LE(at + 28)
  if (start + size > view.length) throw new BadZip('Has a file that is cut off')
  return view.subarray(start, start + size)
}
