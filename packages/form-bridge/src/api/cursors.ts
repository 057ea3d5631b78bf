/** Cursors of lists, sealed under a server secret that may be rotated while the server runs. */
import { type CursorScope, createCursors, type Cursors } from '@strongroom/kit/cursor'
import type { Page } from '@strongroom/kit/query-page'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import type { PageRequest } from '../store/deps.ts'

const SECRET = 'form-bridge-cursors'

export type Pager = ReturnType<typeof createPager>

export function createPager(secrets: ServerSecrets) {
  let made: { versions: string; cursors: Cursors } | undefined

  async function cursors(): Promise<Cursors> {
    const accepted = await secrets.accepted(SECRET)
    const versions = accepted.map(({ version }) => version).join()
    if (made?.versions !== versions) {
      made = { versions, cursors: createCursors(accepted.map(({ key }) => key)) }
    }
    return made.cursors
  }

  /** A page of the list that the scope names, as clients see it. */
  return async <Item, View>(
    scope: CursorScope,
    { limit, cursor }: { limit: number; cursor?: string | undefined },
    list: (page: PageRequest) => Promise<Page<Item>>,
    view: (item: Item) => View,
  ): Promise<{ items: View[]; cursor: string | null }> => {
    const seal = await cursors()
    const after = cursor === undefined ? undefined : seal.open(scope, cursor)
    const { items, next } = await list({ limit, after })
    return { items: items.map(view), cursor: next ? seal.seal(scope, next) : null }
  }
}
