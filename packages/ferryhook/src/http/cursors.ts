/**
 * Page cursors under a server secret, which may be rotated while the server runs. Stores and streams
 * seal cursors synchronously, so requests refresh the keys first.
 */
import { createCursors, type Cursors } from '@strongroom/kit/cursor'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'

const SECRET = 'ferryhook-cursors'

export interface RotatingCursors extends Cursors {
  /** Loads the current keys of the secret. */
  refresh(): Promise<void>
}

export async function openCursors(secrets: ServerSecrets): Promise<RotatingCursors> {
  let versions = ''
  let current: Cursors | undefined

  async function refresh(): Promise<Cursors> {
    const accepted = await secrets.accepted(SECRET)
    const loaded = accepted.map(({ version }) => version).join()
    if (current && loaded === versions) return current
    versions = loaded
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
