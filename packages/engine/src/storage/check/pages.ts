// Checks the pages of a data file without LMDB, from the header of its last transaction: the trees of the
// databases, the list of free pages, and that no page is used twice or both used and free. Memory is
// bounded by one byte for each page.

import { readSync } from 'node:fs'
import {
  type Meta,
  META_PAGES,
  readNumber,
  readTree,
  type Tree,
  TREE_INTEGER_KEY,
} from '../lmdb/page-format.ts'
import type { Problems } from './problems.ts'
import { type Pages, walkTree } from './tree-walk.ts'

const DATABASES = ['items', 'entries', 'changes', 'meta']
const USED = 1

/** Page numbers in a file of this size are the largest that LMDB can have mapped. */
const MAX_PAGES = 2 ** 34

export interface DataFile {
  handle: number
  size: number
  meta: Meta
}

/** Yields the number of pages that were checked so far. Returns the trees of the databases by name. */
export function* checkPages(
  file: DataFile,
  problems: Problems,
): Generator<number, Map<string, Tree>, void> {
  const { free, main, lastPage } = file.meta
  const trees = new Map<string, Tree>()
  if (!(lastPage < MAX_PAGES)) {
    problems.add(
      'page',
      'restore',
      `The header of the data file is damaged: it has ${lastPage} pages`,
    )
    return trees
  }
  const pages = new FilePages(file, problems)
  const walk = function* (tree: Tree, rules: Parameters<typeof walkTree>[2]) {
    for (const _ of walkTree(pages, tree, rules)) yield pages.used
  }
  const order = { flags: 0, compare: Buffer.compare, minChildren: 2 }
  yield* walk(main, {
    ...order,
    name: 'main',
    hasTrees: true,
    visit: (key, value) => void trees.set(nameOf(key), readTree(value, 0)),
  })
  for (const name of DATABASES) {
    const tree = trees.get(name)
    if (tree !== undefined) yield* walk(tree, { ...order, name, hasTrees: false })
    else if (!problems.isFull && problems.list.length === 0) {
      problems.add('page', 'restore', `The tree "${name}" is missing`)
    }
  }
  for (const name of trees.keys()) {
    if (!DATABASES.includes(name)) problems.add('page', 'restore', 'There is an unknown tree')
  }
  // Last, because it must not have any page of the others.
  yield* walk(free, {
    name: 'free',
    flags: TREE_INTEGER_KEY,
    compare: compareNumbers,
    hasTrees: false,
    minChildren: 1,
    visit: (_key, value) => pages.checkFree(value),
  })
  return trees
}

class FilePages implements Pages {
  readonly pageSize: number
  readonly transaction: number
  readonly #file: DataFile
  readonly #problems: Problems
  readonly #states: Uint8Array
  used = META_PAGES

  constructor(file: DataFile, problems: Problems) {
    this.#file = file
    this.#problems = problems
    this.pageSize = file.meta.pageSize
    this.transaction = file.meta.transaction
    this.#states = new Uint8Array(file.meta.lastPage + 1)
  }

  get isFull(): boolean {
    return this.#problems.isFull
  }

  read(number: number, target: Buffer): boolean {
    try {
      const read = readSync(this.#file.handle, target, 0, target.length, number * this.pageSize)
      return read === target.length
    } catch {
      // A sector of the disk cannot be read.
      return false
    }
  }

  use(first: number, count: number): string | undefined {
    const end = first + count
    if (!(first >= META_PAGES && count >= 1 && end <= this.#states.length))
      return 'which does not exist'
    if (end * this.pageSize > this.#file.size) return 'which is beyond the end of the file'
    for (let number = first; number < end; number++) {
      if (this.#states[number] === USED) return 'which is used twice'
      this.#states[number] = USED
    }
    this.used += count
    return undefined
  }

  /**
   * A record of the free list: the number of words, then pages, each after its negative count if it is the
   * first of several. Zeros are gaps. A page may be listed twice, because LMDB ignores that.
   */
  checkFree(record: Buffer): void {
    const words = record.length >= 8 ? record.readBigInt64LE(0) : -1n
    if (words < 0n || words > BigInt(record.length / 8 - 1)) {
      return this.problem('The list of free pages is damaged: a record has a wrong length')
    }
    for (let at = 8; at <= Number(words) * 8; at += 8) {
      let count = 1
      let page = record.readBigInt64LE(at)
      if (page < 0n && at < Number(words) * 8) {
        count = Number(-page)
        at += 8
        page = record.readBigInt64LE(at)
      }
      if (page !== 0n && !this.#isFree(Number(page), count)) return
    }
  }

  #isFree(first: number, count: number): boolean {
    if (!(first >= META_PAGES && first + count <= this.#states.length)) {
      this.problem(`The list of free pages is damaged: page ${first} does not exist`)
      return false
    }
    for (let number = first; number < first + count; number++) {
      if (this.#states[number] !== USED) continue
      this.problem(`The list of free pages is damaged: page ${number} is in use`)
      return false
    }
    return true
  }

  problem(message: string): void {
    this.#problems.add('page', 'restore', message)
  }
}

/** Transaction numbers; one of another length is in the wrong order. */
function compareNumbers(a: Buffer, b: Buffer): number {
  return a.length === 8 && b.length === 8 ? readNumber(a, 0) - readNumber(b, 0) : -1
}

/** lmdb ends the names of databases with a zero. */
function nameOf(key: Buffer): string {
  return key.toString('latin1').replace(/\0$/, '')
}
