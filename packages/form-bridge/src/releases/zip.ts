/**
 * Reads zip archives strictly (APPNOTE.TXT 6.3). Everything that two readers could interpret
 * differently is rejected: names that differ between directory and file header, data before, between
 * or after the files, sizes behind the data, more than one disk. Unpacking is bounded.
 */
import { crc32 } from 'node:zlib'
import type { ApiError } from '@strongroom/kit/errors'
import { Inflate } from 'fflate'
import { formBridgeError } from '../errors.ts'
import { MAX_PACKAGE_BYTES } from './item.ts'

/** The message is one sentence for the publisher. */
export function invalidPackage(message: string): ApiError {
  return formBridgeError('release_invalid', { details: [{ path: 'body', message }] })
}

interface ZipEntry {
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

const END_SIGNATURE = 0x06054b50
const ENTRY_SIGNATURE = 0x02014b50
const FILE_SIGNATURE = 0x04034b50
const END_BYTES = 22
const ENTRY_BYTES = 46
const FILE_BYTES = 30
const FILE_TYPE_MASK = 0xf000
const SYMBOLIC_LINK = 0xa000

const MAX_FILES = 5_000
const MAX_UNPACKED_BYTES = 100 * 1024 * 1024
const MAX_NAME_LENGTH = 200
const STEP_BYTES = 16_384

/** Returns the files by name. All must be in the folder of the plugin. */
export function unpackPlugin(zip: Uint8Array, slug: string): Map<string, Uint8Array> {
  if (zip.byteLength > MAX_PACKAGE_BYTES) throw invalidPackage('The package is larger than 20 MB')
  const entries = readDirectory(zip)
  if (entries.length > MAX_FILES) {
    throw invalidPackage(`The package has more than ${MAX_FILES} files`)
  }
  const total = entries.reduce((sum, { size }) => sum + size, 0)
  if (total > MAX_UNPACKED_BYTES) {
    throw invalidPackage('The package is larger than 100 MB when unpacked')
  }
  const files = new Map<string, Uint8Array>()
  const seen = new Set<string>()
  for (const entry of entries) {
    checkEntry(entry, slug)
    // Some file systems ignore case.
    const name = entry.name.toLowerCase()
    if (seen.has(name)) throw invalidPackage('The package has two files with the same name')
    seen.add(name)
    if (!entry.isFolder) files.set(entry.name, unpack(entry))
  }
  return files
}

/** The name of the first file. */
export function readFirstName(zip: Uint8Array): string {
  const view = Buffer.from(zip.buffer, zip.byteOffset, zip.byteLength)
  if (view.length < FILE_BYTES || view.readUInt32LE(0) !== FILE_SIGNATURE) {
    throw invalidPackage('The package is not a zip archive')
  }
  return view.subarray(FILE_BYTES, FILE_BYTES + view.readUInt16LE(26)).toString()
}

function readDirectory(zip: Uint8Array): ZipEntry[] {
  const view = Buffer.from(zip.buffer, zip.byteOffset, zip.byteLength)
  // An archive comment could hide data, so there must be none.
  const end = view.length - END_BYTES
  if (end < 0 || view.readUInt32LE(end) !== END_SIGNATURE) {
    throw invalidPackage('The package is not a plain zip archive')
  }
  const count = view.readUInt16LE(end + 10)
  const start = view.readUInt32LE(end + 16)
  if (start + view.readUInt32LE(end + 12) !== end) {
    throw invalidPackage('The package has data that is not in its directory')
  }
  const entries: ZipEntry[] = []
  let at = start
  for (let number = 0; number < count; number++) {
    const { entry, next } = readEntry(view, at, end)
    entries.push(entry)
    at = next
  }
  if (at !== end) throw invalidPackage('The zip directory has a wrong length')
  return entries
}

function readEntry(view: Buffer, at: number, end: number): { entry: ZipEntry; next: number } {
  if (at + ENTRY_BYTES > end || view.readUInt32LE(at) !== ENTRY_SIGNATURE) {
    throw invalidPackage('The zip directory is damaged')
  }
  const flags = view.readUInt16LE(at + 8)
  const nameLength = view.readUInt16LE(at + 28)
  const rawName = view.subarray(at + ENTRY_BYTES, at + ENTRY_BYTES + nameLength)
  const compressedSize = view.readUInt32LE(at + 20)
  const next =
    at + ENTRY_BYTES + nameLength + view.readUInt16LE(at + 30) + view.readUInt16LE(at + 32)
  const name = rawName.toString()
  const compressed = readFileData(view, view.readUInt32LE(at + 42), rawName, compressedSize)
  const entry = {
    name,
    isFolder: name.endsWith('/'),
    isLink: ((view.readUInt32LE(at + 38) >>> 16) & FILE_TYPE_MASK) === SYMBOLIC_LINK,
    isEncrypted: (flags & 1) !== 0,
    method: view.readUInt16LE(at + 10),
    crc32: view.readUInt32LE(at + 16),
    size: view.readUInt32LE(at + 24),
    compressed,
  }
  return { entry, next }
}

function readFileData(view: Buffer, at: number, name: Buffer, size: number): Uint8Array {
  if (at + FILE_BYTES > view.length || view.readUInt32LE(at) !== FILE_SIGNATURE) {
    throw invalidPackage('A file is not where the zip directory says')
  }
  const nameLength = view.readUInt16LE(at + 26)
  const ownName = view.subarray(at + FILE_BYTES, at + FILE_BYTES + nameLength)
  if (!ownName.equals(name)) throw invalidPackage('A file has two different names')
  const start = at + FILE_BYTES + nameLength + view.readUInt16LE(at + 28)
  if (start + size > view.length) throw invalidPackage('A file is truncated')
  return view.subarray(start, start + size)
}

function checkEntry({ name, isLink, isEncrypted }: ZipEntry, slug: string): void {
  if (isLink) throw invalidPackage('The package has a symbolic link')
  if (isEncrypted) throw invalidPackage('The package has an encrypted file')
  const steps = name.replace(/\/$/, '').split('/')
  const isPlain = steps.every((step) => step !== '' && step !== '.' && step !== '..')
  // oxlint-disable-next-line no-control-regex
  if (!isPlain || name.length > MAX_NAME_LENGTH || /[\\:\u0000-\u001f\u007f]/.test(name)) {
    throw invalidPackage('The package has a file with an unsafe name')
  }
  if (steps[0] !== slug) throw invalidPackage(`The package has files outside the folder ${slug}`)
}

function unpack({ method, size, compressed, crc32: expected }: ZipEntry): Uint8Array {
  if (method !== 0 && method !== 8) {
    throw invalidPackage('The package has a file with an unsupported compression method')
  }
  const content = method === 0 ? compressed : inflate(compressed, size)
  if (content.byteLength !== size || crc32(content) !== expected) {
    throw invalidPackage('The package has a damaged file')
  }
  return content
}

/** Stops as soon as there is more data than the directory says, so a zip bomb is not unpacked. */
function inflate(compressed: Uint8Array, size: number): Uint8Array {
  const chunks: Uint8Array[] = []
  let length = 0
  const stream = new Inflate((chunk) => {
    length += chunk.byteLength
    chunks.push(chunk)
  })
  for (let at = 0; at < compressed.byteLength; at += STEP_BYTES) {
    const isLast = at + STEP_BYTES >= compressed.byteLength
    try {
      stream.push(compressed.subarray(at, at + STEP_BYTES), isLast)
    } catch {
      throw invalidPackage('The package has a damaged file')
    }
    if (length > size) {
      throw invalidPackage('The package has a file that is larger than its directory says')
    }
  }
  return Buffer.concat(chunks)
}
