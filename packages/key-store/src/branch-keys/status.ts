/** What operators should know about branch keys. */
import type { Problem, ServiceStatus } from '@strongroom/kit/service-status'
import { type Clock, isRecent } from '@strongroom/platform/clock'
import { ageSeconds } from './age.ts'
import type { KeyListing } from './listing.ts'

const MAX_AGE_DAYS = 365
const DAY_SECONDS = 86_400
/** Listing scans the table, and keys age slowly. */
const CACHE_MS = 3_600_000
const MAX_KEYS = 10_000

interface Ages {
  keys: number
  /** Keys older than a year, and the age of the oldest in seconds. */
  old: number
  oldest: number
  unreadable: number
  isComplete: boolean
}

export function createKeyStoreStatus({
  listing,
  clock,
}: {
  listing: Pick<KeyListing, 'listBranchKeys'>
  clock: Clock
}): () => Promise<ServiceStatus> {
  let cached: { ages: Promise<Ages>; readAt: number } | undefined

  async function read(): Promise<Ages> {
    const { keys, unreadable, next } = await listing.listBranchKeys({ limit: MAX_KEYS })
    const ages = keys.map(({ createTime }) => ageSeconds(createTime, clock) ?? 0)
    return {
      keys: keys.length,
      old: ages.filter((age) => age > MAX_AGE_DAYS * DAY_SECONDS).length,
      oldest: Math.max(0, ...ages),
      unreadable: unreadable.length,
      isComplete: next === undefined,
    }
  }

  return async () => {
    if (!cached || !isRecent(clock, cached.readAt, CACHE_MS)) {
      const ages = read()
      cached = { ages, readAt: clock.now() }
      ages.catch(() => (cached = undefined))
    }
    const { keys, old, oldest, unreadable, isComplete } = await cached.ages
    const problems: Problem[] = []
    const be = (count: number) => (count === 1 ? 'key is' : 'keys are')
    if (unreadable > 0) {
      problems.push({
        severity: 'bad',
        title: `${unreadable} branch ${be(unreadable)} unreadable`,
        explanation:
          'Their items in strongroom-branch-keys are damaged, so what was encrypted under them cannot be decrypted. Restore them from a backup.',
        page: '/server/keys',
        command: 'strongroom keys list',
      })
    }
    if (old > 0) {
      problems.push({
        severity: 'warn',
        title: `${old} branch ${be(old)} older than ${MAX_AGE_DAYS} days`,
        explanation:
          'A rotation makes new data keys from a new version. Old versions stay for what was encrypted under them.',
        since: clock.now() - (oldest - MAX_AGE_DAYS * DAY_SECONDS) * 1000,
        page: `/server/keys?older=${MAX_AGE_DAYS}d`,
        command: `strongroom keys rotate --all --older-than ${MAX_AGE_DAYS}d`,
      })
    }
    const number = `${isComplete ? '' : 'More than '}${keys.toLocaleString('en')} branch ${keys === 1 ? 'key' : 'keys'}`
    return { note: old > 0 ? `${number}, ${old} older than a year` : number, problems }
  }
}
