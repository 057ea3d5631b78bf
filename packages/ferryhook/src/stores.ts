/** Every store of the service, under the names of its specification. */
import type { Clock } from '@strongroom/platform/clock'
import type { Cursors } from '@strongroom/kit/cursor'
import type { Db } from '@strongroom/kit/db'
import { createAccountPurge } from './accounts/users/purge.ts'
import { createAlertSettingsStore } from './alerts/store.ts'
import { createApiKeyStore } from './accounts/api-keys/store.ts'
import { createAttemptStore } from './deliveries/attempt-store.ts'
import { createAuditStore } from './accounts/audit/store.ts'
import { createConnectionActivityStore } from './connections/activity-store.ts'
import { createConnectionHealthStore } from './connections/health-store.ts'
import { createConnectionStore } from './connections/store.ts'
import { createFailingConnections } from './connections/failing-connections.ts'
import { createDeliveryStore } from './deliveries/store.ts'
import { createDeliveryActions } from './deliveries/actions.ts'
import { createTransitions } from './deliveries/transition.ts'
import { createShards } from './queue/shards.ts'
import { createTaskQueue } from './queue/store.ts'
import { createEventCounter } from './usage/event-counts.ts'
import { createMergedListing } from './events/merged-listing.ts'
import { createEventStore } from './events/store.ts'
import { createRetention } from './deliveries/retention.ts'
import { createRateLimitStore } from './http/rate-limits.ts'
import { createSecondFactorStore } from './accounts/second-factor/store.ts'
import { createSessionStore } from './accounts/sessions/store.ts'
import { createReplayStore } from './replays/store.ts'
import { createRouting } from './deliveries/routing.ts'
import { createSettlement } from './deliveries/settlement.ts'
import { createSourceStore } from './sources/store.ts'
import { createStatisticsStore } from './usage/statistics-store.ts'
import { createIngestCounterStore } from './ingest/counter-store.ts'
import { createTestRequestStore } from './test-requests/store.ts'
import { createTicketStore } from './accounts/admin/ticket-store.ts'
import { createMetering } from './usage/metering.ts'
import { createCredentialStore } from './accounts/users/credential-store.ts'
import { createNoticeStore } from './accounts/users/notice-store.ts'
import { createUserListing } from './accounts/users/listing.ts'
import { createUserStore } from './accounts/users/store.ts'
import { createParking } from './deliveries/parking.ts'
import { createWakeUps } from './deliveries/wake-up.ts'

/** What every store needs. */
export interface StoreDeps {
  /** A `retryingDb`, which waits out throttling and short outages. */
  db: Db
  clock: Clock
  cursors: Cursors
}

/** A page of a listing, as the API returns it. */
export interface PaginatedResult<T> {
  items: T[]
  /** Where the next page starts; null after the last one. */
  cursor: string | null
}

export function createStores(deps: StoreDeps) {
  const shards = createShards(deps)
  const queue = createTaskQueue({ ...deps, shards })
  const attempts = createAttemptStore(deps)
  const events = createEventStore({ ...deps, queue })
  const activity = createConnectionActivityStore(deps)
  const transitions = createTransitions({ ...deps, events, attempts, activity })
  const deliveries = createDeliveryStore({ ...deps, queue, events, attempts })
  const audit = createAuditStore(deps)
  const logged = { ...deps, audit }
  const connections = createConnectionStore({ ...logged, tasks: queue, activity })
  const parts = { ...deps, queue, events, transitions }
  const parking = createParking({ ...parts, connections })
  const eventCounts = createEventCounter(deps)
  const statistics = createStatisticsStore({ ...deps, queue, eventCounts })
  const users = createUserStore(logged)
  const sources = createSourceStore({ ...logged, connections })
  const alertSettings = createAlertSettingsStore(logged)
  const apiKeys = createApiKeyStore(logged)
  const sessions = createSessionStore(logged)
  const secondFactors = createSecondFactorStore(logged)
  const owned = { users, sources, alertSettings, apiKeys, sessions, secondFactors }
  return {
    ...owned,
    accountPurge: createAccountPurge({ ...deps, ...owned, shards }),
    userListing: createUserListing(deps),
    notices: createNoticeStore(deps),
    credentials: createCredentialStore(logged),
    connections,
    connectionActivity: activity,
    failingConnections: createFailingConnections(deps),
    connectionHealth: createConnectionHealthStore({ ...deps, activity }),
    events,
    attempts,
    deliveries,
    mergeEvents: createMergedListing({ ...deps, queue }),
    shards,
    queue,
    routing: createRouting({ ...parts, deliveries }),
    settlement: createSettlement({ ...parts, attempts }),
    parking,
    wakeUps: createWakeUps(parts),
    retention: createRetention({ ...parts, attempts, shards }),
    deliveryActions: createDeliveryActions({ ...parts, parking, audit }),
    replays: createReplayStore(logged),
    audit,
    metering: createMetering({ ...deps, users, queue, statistics }),
    eventCounts,
    statistics,
    ingestCounters: createIngestCounterStore(deps),
    testRequests: createTestRequestStore(deps),
    tickets: createTicketStore(logged),
    rateLimits: createRateLimitStore(deps),
  }
}

export type Stores = ReturnType<typeof createStores>
