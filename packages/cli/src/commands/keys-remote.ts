/** Branch keys behind a server, over HTTP with the token of an operator. */
import type {
  BranchKeyDescription,
  BranchKeyPage,
  NewBranchKey,
} from '@strongroom/key-store/branch-keys'
import { UsageError } from '../command.ts'
import type { Ask } from '../service-api.ts'
import type { KeyAccess } from './keys-access.ts'

const PAGE = 100

export function remoteKeys(ask: Ask): KeyAccess {
  return {
    ready: async () => {},

    create: ({ id, encryptionContext }: NewBranchKey) =>
      ask('POST', '/keys', { id, encryptionContext }),

    rotate: (id) => ask('POST', `${pathOf(id)}/versions`),

    describe: (id) => ask<BranchKeyDescription>('GET', pathOf(id)),

    async *pages() {
      let cursor: string | null = null
      do {
        const from: string = cursor === null ? '' : `&cursor=${cursor}`
        const page: Pick<BranchKeyPage, 'items' | 'unreadable'> & { cursor: string | null } =
          await ask('GET', `/keys?limit=${PAGE}${from}`)
        yield page
        cursor = page.cursor
      } while (cursor !== null)
    },

    async revealBeacon() {
      throw new UsageError('A key is never sent over HTTP: use --reveal where the store is')
    },
  }
}

function pathOf(id: string): string {
  // An address takes both as steps of its path, also when they are encoded.
  if (id === '.' || id === '..')
    throw new UsageError(`No address can name the key "${id}": leave out --server`)
  return `/keys/${encodeURIComponent(id)}`
}
