/** A connection with its filter and transform parsed once, and its secrets decrypted at most once a minute. */
import { cacheSecret } from '@strongroom/kit/key-cache'
import type { Clock } from '@strongroom/platform/clock'
import type { Connection } from '../connections/item.ts'
import { limitsOf } from '../connections/options.ts'
import { type Filter, StoredFilter } from '../filters/filter.ts'
import { compileFilter } from '../filters/match.ts'
import { compilePatterns } from '../filters/pattern-compilation.ts'
import type { FilteredEvent } from '../filters/received-event.ts'
import type { HeaderFields } from '../outbound/headers.ts'
import { MAX_UNITS_PER_JOB, type WorkScheduler } from '../sandbox/work-scheduler.ts'
import type { SealedSecrets } from '../signing/sealed-secrets.ts'
import { activeSecrets, type SecretList } from '../signing/secret-list.ts'
import { Transform } from '../transforms/transform.ts'
import type { DestinationLimits } from './destination-queue.ts'
import { retryScheduleOf } from './retry-schedule.ts'

export type OpenSecrets = Pick<SealedSecrets, 'connectionSecrets' | 'customHeaders'>

export interface Destination {
  connection: Connection
  schedule: readonly number[]
  limits: DestinationLimits
  /** Why the event is filtered; undefined if it is not. */
  filteredFor(event: FilteredEvent): Promise<string | undefined>
  transform: Transform | 'invalid' | undefined
  /** The secrets that are active at this time, in milliseconds since the epoch. */
  secrets(now: number): Promise<string[]>
  customHeaders(): Promise<HeaderFields>
}

export interface DestinationDeps {
  open: OpenSecrets
  concurrency: number
  clock: Clock
  scheduler: WorkScheduler
}

/** Parses the filter and the transform in turns with the work of other users. */
export async function createDestination(
  connection: Connection,
  { open, concurrency, clock, scheduler }: DestinationDeps,
): Promise<Destination> {
  const filter = await parseFilter(connection, scheduler)
  const transform = await parseTransform(connection, scheduler)
  const limits = limitsOf(connection)
  const secrets = cacheSecret<SecretList>(clock, () => open.connectionSecrets(connection))
  const headers = cacheSecret<HeaderFields>(clock, () => open.customHeaders(connection))
  return {
    connection,
    schedule: retryScheduleOf(connection),
    limits: { ...limits, concurrency: limits.concurrency ?? concurrency },
    async filteredFor(event) {
      if (filter === undefined) return undefined
      if (filter === 'invalid') return 'The filter is invalid. Save it again.'
      const result = await scheduler.evaluate(connection.userId, { kind: 'filter', filter, event })
      const { matched, reason = 'The filter does not match' } = result
      return matched ? undefined : reason
    },
    transform,
    secrets: async (now) => activeSecrets(await secrets(), now),
    customHeaders: headers,
  }
}

async function parseFilter(
  { filters, userId }: Connection,
  scheduler: WorkScheduler,
): Promise<Filter | 'invalid' | undefined> {
  if (filters === undefined) return undefined
  const rules: unknown = JSON.parse(filters)
  await compilePatterns(rules, userId, scheduler)
  return scheduler.run(userId, (budget) => {
    budget.spend(parseUnits(filters))
    const { data } = StoredFilter.safeParse(rules)
    if (!data) return 'invalid'
    compileFilter(data)
    return data
  })
}

async function parseTransform(
  { transform, userId }: Connection,
  scheduler: WorkScheduler,
): Promise<Transform | 'invalid' | undefined> {
  if (transform === undefined) return undefined
  return scheduler.run(userId, (budget) => {
    budget.spend(parseUnits(transform))
    return Transform.safeParse(JSON.parse(transform)).data ?? 'invalid'
  })
}

/** What it costs to parse and validate a filter or transform. */
function parseUnits({ length }: string): number {
  return Math.min(length, MAX_UNITS_PER_JOB)
}
