// Walks the pages of one of LMDB's trees in the file, without LMDB: page numbers, flags, offsets, the order
// of keys, values on overflow pages, and the figures that LMDB stores about the tree. After a walk without
// problems LMDB can read the tree without crashing the process.

import {
  BRANCH,
  childPage,
  flagsOf,
  LEAF,
  NODE_BIG,
  NODE_HEADER_BYTES,
  NODE_SUBTREE,
  nodeAt,
  nodeCount,
  OVERFLOW,
  OVERFLOW_REFERENCE_BYTES,
  overflowPages,
  PAGE_HEADER_BYTES,
  readNumber,
  type Tree,
  TREE_BYTES,
} from '../lmdb/page-format.ts'

/** LMDB has cursors of this depth. */
const MAX_DEPTH = 32

/** The pages of the file, and which of them are in use. */
export interface Pages {
  readonly pageSize: number
  /** The transaction of the snapshot: no page is newer. */
  readonly transaction: number
  /** Fills the buffer from the page on; false if the file ends before, or cannot be read. */
  read(number: number, target: Buffer): boolean
  /** Marks pages as used; returns why that is not possible. */
  use(first: number, count: number): string | undefined
  problem(message: string): void
  /** Whether there are so many problems that the walk should end. */
  readonly isFull: boolean
}

export interface TreeRules {
  /** For messages, such as `items`. */
  name: string
  flags: number
  compare(a: Buffer, b: Buffer): number
  /** Whether values are trees: only in the main tree. */
  hasTrees: boolean
  /** LMDB accepts branch pages with a single child in its free list only. */
  minChildren: number
  /** Called for each pair in order, with a value that is overwritten by the next one. */
  visit?(key: Buffer, value: Buffer): void
}

interface Level {
  page: Buffer
  number: number
  index: number
  count: number
  /** Keys from `low` (inclusive) to `high` (exclusive) belong to the page. */
  low: Buffer | undefined
  high: Buffer | undefined
}

/** Yields after each page, so that the caller can let others run and report progress. */
export function* walkTree(pages: Pages, tree: Tree, rules: TreeRules): Generator<void, void, void> {
  yield* new TreeWalk(pages, tree, rules).run()
}

class TreeWalk {
  readonly #pages: Pages
  readonly #tree: Tree
  readonly #rules: TreeRules
  readonly #found = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 }
  readonly #buffers: Buffer[] = []
  #isDamaged = false

  constructor(pages: Pages, tree: Tree, rules: TreeRules) {
    this.#pages = pages
    this.#tree = tree
    this.#rules = rules
  }

  *run(): Generator<void, void, void> {
    const { root, depth, flags } = this.#tree
    if (flags !== this.#rules.flags) this.#problem(`has the flags ${flags}`)
    else if (root !== undefined && (depth < 1 || depth > MAX_DEPTH)) {
      this.#problem(`has a depth of ${depth}`)
    } else if (root !== undefined) {
      yield* this.#walk(root)
    }
    if (!this.#isDamaged) this.#compareFigures()
  }

  *#walk(root: number): Generator<void, void, void> {
    const stack: Level[] = []
    this.#enter(stack, root, undefined, undefined)
    yield
    for (let level = stack.at(-1); level !== undefined; level = stack.at(-1)) {
      if (this.#pages.isFull) return
      if (level.index === level.count) {
        stack.pop()
        continue
      }
      const index = level.index++
      const node = nodeAt(level.page, index)
      const low = index === 0 ? level.low : keyOf(level.page, node)
      const isLast = index + 1 === level.count
      const high = isLast ? level.high : keyOf(level.page, nodeAt(level.page, index + 1))
      this.#enter(stack, childPage(level.page, node), low, high)
      yield
    }
  }

  /** Checks a page; pushes a branch page, whose children are next. */
  #enter(stack: Level[], number: number, low: Buffer | undefined, high: Buffer | undefined): void {
    const depth = stack.length
    const isLeaf = depth + 1 === this.#tree.depth
    const used = this.#pages.use(number, 1)
    if (used !== undefined) return this.#problem(`refers to page ${number}, ${used}`)
    const page = (this.#buffers[depth] ??= Buffer.alloc(this.#pages.pageSize))
    if (!this.#pages.read(number, page)) return this.#problem(`page ${number} cannot be read`)
    const damage =
      this.#pageDamage(page, number, isLeaf) ?? this.#nodeDamage(page, isLeaf, low, high)
    const what = isLeaf ? 'leaf' : 'branch'
    if (damage !== undefined) return this.#problem(`${what} page ${number} ${damage}`)
    const count = nodeCount(page)
    if (isLeaf) {
      this.#found.leafPages++
      this.#found.entries += count
      this.#visitLeaf(page, number, count)
    } else {
      this.#found.branchPages++
      stack.push({ page, number, index: 0, count, low, high })
    }
  }

  #pageDamage(page: Buffer, number: number, isLeaf: boolean): string | undefined {
    const { pageSize, transaction } = this.#pages
    const stored = readNumber(page, 0)
    if (stored !== number) return `has the number ${stored}`
    if (readNumber(page, 8) > transaction) return 'is newer than the last transaction'
    if (flagsOf(page) !== (isLeaf ? LEAF : BRANCH)) return `has the flags ${flagsOf(page)}`
    const [lower, upper] = [page.readUInt16LE(20), page.readUInt16LE(22)]
    const least = isLeaf ? 1 : this.#rules.minChildren
    if (
      lower % 2 !== 0 ||
      lower > upper ||
      upper > pageSize - PAGE_HEADER_BYTES ||
      lower < 2 * least
    ) {
      return `has impossible bounds (${lower} and ${upper})`
    }
    return undefined
  }

  /** Nodes fill the end of a page without gaps, and their keys ascend within the bounds of the parent. */
  #nodeDamage(
    page: Buffer,
    isLeaf: boolean,
    low: Buffer | undefined,
    high: Buffer | undefined,
  ): string | undefined {
    const upper = PAGE_HEADER_BYTES + page.readUInt16LE(22)
    const count = nodeCount(page)
    let bytes = 0
    let before = low
    for (let index = 0; index < count; index++) {
      const node = nodeAt(page, index)
      const size = node >= upper && node % 2 === 0 ? nodeSize(page, node, isLeaf) : undefined
      if (size === undefined || node + size > page.length) return `has a node at byte ${node}`
      bytes += size + (size % 2)
      // The first key of a branch page is never read.
      if (!isLeaf && index === 0) continue
      const key = keyOf(page, node)
      if (key.length === 0) return 'has an empty key'
      const isFirst = index === (isLeaf ? 0 : 1)
      const order = before === undefined ? 1 : this.#rules.compare(key, before)
      if (order < 0 || (order === 0 && !isFirst)) return 'has keys in the wrong order'
      if (high !== undefined && this.#rules.compare(key, high) >= 0) {
        return 'has keys beyond those of its parent'
      }
      before = key
    }
    return bytes === page.length - upper ? undefined : 'has nodes that overlap or are lost'
  }

  #visitLeaf(page: Buffer, number: number, count: number): void {
    const { hasTrees, visit } = this.#rules
    for (let index = 0; index < count; index++) {
      const node = nodeAt(page, index)
      const size = page.readUInt32LE(node)
      const flags = page.readUInt16LE(node + 4)
      const key = keyOf(page, node)
      const start = node + NODE_HEADER_BYTES + key.length
      if (flags === NODE_BIG && !hasTrees) {
        const value = this.#overflow(page, start, size)
        if (value !== undefined) visit?.(key, value)
      } else if (flags === (hasTrees ? NODE_SUBTREE : 0) && (!hasTrees || size === TREE_BYTES)) {
        visit?.(key, page.subarray(start, start + size))
      } else {
        this.#problem(`leaf page ${number} has a node with the flags ${flags}`)
      }
    }
  }

