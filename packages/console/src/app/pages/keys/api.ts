/** Branch keys and the KMS, as the page of the key store shows them. */
import type { BranchKeyDetails, ListedBranchKey } from '@strongroom/key-store/branch-keys/view'
import type { z } from 'zod'
import { request } from '../../api/request.ts'
import { formatDuration } from '../../parts/format.ts'

type BranchKey = z.infer<typeof ListedBranchKey>
export type KeyDetails = z.infer<typeof BranchKeyDetails>

export interface ListedKey {
  id: string
  context: string
  /** Undefined for a key that cannot be read. */
  key: BranchKey | undefined
  problem: string | undefined
  ageSeconds: number | null
}

/** What the page needs of `GET /server/v1/kms`. */
export interface KmsState {
  kind: 'embedded' | 'endpoint' | 'aws'
  label: string
  location: string
  arn: string
  state: 'ready' | 'not_ready'
  embedded: {
    key: { state: string; versions: number; newestVersionAt: string | null } | null
    masterKey: { file: string; protection: 'none' | 'passphrase' | null }
    problem: string | null
    audit: { records: number; last: string; findings: number } | null
  } | null
}

/** A page sorts what it has loaded, so more keys are not loaded at once. */
export const MAX_KEYS = 2_000
const PAGE_SIZE = 100

/** All keys up to a number, problems first, then the oldest. */
export async function listKeys(
  signal: AbortSignal,
): Promise<{ keys: ListedKey[]; isCut: boolean }> {
  const keys: ListedKey[] = []
  let cursor: string | null | undefined
  do {
    const page: {
      items: BranchKey[]
      unreadable: { id: string; problem: string }[]
      cursor: string | null
    } = await request('GET', '/key-store/v1/keys', {
      as: 'operator',
      query: { limit: PAGE_SIZE, versions: true, cursor: cursor ?? undefined },
      signal,
    })
    keys.push(...page.items.map(toListed), ...page.unreadable.map(toUnreadable))
    ;({ cursor } = page)
  } while (cursor !== null && keys.length < MAX_KEYS)
  return { keys: keys.toSorted(byProblem), isCut: cursor !== null }
}

function toListed(key: BranchKey): ListedKey {
  const pairs = Object.entries(key.encryptionContext).map(([name, value]) => `${name}=${value}`)
  const context = pairs.join(', ')
  return { id: key.id, context, key, problem: undefined, ageSeconds: key.ageSeconds }
}

function toUnreadable({ id, problem }: { id: string; problem: string }): ListedKey {
  return { id, context: '', key: undefined, problem, ageSeconds: null }
}

function byProblem(a: ListedKey, b: ListedKey): number {
  const rank = ({ problem }: ListedKey) => (problem === undefined ? 1 : 0)
  const age = ({ ageSeconds }: ListedKey) => ageSeconds ?? Number.MAX_SAFE_INTEGER
  return rank(a) - rank(b) || age(b) - age(a)
}

/** `400 days`; a key that was just created is `new`. */
export function formatAge(seconds: number | null): string {
  if (seconds === null) return 'Unknown'
  return seconds === 0 ? 'New' : formatDuration(seconds * 1000)
}

const keyPath = (id: string) => `/key-store/v1/keys/${encodeURIComponent(id)}`

export const getKey = (id: string, signal: AbortSignal): Promise<KeyDetails> =>
  request('GET', keyPath(id), { as: 'operator', signal })

export const rotateKey = (id: string): Promise<{ version: string }> =>
  request('POST', `${keyPath(id)}/versions`, { as: 'operator' })

export const createKey = (json: {
  id?: string
  encryptionContext?: Record<string, string>
}): Promise<{ id: string }> => request('POST', '/key-store/v1/keys', { as: 'operator', json })

export const getKms = (signal: AbortSignal): Promise<KmsState> =>
  request('GET', '/server/v1/kms', { as: 'operator', signal })
