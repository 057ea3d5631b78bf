/** A page of a listing, filled to its limit although expired items lie between. */
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

export async function livePage<T extends { expiresAt: number }>(
  { clock, cursors }: Pick<DataLayerDeps, 'clock' | 'cursors'>,
  /** What is listed: a cursor serves no other listing. */
  scope: CursorScope,
  opts: PageOpts,
  read: (part: { limit: number; after: Item | undefined }) => Promise<Page<T>>,
): Promise<PaginatedResult<T>> {
  const limit = Math.min(Math.max(opts.limit ?? 50, 1), 100)
  const found: T[] = []
  let after = opts.cursor ? cursors.open(scope, opts.cursor) : undefined
  do {
    const page = await read({ limit: limit - found.length, after })
    // Expired ones are left out here, so that a page without them costs no wider read.
    found.push(...page.items.filter((item) => isLive(clock, item)))
    after = page.next
  } while (after && found.length < limit)
  return { items: found, cursor: after ? cursors.seal(scope, after) : null }
}
