// Checks that LMDB can map a data file without crashing the process: LMDB trusts the file, and a missing
// page is a SIGBUS. Only the header is read, unless the file is shorter than the header says. Such a file
// may be sound, because unused pages at the end need not have been written, so all used pages are walked.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { cannotOpen } from './failures.ts'
import { DATA_FILE } from './format.ts'
import {
  BRANCH,
  childPage,
  flagsOf,
  LEAF,
  type Meta,
  META_BYTES,
  NODE_BIG,
  NODE_HEADER_BYTES,
  NODE_SUBTREE,
  nodeAt,
  nodeCount,
  overflowPages,
  PAGE_HEADER_BYTES,
  readMeta,
  readNumber,
  readTree,
  TREE_BYTES,
} from './page-format.ts'
import { pause } from './process.ts'

/** A file counts as damaged if it stays unchanged for this long, or after this many reads. */
const SETTLED_MS = 20
const MAX_LOOKS = 100

interface Look {
  problem: string | undefined
  /** Equal if the file is unchanged. */
  state: string
}

/** Throws if the file is not an LMDB file, has a damaged header, or is truncated. */
export function assertSoundFile(directory: string): void {
  let handle: number
  try {
    handle = openSync(join(directory, DATA_FILE), 'r')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return
    throw cannotOpen(directory, `${DATA_FILE} cannot be read`, error)
  }
  try {
    const damage = findDamage(handle)
    if (damage !== undefined) throw cannotOpen(directory, `${DATA_FILE} ${damage}`)
  } finally {
    closeSync(handle)
  }
}

/**
 * Why LMDB must not open a file. A commit that another process is writing looks like damage, so only
 * damage that persists counts.
 */
export function findDamage(handle: number): string | undefined {
  let seen = look(handle)
  for (let looks = 1; seen.problem !== undefined; looks++) {
    pause(SETTLED_MS)
    const again = look(handle)
    if (again.state === seen.state || looks === MAX_LOOKS) return seen.problem
    seen = again
  }
  return undefined
}

/** The header of the last commit, in a file without damage. */
export function readLastMeta(handle: number): Meta | undefined {
  const first = readMetaAt(handle, 0)
  const second = first && readMetaAt(handle, first.pageSize)
  return second && lastOf(first, second)
}

function lastOf(first: Meta, second: Meta): Meta {
  return second.transaction > first.transaction ? second : first
}

/** Reads the length after the header, because a commit writes its pages before the header. */
function look(handle: number): Look {
  const first = readMetaAt(handle, 0)
  const second = first && readMetaAt(handle, first.pageSize)
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
  const meta = lastOf(first, second)
  if (size >= (meta.lastPage + 1) * meta.pageSize) return undefined
  const pages = Math.floor(size / meta.pageSize)
  return usesOnly(handle, meta, pages)
    ? undefined
    : `is cut off: it has ${size} bytes, but its header records ${meta.lastPage + 1} pages of ${meta.pageSize} bytes. Restore a backup`
}

function readMetaAt(handle: number, offset: number): Meta | undefined {
  const page = Buffer.alloc(META_BYTES)
  const read = readSync(handle, page, 0, META_BYTES, offset)
  return readMeta(page.subarray(0, read))
}

/** Whether every used page is among the first `pages` pages. */
function usesOnly(handle: number, meta: Meta, pages: number): boolean {
  const page = Buffer.alloc(meta.pageSize)
  const pending = [meta.free.root, meta.main.root].filter((root) => root !== undefined)
  for (let visits = 0; pending.length > 0; visits++) {
    const number = pending.pop()!
    if (visits > pages || number >= pages) return false
    readSync(handle, page, 0, meta.pageSize, number * meta.pageSize)
    const flags = flagsOf(page)
    if ((flags & (BRANCH | LEAF)) === 0) return false
    const count = nodeCount(page)
    if (PAGE_HEADER_BYTES + 2 * count > meta.pageSize) return false
    for (let i = 0; i < count; i++) {
      const at = nodeAt(page, i)
      if (at + NODE_HEADER_BYTES > meta.pageSize) return false
      if ((flags & BRANCH) !== 0) pending.push(childPage(page, at))
      else if (!visitLeafNode(page, at, pages, pending)) return false
    }
  }
  return true
}

function visitLeafNode(page: Buffer, at: number, pages: number, pending: number[]): boolean {
  const flags = page.readUInt16LE(at + 4)
  const data = at + NODE_HEADER_BYTES + page.readUInt16LE(at + 6)
  if ((flags & NODE_SUBTREE) !== 0) {
    if (data + TREE_BYTES > page.length) return false
    const { root } = readTree(page, data)
    if (root !== undefined) pending.push(root)
  } else if ((flags & NODE_BIG) !== 0) {
    if (data + 8 > page.length) return false
    return readNumber(page, data) + overflowPages(page.readUInt32LE(at), page.length) <= pages
  }
  return true
}
