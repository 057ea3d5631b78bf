/** Cursors under a server secret, which may be rotated while the server runs. */
import { createCursors, type Cursors } from '@strongroom/kit/cursor'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'

const SECRET = 'ferryhook-cursors'

export interface RotatingCursors extends Cursors {
  /** To be awaited before a request: cursors themselves do not wait. */
  refresh(): Promise<void>
}

export async function openCursors(secrets: ServerSecrets): Promise<RotatingCursors> {
  let versions = ''
  let current: Cursors | undefined

  async function refresh(): Promise<Cursors> {
    const accepted = await secrets.accepted(SECRET)
    const seen = accepted.map(({ version }) => version).join()
    if (current && seen === versions) return current
    versions = seen
    current = createCursors(accepted.map(({ key }) => key))
    return current
  }

  const first = await refresh()
  return {
    seal: (scope, key) => (current ?? first).seal(scope, key),
    open: (scope, text) => (current ?? first).open(scope, text),
    async refresh() {
      await refresh()
    },
  }
}
