import { z } from '@hono/zod-openapi'
import { ConnectionLimits, limitsOf, RetryDelays } from './options.ts'
import type { SealedSecrets } from '../signing/sealed-secrets.ts'
import { Filter } from '../filters/filter.ts'
import type { NamedConnection } from './account-connections.ts'
import type { CircuitState, CurrentConnection } from './activity-store.ts'
import type { Connection } from './item.ts'
import type { WorkScheduler } from '../sandbox/work-scheduler.ts'
import { resourceStatus } from '../sources/item.ts'
import { Transform } from '../transforms/transform.ts'

export const CircuitView = z
  .object({
    state: z.enum(['closed', 'open', 'half_open']),
    since: z.string().nullable().openapi({ description: 'When it opened' }),
    nextAttemptAt: z.string().nullable().openapi({ description: 'When the next attempt is made' }),
  })
  .openapi('FerryhookCircuit', {
    description:
      'The circuit breaker: while it is open, deliveries wait; half-open, one attempt decides.',
  })

export function toCircuitView(circuit: CircuitState | undefined): z.infer<typeof CircuitView> {
  if (!circuit) return { state: 'closed', since: null, nextAttemptAt: null }
  const { state, since, nextAttemptAt } = circuit
  return {
    state,
    since: new Date(since).toISOString(),
    nextAttemptAt: new Date(nextAttemptAt).toISOString(),
  }
}

export const ConnectionView = z
  .object({
    id: z.string().openapi({ example: 'conn_V1StGXR8_Z5jdHi6' }),
    sourceId: z.string(),
    name: z.string(),
    destinationUrl: z.string(),
    filters: Filter,
    transform: Transform,
    retryConfig: RetryDelays.nullable(),
    limits: ConnectionLimits,
    headerNames: z.array(z.string()).openapi({ description: 'Names of the headers that it sends' }),
    rev: z.int().openapi({ description: 'Increased by each change; send it with an update' }),
    status: resourceStatus,
    statusReason: z.string().nullable(),
    failingSince: z.string().nullable(),
    failedAttempts: z.int().openapi({ description: 'Failed attempts since the last success' }),
    lastDeliveredAt: z.string().nullable().openapi({
      description: 'The last successful attempt; at most a few seconds old',
    }),
    circuit: CircuitView,
    deliveryCount: z.int().openapi({ description: 'Deliveries that succeeded' }),
    failureCount: z.int().openapi({ description: 'Deliveries that failed permanently' }),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .openapi('FerryhookConnection')

/** A connection in a list of many: without what may be large or has to be decrypted. */
export const ConnectionSummaryView = ConnectionView.omit({
  filters: true,
  transform: true,
  headerNames: true,
})
  .extend({
    sourceName: z.string(),
    conditions: z.int().openapi({ description: 'Number of conditions of its filter' }),
    transformType: z.enum(['passthrough', 'field_map', 'javascript']),
  })
  .openapi('FerryhookConnectionSummary')

export function toConnectionSummaryView({
  connection,
  sourceName,
}: NamedConnection): z.infer<typeof ConnectionSummaryView> {
  const { filters, transform, headerNames: _, ...view } = viewWith(connection, [])
  return { ...view, sourceName, conditions: filters.length, transformType: transform.type }
}

/** The JSON of a list of views, built in turns with the work of others: it may be megabytes. */
export async function toConnectionListJson(
  connections: readonly CurrentConnection[],
  owner: string,
  { sealedSecrets, scheduler }: { sealedSecrets: HeaderSecrets; scheduler: WorkScheduler },
): Promise<string> {
  const views: string[] = []
  for (const connection of connections) {
    const headerNames = await headerNamesOf(connection, sealedSecrets)
    const json = await scheduler.run(owner, (budget) => {
      budget.spend(viewUnits(connection))
      return JSON.stringify(viewWith(connection, headerNames))
    })
    views.push(json)
  }
  return `[${views.join(',')}]`
}

function viewUnits({ filters = '', transform = '' }: Connection): number {
  return 500 + (filters.length + transform.length) / 4
}

type HeaderSecrets = Pick<SealedSecrets, 'customHeaders'>

export async function toConnectionView(
  connection: CurrentConnection,
  sealedSecrets: HeaderSecrets,
) {
  return viewWith(connection, await headerNamesOf(connection, sealedSecrets))
}

async function headerNamesOf(
  connection: Connection,
  sealedSecrets: HeaderSecrets,
): Promise<string[]> {
  return Object.keys(await sealedSecrets.customHeaders(connection))
}

function viewWith(
  connection: CurrentConnection,
  headerNames: string[],
): z.infer<typeof ConnectionView> {
  const { filters, transform, retryConfig } = connection
  return {
    id: connection.connectionId,
    sourceId: connection.sourceId,
    name: connection.name,
    destinationUrl: connection.destinationUrl,
    // They were validated before they were stored.
    filters: filters === undefined ? [] : (JSON.parse(filters) as Filter),
    transform:
      transform === undefined ? { type: 'passthrough' } : (JSON.parse(transform) as Transform),
    retryConfig: retryConfig === undefined ? null : (JSON.parse(retryConfig) as number[]),
    limits: limitsOf(connection),
    headerNames,
    rev: connection.rev,
    status: connection.status,
    statusReason: connection.statusReason ?? null,
    failingSince: connection.failingSince ?? null,
    failedAttempts: connection.failedAttempts ?? 0,
    lastDeliveredAt: connection.lastDeliveredAt ?? null,
    circuit: toCircuitView(connection.circuit),
    deliveryCount: connection.deliveryCount,
    failureCount: connection.failureCount,
    createdAt: connection.createdAt,
    updatedAt: connection.updatedAt,
  }
}
