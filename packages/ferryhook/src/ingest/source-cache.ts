/**
 * Caches sources, so that receiving an event needs no read. Changes of this process take effect
 * immediately, changes of other processes within a minute.
 */
import { SECRET_CACHE_SECONDS } from '@strongroom/kit/key-cache'
import { type Clock, isRecent } from '@strongroom/platform/clock'
import { LRUCache } from 'lru-cache'
import type { IsCredentialHeader } from '../events/credential-headers.ts'
import { createReadEventType, type ReadEventType } from '../events/event-type.ts'
import type { Plan } from '../plans.ts'
import type { SealedSecrets } from '../signing/sealed-secrets.ts'
import type { SecretList } from '../signing/secret-list.ts'
import { methodsOf, type Source } from '../sources/item.ts'
import type { Stores } from '../stores.ts'
import { schemeOf } from '../verification/configuration.ts'
import type { SigningScheme } from '../verification/schemes.ts'

const CACHE_MS = SECRET_CACHE_SECONDS * 1000
/** Short, so that a source that another process creates or resumes works soon. */
const MISSING_CACHE_MS = 2_000

const MAX_SOURCES = 10_000
/** Bounded, because anyone can make up ids of sources that do not exist. */
const MAX_MISSING = 10_000

const SOURCE_ID = /^src_[A-Za-z0-9_-]{16}$/

/** What ingest needs of a source. */
export interface CachedSource {
  source: Source
  plan: Plan
  /** The owner's counted events, and the month they belong to. */
  usage: { month: string; events: number }
  /** A month whose quota is known to be used up. */
  fullMonth: string | undefined
  /** Undefined if the source does not verify signatures. */
  scheme: SigningScheme | undefined
  secrets: SecretList
  /** Methods that events are accepted by. */
  methods: readonly string[]
  readEventType: ReadEventType
}

interface Entry {
  cached: CachedSource
  readAt: number
}

export type SourceCache = ReturnType<typeof createSourceCache>

export function createSourceCache({
  clock,
  load,
}: {
  clock: Clock
  load: (sourceId: string) => Promise<CachedSource | undefined>
}) {
  const sources = new LRUCache<string, Entry>({ max: MAX_SOURCES })
  const missing = new LRUCache<string, number>({ max: MAX_MISSING })
  const loading = new Map<string, Promise<CachedSource | undefined>>()

  function save(sourceId: string, cached: CachedSource | undefined, readAt: number): void {
    sources.delete(sourceId)
    if (cached) sources.set(sourceId, { cached, readAt })
    else missing.set(sourceId, readAt)
  }

  function loadOnce(sourceId: string): Promise<CachedSource | undefined> {
    const pending = loading.get(sourceId)
    if (pending) return pending
    // If the source is invalidated while it is loading, the result may be stale: do not save it.
    const isCurrent = () => loading.get(sourceId) === mine
    const readAt = clock.now()
    const mine = load(sourceId)
      .then((cached) => {
        if (isCurrent()) save(sourceId, cached, readAt)
        return cached
      })
      .finally(() => void (isCurrent() && loading.delete(sourceId)))
    loading.set(sourceId, mine)
    return mine
  }

  /** What is known without a read. */
  function peek(sourceId: string): CachedSource | 'missing' | undefined {
    const entry = sources.get(sourceId)
    if (entry && isRecent(clock, entry.readAt, CACHE_MS)) return entry.cached
    const missingAt = missing.get(sourceId)
    if (missingAt !== undefined && isRecent(clock, missingAt, MISSING_CACHE_MS)) return 'missing'
    return SOURCE_ID.test(sourceId) ? undefined : 'missing'
  }

  return {
    peek,

    /** Undefined if there is no such source, or it does not accept events. */
    async get(sourceId: string): Promise<CachedSource | undefined> {
      const known = peek(sourceId)
      if (known === 'missing') return undefined
      return known ?? loadOnce(sourceId)
    },

    invalidate(sourceId: string): void {
      sources.delete(sourceId)
      missing.delete(sourceId)
      loading.delete(sourceId)
    },

    /** All sources of a user, whose plan may have changed. */
    invalidateUser(userId: string): void {
      for (const [sourceId, { cached }] of sources.entries()) {
        if (cached.source.userId === userId) sources.delete(sourceId)
      }
      // The owner of a source that is still loading is unknown.
      loading.clear()
    },
  }
}

/** Undefined if the source does not exist, is paused or is deleted. */
export async function loadSource(
  sourceId: string,
  stores: Pick<Stores, 'sources' | 'users'>,
  {
    sealedSecrets,
    isCredentialHeader,
  }: {
    sealedSecrets: Pick<SealedSecrets, 'sourceSecrets'>
    isCredentialHeader: IsCredentialHeader
  },
): Promise<CachedSource | undefined> {
  const found = await stores.sources.getById(sourceId)
  if (!found) return undefined
  // The index may be stale, and the result is cached for a minute, so read the item itself.
  const source = await stores.sources.getOwned(sourceId, found.userId)
  if (source?.status !== 'active') return undefined
  const owner = await stores.users.getById(source.userId)
  if (!owner) return undefined
  const scheme = schemeOf(source)
  return {
    source,
    plan: owner.plan,
    usage: { month: owner.usagePeriodStart, events: owner.usageThisMonth },
    fullMonth: undefined,
    scheme,
    secrets: scheme ? await sealedSecrets.sourceSecrets(source) : [],
    methods: methodsOf(source),
    readEventType: createReadEventType(source, isCredentialHeader),
  }
}
