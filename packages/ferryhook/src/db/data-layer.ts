/** The whole data layer, put together. */
import { createAccountEnd } from './account-end.ts'
import { createAlertSettings } from './alert-settings.ts'
import { createApiKeys } from './api-keys.ts'
import { createAttempts } from './attempts.ts'
import { createAudit } from './audit.ts'
import { createConnectionHealth } from './connection-health.ts'
import { createConnections } from './connections.ts'
import { createDeliveries } from './deliveries.ts'
import { createDeliveryControl } from './delivery-control.ts'
import { createDeliveryWriter } from './delivery-writer.ts'
import type { DataLayerDeps } from './deps.ts'
import { createDueShards } from './due-shards.ts'
import { createDueWork } from './due-work.ts'
import { createEventIntake } from './event-intake.ts'
import { createEventWriter } from './event-writer.ts'
import { createEventScan } from './event-scan.ts'
import { createEvents } from './events.ts'
import { createKeeping } from './keeping.ts'
import { createRates } from './rates.ts'
import { createRefreshTokens } from './refresh-tokens.ts'
import { createReplays } from './replays.ts'
import { createRouting } from './routing.ts'
import { createSettling } from './settling.ts'
import { createSources } from './sources.ts'
import { createStats } from './stats.ts'
import { createTallies } from './tallies.ts'
import { createTaskWriter } from './task-writer.ts'
import { createTickets } from './tickets.ts'
import { createUsage } from './usage.ts'
import { createUserListing } from './user-listing.ts'
import { createUsers } from './users.ts'
import { createWaiting } from './waiting.ts'

export function createDataLayer(deps: DataLayerDeps) {
  const dueShards = createDueShards(deps)
  const tasks = createTaskWriter({ ...deps, shards: dueShards })
  const writer = createEventWriter(deps)
  const attempts = createAttempts(deps)
  const deliveryWriter = createDeliveryWriter({ ...deps, writer, attempts })
  const intake = createEventIntake({ ...deps, tasks })
  const events = createEvents({ ...deps, intake, writer })
  const deliveries = createDeliveries({ ...deps, tasks, writer, events, attempts })
  const dueWork = createDueWork({ ...deps, tasks })
  const audit = createAudit(deps)
  const logged = { ...deps, audit }
  const connections = createConnections({ ...logged, tasks })
  const parts = { ...deps, tasks, writer, deliveryWriter, dueWork }
  const waiting = createWaiting({ ...parts, connections })
  const scan = createEventScan(deps)
  const stats = createStats({ ...deps, tasks, scan })
  const users = createUsers(logged)
  const sources = createSources({ ...logged, connections })
  const alertSettings = createAlertSettings(logged)
  const apiKeys = createApiKeys(logged)
  const refreshTokens = createRefreshTokens(logged)
  const owned = { users, sources, alertSettings, apiKeys, refreshTokens }
  return {
    ...owned,
    accountEnd: createAccountEnd({ ...deps, ...owned, shards: dueShards }),
    userListing: createUserListing(deps),
    connections,
    connectionHealth: createConnectionHealth(deps),
    events,
    attempts,
    deliveries,
    dueShards,
    dueWork,
    routing: createRouting({ ...parts, deliveries }),
    settling: createSettling({ ...parts, attempts }),
    waiting,
    keeping: createKeeping({ ...parts, attempts, dueShards }),
    deliveryControl: createDeliveryControl({ ...parts, waiting, audit }),
    replays: createReplays(logged),
    audit,
    usage: createUsage({ ...deps, tasks, stats }),
    scan,
    stats,
    tallies: createTallies(deps),
    tickets: createTickets(logged),
    rates: createRates(deps),
  }
}

export type DataLayer = ReturnType<typeof createDataLayer>
