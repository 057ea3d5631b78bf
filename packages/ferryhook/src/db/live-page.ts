/**
 * A page of a listing, filled to its limit although others lie between: expired items, and those that
 * a search leaves out. A search gives up after a while: then the page is short, and its cursor goes on.
 */
import type { CursorScope } from '@strongroom/kit/cursor'
import type { Item } from '@strongroom/kit/db'
import type { Page } from '@strongroom/kit/query-page'
import type { DataLayerDeps, PaginatedResult } from './deps.ts'
import { isLive } from './times.ts'

export interface PageOpts {
  /** 1 to 100; 50 unless told. */
  limit?: number
  cursor?: string | undefined
}

/** What a listing is searched for. */
export interface Search<T> {
  /** The same for the same search: a cursor serves no other one. */
  id: string
  matches(item: T): boolean | Promise<boolean>
  /** Whether enough was looked at for one page. */
  isSpent(): boolean
}

export interface SearchedPageOpts<T> extends PageOpts {
  search?: Search<T> | undefined
  /** For a listing whose reads may find nothing. */
  mostReads?: number
}

/** A search leaves out most of what it reads. */
const SEARCHED_AT_ONCE = 100

export async function livePage<T extends { PK: string; SK: string; expiresAt: number }>(
  { clock, cursors }: Pick<DataLayerDeps, 'clock' | 'cursors'>,
  /** What is listed: a cursor serves no other listing. */
  scope: CursorScope,
  { search, mostReads = Number.POSITIVE_INFINITY, ...opts }: SearchedPageOpts<T>,
  read: (part: { limit: number; after: Item | undefined }) => Promise<Page<T>>,
): Promise<PaginatedResult<T>> {
  const limit = Math.min(Math.max(opts.limit ?? 50, 1), 100)
  const found: T[] = []
  let after = opts.cursor ? cursors.open(scope, opts.cursor) : undefined
  let reads = 0
  let isEnough = false
  do {
    const page = await read({ limit: search ? SEARCHED_AT_ONCE : limit - found.length, after })
    reads += 1
    after = page.next
    for (const item of page.items) {
      // Expired ones are left out here, so that a page without them costs no wider read.
      if (isLive(clock, item) && (!search || (await search.matches(item)))) found.push(item)
      isEnough = found.length === limit || (search?.isSpent() ?? false)
      if (!isEnough) continue
      if (item !== page.items.at(-1)) after = { PK: item.PK, SK: item.SK }
      break
    }
  } while (after && !isEnough && reads < mostReads)
  return { items: found, cursor: after ? cursors.seal(scope, after) : null }
}
