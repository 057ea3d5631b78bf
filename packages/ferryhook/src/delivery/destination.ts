/** A connection as a worker uses it: what is stored as text is read, what is sealed is opened, once. */
import type { HeaderFields } from './outgoing-headers.ts'
import { limitsOf } from '../accounts/connection-options.ts'
import type { KeptSecrets } from '../accounts/kept-secrets.ts'
import type { FilteredEvent } from '../filters/event.ts'
import { type Filter, StoredFilter } from '../filters/filter.ts'
import { matchFilter } from '../filters/match.ts'
import type { Connection } from '../items/connection.ts'
import { activeSecrets, type SecretList } from '../signing/secret-list.ts'
import { Transform } from '../transforms/transform.ts'
import { TransformError } from '../transforms/error.ts'
import type { LaneLimits } from './lane.ts'
import { scheduleOf } from './retry-schedule.ts'

export type OpenSecrets = Pick<KeptSecrets, 'connectionSecrets' | 'customHeaders'>

export interface Destination {
  connection: Connection
  schedule: readonly number[]
  limits: LaneLimits
  /** Why the event is not for this destination; undefined if it is. */
  filteredFor(event: FilteredEvent): string | undefined
  /** Throws a TransformError if what is stored is no transform. */
  transform(): Transform | undefined
  /** Those to sign with at this time, in milliseconds since the epoch. */
  secrets(now: number): Promise<string[]>
  customHeaders(): Promise<HeaderFields>
}

export function destinationOf(
  connection: Connection,
  { open, concurrency }: { open: OpenSecrets; concurrency: number },
): Destination {
  const filter = storedFilter(connection)
  const limits = limitsOf(connection)
  const transform = connection.transform === undefined ? undefined : parsed(connection.transform)
  let secrets: Promise<SecretList> | undefined
  let headers: Promise<HeaderFields> | undefined
  return {
    connection,
    schedule: scheduleOf(connection),
    limits: { ...limits, concurrency: limits.concurrency ?? concurrency },
    filteredFor(event) {
      if (filter === undefined) return undefined
      if (filter === 'invalid') return 'The filter is not valid: save it again'
      const { matched, reason = 'The filter does not hold' } = matchFilter(filter, event)
      return matched ? undefined : reason
    },
    transform: () => transform?.(),
    async secrets(now) {
      secrets ??= open.connectionSecrets(connection)
      // A failure is not remembered: the keys may only be away.
      secrets.catch(() => (secrets = undefined))
      return activeSecrets(await secrets, now)
    },
    customHeaders() {
      headers ??= open.customHeaders(connection)
      headers.catch(() => (headers = undefined))
      return headers
    },
  }
}

function storedFilter({ filters }: Connection): Filter | 'invalid' | undefined {
  if (filters === undefined) return undefined
  const { data } = StoredFilter.safeParse(JSON.parse(filters))
  return data ?? 'invalid'
}

function parsed(stored: string): () => Transform {
  const { data } = Transform.safeParse(JSON.parse(stored))
  return () => {
    if (data) return data
    throw new TransformError('invalid_code', 'The transform is not valid: save it again')
  }
}
