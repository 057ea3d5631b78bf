// Checks that LMDB can map a data file without crashing the process: LMDB trusts the file, and a missing
// page is a SIGBUS. Only the header is read, unless the file is shorter than the header says. Such a file
// may be sound, because unused pages at the end need not have been written, so all used pages are walked.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { cannotOpen } from './failures.ts'
import { DATA_FILE } from './format.ts'
import { pause } from './process.ts'

const MAGIC = 0xbeefc0de
const DATA_VERSION = 2
export const HEADER_BYTES = 24
const META_BYTES = HEADER_BYTES + 136
const META_FLAG = 0x08
export const BRANCH = 0x01
export const LEAF = 0x02
export const NODE_BIG = 0x01
export const NODE_SUBTREE = 0x02
export const NODE_HEADER_BYTES = 8
export const NO_PAGE = 2n ** 64n - 1n

export interface Meta {
  pageSize: number
  lastPage: bigint
  transaction: bigint
  roots: bigint[]
}

/** A file counts as damaged if it stays unchanged for this long, or after this many reads. */
const SETTLED_MS = 20
const MAX_LOOKS = 100

interface Look {
  problem: string | undefined
  /** Equal if the file is unchanged. */
  state: string
}

/**
 * Throws if the file is not an LMDB file, has a damaged header, or is truncated. A commit that another
 * process is writing looks like damage, so only damage that persists counts.
 */
export function assertSoundFile(directory: string): void {
  let handle: number
  try {
    handle = openSync(join(directory, DATA_FILE), 'r')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return
    throw cannotOpen(directory, `${DATA_FILE} cannot be read`, error)
  }
  try {
    let seen = look(handle)
    for (let looks = 1; seen.problem !== undefined; looks++) {
      pause(SETTLED_MS)
      const again = look(handle)
      if (again.state === seen.state || looks === MAX_LOOKS) {
        throw cannotOpen(directory, `${DATA_FILE} ${seen.problem}`)
      }
      seen = again
    }
  } finally {
    closeSync(handle)
  }
}

/** Reads the length after the header, because a commit writes its pages before the header. */
function look(handle: number): Look {
  const [first, second] = readMetas(handle)
  const { size } = fstatSync(handle)
  const state = `${size} ${first?.transaction} ${second?.transaction}`
  // An empty file was created, but nothing was committed.
  return { problem: size === 0 ? undefined : findProblem(handle, first, second, size), state }
}

function findProblem(
  handle: number,
  first: Meta | undefined,
  second: Meta | undefined,
  size: number,
): string | undefined {
  if (first === undefined) return 'is not a data file of this engine, or its header is damaged'
  if (second === undefined || second.pageSize !== first.pageSize) return 'has a damaged header'
  const meta = second.transaction > first.transaction ? second : first
  if (BigInt(size) >= (meta.lastPage + 1n) * BigInt(meta.pageSize)) return undefined
  const pages = Math.floor(size / meta.pageSize)
  return usesOnly(handle, meta, pages)
    ? undefined
    : `is cut off: it has ${size} bytes, but its header records ${meta.lastPage + 1n} pages of ${meta.pageSize} bytes. Restore a backup`
}

/** The two headers, of which the one with the later transaction is valid. */
export function readMetas(handle: number): [Meta | undefined, Meta | undefined] {
  const first = readMeta(handle, 0)
  return [first, first && readMeta(handle, first.pageSize)]
}

function readMeta(handle: number, offset: number): Meta | undefined {
  const page = Buffer.alloc(META_BYTES)
  if (readSync(handle, page, 0, META_BYTES, offset) < META_BYTES) return undefined
  const meta = page.subarray(HEADER_BYTES)
  const pageSize = meta.readUInt32LE(24)
  const sound =
    (page.readUInt16LE(18) & META_FLAG) !== 0 &&
    meta.readUInt32LE(0) === MAGIC &&
    meta.readUInt16LE(4) === DATA_VERSION &&
    pageSize >= 512 &&
    pageSize <= 65536 &&
    (pageSize & (pageSize - 1)) === 0
  if (!sound) return undefined
  return {
    pageSize,
    lastPage: meta.readBigUInt64LE(120),
    transaction: meta.readBigUInt64LE(128),
    roots: [meta.readBigUInt64LE(64), meta.readBigUInt64LE(112)],
  }
}

/** Whether every used page is among the first `pages` pages. */
function usesOnly(handle: number, meta: Meta, pages: number): boolean {
  const page = Buffer.alloc(meta.pageSize)
  const pending = meta.roots.filter((root) => root !== NO_PAGE)
  for (let visits = 0; pending.length > 0; visits++) {
    const number = pending.pop()!
    if (visits > pages || number >= BigInt(pages)) return false
    readSync(handle, page, 0, meta.pageSize, Number(number) * meta.pageSize)
    const flags = page.readUInt16LE(18)
    if ((flags & (BRANCH | LEAF)) === 0) return false
    const count = page.readUInt16LE(20) >> 1
    if (HEADER_BYTES + 2 * count > meta.pageSize) return false
    for (let i = 0; i < count; i++) {
      const at = HEADER_BYTES + page.readUInt16LE(HEADER_BYTES + 2 * i)
      if (at + NODE_HEADER_BYTES > meta.pageSize) return false
      if (!visitNode(page, at, (flags & BRANCH) !== 0, meta.pageSize, pages, pending)) return false
    }
  }
  return true
}

function visitNode(
  page: Buffer,
  at: number,
  isBranch: boolean,
  pageSize: number,
  pages: number,
  pending: bigint[],
): boolean {
  const low = page.readUInt32LE(at)
  const flags = page.readUInt16LE(at + 4)
  if (isBranch) {
    pending.push(BigInt(low) | (BigInt(flags) << 32n))
    return true
  }
  const data = at + NODE_HEADER_BYTES + page.readUInt16LE(at + 6)
  if ((flags & NODE_SUBTREE) !== 0) {
    if (data + 48 > pageSize) return false
    const root = page.readBigUInt64LE(data + 40)
    if (root !== NO_PAGE) pending.push(root)
  } else if ((flags & NODE_BIG) !== 0) {
    if (data + 8 > pageSize) return false
    const first = page.readBigUInt64LE(data)
    const last = first + BigInt(Math.ceil((low + HEADER_BYTES) / pageSize)) - 1n
    return last < BigInt(pages)
  }
  return true
}
