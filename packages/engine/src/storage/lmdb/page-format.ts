// The bytes of LMDB's data file, as far as checks read them without LMDB, which trusts the file and may
// crash the process if it is damaged. Page numbers and sizes are read as numbers: a file with more than
// 2^53 bytes is damaged.
//
//   page:  number (8) | transaction (8) | padding (2) | flags (2) | lower (2) | upper (2)
//          overflow pages: number of pages (4) instead of lower and upper
//   tree:  padding (4) | flags (2) | depth (2) | branch, leaf, overflow pages (8 each) | entries (8) | root (8)
//   meta:  magic (4) | version (4) | address (8) | map size (8) | free list (tree) | main (tree) |
//          last page (8) | transaction (8)
//   node:  branch: page (6) | key size (2) | key
//          leaf: value size (4) | flags (2) | key size (2) | key | value, tree or overflow reference
//
// Offsets of nodes, lower and upper count from the end of the page header.

export const PAGE_HEADER_BYTES = 24
export const NODE_HEADER_BYTES = 8
export const TREE_BYTES = 48
/** The page, transaction and number of pages of a value that is too large for a leaf. */
export const OVERFLOW_REFERENCE_BYTES = 24
export const META_PAGES = 2

export const BRANCH = 0x01
export const LEAF = 0x02
export const OVERFLOW = 0x04
export const NODE_BIG = 0x01
export const NODE_SUBTREE = 0x02
export const TREE_INTEGER_KEY = 0x08

const META = 0x08
const MAGIC = 0xbeefc0de
const DATA_VERSION = 2
export const META_BYTES = PAGE_HEADER_BYTES + 136
const NO_PAGE = 2n ** 64n - 1n

export interface Tree {
  /** Zero, except for the free list, whose keys are numbers. */
  flags: number
  depth: number
  branchPages: number
  leafPages: number
  overflowPages: number
  entries: number
  /** Undefined if it is empty. */
  root: number | undefined
}

export interface Meta {
  pageSize: number
  lastPage: number
  transaction: number
  free: Tree
  main: Tree
}

/** Undefined if the bytes are not a meta page. */
export function readMeta(page: Buffer): Meta | undefined {
  if (page.length < META_BYTES) return undefined
  const meta = page.subarray(PAGE_HEADER_BYTES)
  const pageSize = meta.readUInt32LE(24)
  const isSound =
    (flagsOf(page) & META) !== 0 &&
    meta.readUInt32LE(0) === MAGIC &&
    meta.readUInt16LE(4) === DATA_VERSION &&
    pageSize >= 512 &&
    pageSize <= 65536 &&
    (pageSize & (pageSize - 1)) === 0
  if (!isSound) return undefined
  return {
    pageSize,
    lastPage: readNumber(meta, 120),
    transaction: readNumber(meta, 128),
    free: readTree(meta, 24),
    main: readTree(meta, 72),
  }
}

export function readTree(bytes: Buffer, at: number): Tree {
  const root = bytes.readBigUInt64LE(at + 40)
  return {
    flags: bytes.readUInt16LE(at + 4),
    depth: bytes.readUInt16LE(at + 6),
    branchPages: readNumber(bytes, at + 8),
    leafPages: readNumber(bytes, at + 16),
    overflowPages: readNumber(bytes, at + 24),
    entries: readNumber(bytes, at + 32),
    root: root === NO_PAGE ? undefined : Number(root),
  }
}

export function readNumber(bytes: Buffer, at: number): number {
  return Number(bytes.readBigUInt64LE(at))
}

export function flagsOf(page: Buffer): number {
  return page.readUInt16LE(18)
}

/** The number of nodes of a branch or leaf page. */
export function nodeCount(page: Buffer): number {
  return page.readUInt16LE(20) >> 1
}

/** Where a node begins. */
export function nodeAt(page: Buffer, index: number): number {
  return PAGE_HEADER_BYTES + page.readUInt16LE(PAGE_HEADER_BYTES + 2 * index)
}

export function childPage(page: Buffer, node: number): number {
  return page.readUIntLE(node, 6)
}

/** How many pages a value of this size takes if it is too large for a leaf. */
export function overflowPages(size: number, pageSize: number): number {
  return Math.ceil((size + PAGE_HEADER_BYTES) / pageSize)
}
