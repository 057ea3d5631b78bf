/** Branch keys behind a server, over HTTP with the token of an operator. */
import type {
  BranchKeyDescription,
  BranchKeyPage,
  NewBranchKey,
} from '@strongroom/key-store/branch-keys'
import { ApiError, type ErrorStatus } from '@strongroom/kit/errors'
import { UsageError } from '../command.ts'
import type { KeyAccess } from './keys-access.ts'

/** The server cannot be used; the message is one line that says what to do. */
export class ServerUnusable extends Error {
  override readonly name = 'ServerUnusable'
}

const TIMEOUT_MS = 60_000
const PAGE = 100

export function remoteKeys(server: string, token: string): KeyAccess {
  async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await fetch(`${server}/key-store/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // A redirect would take the token to an address that nobody typed.
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((error: unknown) => {
      throw new ServerUnusable(
        `Cannot reach the server at ${server} (${reasonOf(error)}): see that it runs, and that the address is right`,
      )
    })
    const content: unknown = await answer.json().catch(() => undefined)
    if (answer.ok && content !== undefined) return content as T
    throw refusal(server, answer.status, content)
  }

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
  if (id === '') throw new UsageError('A branch key has an id: give it')
  // An address takes both as steps of its path, also when they are encoded.
  if (id === '.' || id === '..')
    throw new UsageError(`No address can name the key "${id}": leave out --server`)
  return `/keys/${encodeURIComponent(id)}`
}

/** What a server says no with, or that it is none of ours. */
export function refusal(server: string, status: number, content: unknown): Error {
  const { error } = (content ?? {}) as {
    error?: { code?: unknown; message?: unknown; details?: { path: string; message: string }[] }
  }
  if (typeof error?.code !== 'string' || typeof error.message !== 'string') {
    return new ServerUnusable(
      `What answers at ${server} is not a Strongroom (status ${status}): correct the address`,
    )
  }
  const [detail] = error.details ?? []
  const message = detail ? `${error.message} (${detail.path}: ${detail.message})` : error.message
  return new ApiError({ code: error.code, status: status as ErrorStatus, message })
}

/** Why the other end cannot be reached, in one word. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no reason given'
  const { cause } = error
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.name
}
