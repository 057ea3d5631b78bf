import { z } from '@hono/zod-openapi'
import { resourceStatus, providers, type Source } from './item.ts'
import { DedupRule } from '../verification/dedup-key.ts'

export const SourceView = z
  .object({
    id: z.string().openapi({ example: 'src_V1StGXR8_Z5jdHi6' }),
    name: z.string(),
    provider: z.enum(providers),
    url: z.string().openapi({ description: 'Where the provider sends its webhooks' }),
    status: resourceStatus,
    hasSigningSecret: z.boolean(),
    signingAlgorithm: z.string().nullable(),
    signingOptions: z.record(z.string(), z.unknown()).nullable(),
    dedup: DedupRule.nullable(),
    credentialHeaders: z.array(z.string()).openapi({
      description: 'Headers that are credentials besides those of the rules',
    }),
    eventCount: z.int(),
    lastEventAt: z.string().nullable(),
    createdAt: z.string(),
  })
  .openapi('FerryhookSource')

export function toSourceView(source: Source, publicUrl: string): z.infer<typeof SourceView> {
  const { sourceId, name, provider, status, eventCount, createdAt } = source
  return {
    id: sourceId,
    name,
    provider,
    url: `${publicUrl}/in/${sourceId}`,
    status,
    hasSigningSecret: source.signingSecret !== undefined,
    signingAlgorithm: source.signingAlgorithm ?? null,
    signingOptions: parsed<Record<string, unknown>>(source.signingOptions),
    dedup: parsed<DedupRule>(source.dedup),
    credentialHeaders: source.credentialHeaders ?? [],
    eventCount,
    lastEventAt: source.lastEventAt ?? null,
    createdAt,
  }
}

function parsed<T>(json: string | undefined): T | null {
  return json === undefined ? null : (JSON.parse(json) as T)
}
