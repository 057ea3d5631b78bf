/**
 * Reads a page of a listing and fills it to its limit, skipping expired items and those that a
 * search excludes. A search stops after some work: the page is then short, and its cursor continues.
 */
import type { CursorScope } from '@strongroom/kit/cursor'
import type { Item } from '@strongroom/kit/db'
import type { Page } from '@strongroom/kit/paging'
import type { StoreDeps, PaginatedResult } from '../stores.ts'
import { isUnexpired } from './time.ts'

export interface PageOpts {
  /** 1 to 100; defaults to 50. */
  limit?: number
  cursor?: string | undefined
}

export interface Search<T> {
  /** Identifies the search: a cursor is valid for the same search only. */
  id: string
  matches(item: T): boolean | Promise<boolean>
  /** Whether the search has done enough work for one page. */
  isSpent(): boolean
}

export interface SearchedPageOpts<T> extends PageOpts {
  search?: Search<T> | undefined
  /** Limits the reads of a listing that may find nothing. */
  maxReads?: number
  /** Whether the listing itself has done enough work for one page. */
  isSpent?: () => boolean
}

/** A search excludes most of what it reads. */
const SEARCH_BATCH = 100

export async function readPage<T extends { PK: string; SK: string; expiresAt: number }>(
  { clock, cursors }: Pick<StoreDeps, 'clock' | 'cursors'>,
  /** Identifies the listing: a cursor is valid for the same listing only. */
  scope: CursorScope,
  {
    search,
    maxReads = Number.POSITIVE_INFINITY,
    isSpent = () => false,
    ...opts
  }: SearchedPageOpts<T>,
  read: (part: { limit: number; after: Item | undefined }) => Promise<Page<T>>,
): Promise<PaginatedResult<T>> {
  const limit = Math.min(Math.max(opts.limit ?? 50, 1), 100)
  const found: T[] = []
  let after = opts.cursor ? cursors.open(scope, opts.cursor) : undefined
  let reads = 0
  let isEnough = false
  do {
    const page = await read({ limit: search ? SEARCH_BATCH : limit - found.length, after })
    reads += 1
    after = page.next
    for (const item of page.items) {
      // Expired items are skipped here, so that a page without any needs no larger read.
      if (isUnexpired(clock, item) && (!search || (await search.matches(item)))) found.push(item)
      isEnough = found.length === limit || (search?.isSpent() ?? false)
      if (!isEnough) continue
      if (item !== page.items.at(-1)) after = { PK: item.PK, SK: item.SK }
      break
    }
  } while (after && !isEnough && reads < maxReads && !isSpent())
  return { items: found, cursor: after ? cursors.seal(scope, after) : null }
}
