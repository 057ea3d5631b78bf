import { z } from '@hono/zod-openapi'
import { ConnectionLimits, limitsOf, RetryDelays } from './options.ts'
import type { SealedSecrets } from '../signing/sealed-secrets.ts'
import { Filter } from '../filters/filter.ts'
import type { Connection } from './item.ts'
import { resourceStatus } from '../sources/item.ts'
import { Transform } from '../transforms/transform.ts'

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
    status: resourceStatus,
    statusReason: z.string().nullable(),
    failingSince: z.string().nullable(),
    deliveryCount: z.int(),
    failureCount: z.int(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .openapi('FerryhookConnection')

export async function toConnectionView(
  connection: Connection,
  sealedSecrets: Pick<SealedSecrets, 'customHeaders'>,
): Promise<z.infer<typeof ConnectionView>> {
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
    headerNames: Object.keys(await sealedSecrets.customHeaders(connection)),
    status: connection.status,
    statusReason: connection.statusReason ?? null,
    failingSince: connection.failingSince ?? null,
    deliveryCount: connection.deliveryCount,
    failureCount: connection.failureCount,
    createdAt: connection.createdAt,
    updatedAt: connection.updatedAt,
  }
}
