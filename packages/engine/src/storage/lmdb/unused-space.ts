// Overwrites the parts of a data file that hold no data: free pages, and the gaps in used ones. LMDB
// leaves in them what they held before. It reads neither, so they can be overwritten in place while no
// transaction writes and no reader has an older snapshot.

import { closeSync, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DATA_FILE } from './format.ts'
import type { Environment } from './lmdb.ts'
import {
  BRANCH,
  childPage,
  flagsOf,
  LEAF,
  type Meta,
  META_PAGES,
  NODE_BIG,
  NODE_HEADER_BYTES,
  NODE_SUBTREE,
  nodeAt,
  nodeCount,
  overflowPages,
  PAGE_HEADER_BYTES,
  readNumber,
  readTree,
} from './page-format.ts'
import { readLastMeta } from './pages.ts'

const MAX_WRITE_BYTES = 1 << 20

/**
 * Call inside a write transaction, so that no other one writes. Changes nothing if a reader still has an
 * older snapshot, which uses pages that are free by now, or if the file is not what it should be.
 */
export function overwriteUnusedSpace(env: Environment, directory: string): void {
  assertNoOlderSnapshot(env)
  const handle = openSync(join(directory, DATA_FILE), 'r+')
  try {
    const meta = readLastMeta(handle)
    if (!meta) throw unexpected('its header is damaged')
    const walk = new Walk(handle, meta)
    walk.run()
    for (const [start, end] of walk.unused()) overwrite(handle, start, end)
    fdatasyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Each line of LMDB's readers: process, thread, and the transaction whose state is read. */
const READER = /^\s*\d+ \S+ (\d+)\s*$/gm

function assertNoOlderSnapshot(env: Environment): void {
  env.refresh()
  const { lastTxnId } = env.root.getStats() as { lastTxnId: number }
  for (const [, transaction] of env.root.readerList().matchAll(READER)) {
    if (Number(transaction) < lastTxnId) throw unexpected('a read has not ended. It is repeated')
  }
}

function unexpected(detail: string): Error {
  return new Error(`Cannot overwrite the unused space of ${DATA_FILE}: ${detail}`)
}

function overwrite(handle: number, start: number, end: number): void {
  const zeros = Buffer.alloc(Math.min(end - start, MAX_WRITE_BYTES))
  for (let at = start; at < end;) {
    at += writeSync(handle, zeros, 0, Math.min(zeros.length, end - at), at)
  }
}

/** Finds every used page, and the unused bytes within it. */
class Walk {
  readonly #handle: number
  readonly #pageSize: number
  readonly #size: number
  readonly #used: Uint8Array
  readonly #page: Buffer
  readonly #zeros: Buffer
  readonly #pending: number[] = []
  readonly #gaps: [number, number][] = []

  constructor(handle: number, { pageSize, lastPage, free, main }: Meta) {
    this.#handle = handle
    this.#pageSize = pageSize
    this.#size = fstatSync(handle).size
    this.#used = new Uint8Array(Math.max(lastPage + 1, Math.ceil(this.#size / pageSize)))
    this.#used.fill(1, 0, META_PAGES)
    this.#page = Buffer.alloc(pageSize)
    this.#zeros = Buffer.alloc(pageSize)
    for (const { root } of [free, main]) if (root !== undefined) this.#pending.push(root)
  }

  run(): void {
    for (let next = this.#pending.pop(); next !== undefined; next = this.#pending.pop()) {
      this.#visit(next)
    }
  }

  /** Byte ranges in the file. */
  *unused(): Iterable<[number, number]> {
    yield* this.#gaps
    const used = this.#used
    for (let from = 0; from < used.length; from++) {
      if (used[from] === 1) continue
      let to = from
      while (to < used.length && used[to] === 0) to++
      const [start, end] = [from * this.#pageSize, Math.min(to * this.#pageSize, this.#size)]
      if (start < end) yield [start, end]
      from = to
    }
  }

  #visit(number: number): void {
    this.#use(number, 1)
    const page = this.#page
    const start = number * this.#pageSize
    if (readSync(this.#handle, page, 0, this.#pageSize, start) < this.#pageSize) {
      throw unexpected('a page is missing')
    }
    const flags = flagsOf(page)
    const isBranch = (flags & BRANCH) !== 0
    const lower = page.readUInt16LE(20)
    const upper = page.readUInt16LE(22)
    const isTree = isBranch !== ((flags & LEAF) !== 0)
    if (!isTree || lower > upper || PAGE_HEADER_BYTES + upper > this.#pageSize) {
      throw unexpected(`page ${number} is damaged`)
    }
    const [gapStart, gapEnd] = [PAGE_HEADER_BYTES + lower, PAGE_HEADER_BYTES + upper]
    if (!this.#zeros.subarray(0, gapEnd - gapStart).equals(page.subarray(gapStart, gapEnd))) {
      this.#gaps.push([start + gapStart, start + gapEnd])
    }
    for (let index = 0; index < nodeCount(page); index++) {
      this.#visitNode(nodeAt(page, index), isBranch)
    }
  }

  #visitNode(at: number, isBranch: boolean): void {
    const page = this.#page
    if (isBranch) {
      this.#pending.push(childPage(page, at))
      return
    }
    const size = page.readUInt32LE(at)
    const flags = page.readUInt16LE(at + 4)
    const data = at + NODE_HEADER_BYTES + page.readUInt16LE(at + 6)
    if ((flags & NODE_SUBTREE) !== 0) {
      const { root } = readTree(page, data)
      if (root !== undefined) this.#pending.push(root)
    } else if ((flags & NODE_BIG) !== 0) {
      const first = readNumber(page, data)
      const bytes = PAGE_HEADER_BYTES + size
      const pages = overflowPages(size, this.#pageSize)
      this.#use(first, pages)
      const end = (first + pages) * this.#pageSize
      if (first * this.#pageSize + bytes < end) {
        this.#gaps.push([first * this.#pageSize + bytes, end])
      }
    }
  }

  /** A page that is used twice or does not exist means that the file was not understood. */
  #use(first: number, pages: number): void {
    for (let number = first; number < first + pages; number++) {
      if (number < META_PAGES || this.#used[number] !== 0) {
        throw unexpected(`page ${number} is not where it should be`)
      }
      this.#used[number] = 1
    }
  }
}
