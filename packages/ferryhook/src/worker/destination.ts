/** A connection with its filter and transform parsed once, and its secrets decrypted at most once a minute. */
import { cacheSecret } from '@strongroom/kit/key-cache'
import type { Clock } from '@strongroom/platform/clock'
import type { Connection } from '../connections/item.ts'
import { limitsOf } from '../connections/options.ts'
import type { Budget } from '../filters/budget.ts'
import { type Filter, StoredFilter } from '../filters/filter.ts'
import { compileFilter, matchFilter } from '../filters/match.ts'
import type { FilteredEvent } from '../filters/received-event.ts'
import type { HeaderFields } from '../outbound/headers.ts'
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
  filteredFor(event: FilteredEvent, budget: Budget): string | undefined
  transform: Transform | 'invalid' | undefined
  /** The secrets that are active at this time, in milliseconds since the epoch. */
  secrets(now: number): Promise<string[]>
  customHeaders(): Promise<HeaderFields>
}

export function destinationOf(
  connection: Connection,
  { open, concurrency, clock }: { open: OpenSecrets; concurrency: number; clock: Clock },
): Destination {
  const filter = parseFilter(connection)
  const limits = limitsOf(connection)
  const secrets = cacheSecret<SecretList>(clock, () => open.connectionSecrets(connection))
  const headers = cacheSecret<HeaderFields>(clock, () => open.customHeaders(connection))
  return {
    connection,
    schedule: retryScheduleOf(connection),
    limits: { ...limits, concurrency: limits.concurrency ?? concurrency },
    filteredFor(event, budget) {
      if (filter === undefined) return undefined
      if (filter === 'invalid') return 'The filter is invalid. Save it again.'
      const { matched, reason = 'The filter does not match' } = matchFilter(filter, event, budget)
      return matched ? undefined : reason
    },
    transform: parseTransform(connection),
    secrets: async (now) => activeSecrets(await secrets(), now),
    customHeaders: headers,
  }
}

function parseFilter({ filters }: Connection): Filter | 'invalid' | undefined {
  if (filters === undefined) return undefined
  const { data } = StoredFilter.safeParse(JSON.parse(filters))
  if (!data) return 'invalid'
  compileFilter(data)
  return data
}

function parseTransform({ transform }: Connection): Transform | 'invalid' | undefined {
  if (transform === undefined) return undefined
  const { data } = Transform.safeParse(JSON.parse(transform))
  return data ?? 'invalid'
}

/** What it costs to parse a connection and compile its filter. */
export function preparationUnits({ filters = '', transform = '' }: Connection): number {
  return filters.length * 2 + transform.length
}
