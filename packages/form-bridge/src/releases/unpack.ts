/** Unpacks a package in memory, within bounds: no bombs, no links, no names that lead elsewhere. */
import { Inflate } from 'fflate'
import { crc32 } from 'node:zlib'
import { LARGEST_PACKAGE_BYTES } from '../items/release.ts'
import { BadZip, zipDirectory, type ZipEntry } from './zip-directory.ts'

const MOST_FILES = 5_000
const MOST_UNPACKED_BYTES = 100 * 1024 * 1024
const LONGEST_NAME = 200
const STEP_BYTES = 16_384

/** The files by name, all in the folder of the plugin. */
export function unpackPlugin(zip: Uint8Array, slug: string): Map<string, Uint8Array> {
  if (zip.byteLength > LARGEST_PACKAGE_BYTES) throw new BadZip('Is larger than 20 MB')
  const entries = zipDirectory(zip)
  if (entries.length > MOST_FILES) throw new BadZip(`Has more than ${MOST_FILES} files`)
  const total = entries.reduce((sum, { size }) => sum + size, 0)
  if (total > MOST_UNPACKED_BYTES) throw new BadZip('Is larger than 100 MB when unpacked')
  const files = new Map<string, Uint8Array>()
  const seen = new Set<string>()
  for (const entry of entries) {
    checkName(entry, slug)
    // Some file systems do not tell upper case from lower case.
    const name = entry.name.toLowerCase()
    if (seen.has(name)) throw new BadZip('Has two files of one name')
    seen.add(name)
    if (!entry.isFolder) files.set(entry.name, contentOf(entry))
  }
  return files
}

function checkName({ name, isLink, isEncrypted }: ZipEntry, slug: string): void {
  if (isLink) throw new BadZip('Has a symbolic link')
  if (isEncrypted) throw new BadZip('Has an encrypted file')
  const steps = name.replace(/\/$/, '').split('/')
  const isPlain = steps.every((step) => step !== '' && step !== '.' && step !== '..')
  // oxlint-disable-next-line no-control-regex
  if (!isPlain || name.length > LONGEST_NAME || /[\\:\u0000-\u001f\u007f]/.test(name)) {
    throw new BadZip('Has a file whose name leads elsewhere')
  }
  if (steps[0] !== slug) throw new BadZip(`Has files outside of the folder ${slug}`)
}

function contentOf({ method, size, compressed, crc32: expected }: ZipEntry): Uint8Array {
  if (method !== 0 && method !== 8) throw new BadZip('Has a file in an unknown compression')
  const content = method === 0 ? compressed : inflated(compressed, size)
  if (content.byteLength !== size || crc32(content) !== expected) {
    throw new BadZip('Has a damaged file')
  }
  return content
}

/** Stops as soon as there is more than the directory says, which is where a bomb would begin. */
function inflated(compressed: Uint8Array, size: number): Uint8Array {
  const chunks: Uint8Array[] = []
  let length = 0
  const stream = new Inflate((chunk) => {
    length += chunk.byteLength
    if (length > size) throw new BadZip('Has a file that is larger than it says')
    chunks.push(chunk)
  })
  try {
    for (let at = 0; at < compressed.byteLength; at += STEP_BYTES) {
      const isLast = at + STEP_BYTES >= compressed.byteLength
      stream.push(compressed.subarray(at, at + STEP_BYTES), isLast)
    }
  } catch (error) {
    if (error instanceof BadZip) throw error
    throw new BadZip('Has a damaged file')
  }
  return Buffer.concat(chunks)
}