  /** A value on pages of its own; read as a whole only if somebody wants it. */
  #overflow(leaf: Buffer, reference: number, size: number): Buffer | undefined {
    const { pageSize, transaction } = this.#pages
    const first = readNumber(leaf, reference)
    const pages = readNumber(leaf, reference + 16)
    const needed = overflowPages(size, pageSize)
    if (pages < needed) {
      this.#problem(`has a value of ${size} bytes on ${pages} overflow pages`)
      return undefined
    }
    const used = this.#pages.use(first, pages)
    if (used !== undefined) {
      this.#problem(`refers to overflow page ${first}, ${used}`)
      return undefined
    }
    this.#found.overflowPages += pages
    const isWanted = this.#rules.visit !== undefined
    const bytes = Buffer.alloc(isWanted ? PAGE_HEADER_BYTES + size : PAGE_HEADER_BYTES)
    const isSound =
      this.#pages.read(first, bytes) &&
      readNumber(bytes, 0) === first &&
      readNumber(bytes, 8) <= transaction &&
      flagsOf(bytes) === OVERFLOW &&
      bytes.readUInt32LE(20) === pages
    if (isSound) return bytes.subarray(PAGE_HEADER_BYTES)
    this.#problem(`overflow page ${first} is damaged`)
    return undefined
  }

  #compareFigures(): void {
    const { branchPages, leafPages, overflowPages: big, entries } = this.#tree
    this.#compare('branch pages', this.#found.branchPages, branchPages)
    this.#compare('leaf pages', this.#found.leafPages, leafPages)
    this.#compare('overflow pages', this.#found.overflowPages, big)
    this.#compare('entries', this.#found.entries, entries)
  }

  #compare(what: string, found: number, recorded: number): void {
    if (found !== recorded) this.#problem(`has ${found} ${what}, but ${recorded} are recorded`)
  }

  #problem(text: string): void {
    this.#isDamaged = true
    this.#pages.problem(`The tree "${this.#rules.name}" is damaged: ${text}`)
  }
}

function keyOf(page: Buffer, node: number): Buffer {
  const start = node + NODE_HEADER_BYTES
  return page.subarray(start, start + page.readUInt16LE(node + 6))
}

/** Undefined if not even the header fits. */
function nodeSize(page: Buffer, node: number, isLeaf: boolean): number | undefined {
  if (node + NODE_HEADER_BYTES > page.length) return undefined
  const bare = NODE_HEADER_BYTES + page.readUInt16LE(node + 6)
  if (!isLeaf) return bare
  const isBig = page.readUInt16LE(node + 4) === NODE_BIG
  return bare + (isBig ? OVERFLOW_REFERENCE_BYTES : page.readUInt32LE(node))
}
