import { z } from '@hono/zod-openapi'
import type { SourceWithFigures } from '../usage/figures.ts'
import { methodsOf, resourceStatus, type Source } from './item.ts'
import { providers } from './values.ts'
import { hasVerification } from '../verification/configuration.ts'
import { FieldRule } from '../verification/field-rule.ts'
import { SigningOptions } from '../verification/signing-options.ts'

export const SourceView = z
  .object({
    id: z.string().openapi({ example: 'src_V1StGXR8_Z5jdHi6' }),
    name: z.string(),
    provider: z.enum(providers),
    url: z.string().openapi({ description: 'Where the provider sends its webhooks' }),
    status: resourceStatus,
    verifies: z.boolean().openapi({ description: 'Whether only verified events are accepted' }),
    hasSigningSecret: z.boolean(),
    signingAlgorithm: z.string().nullable(),
    signingOptions: SigningOptions.nullable(),
    dedup: FieldRule.nullable(),
    eventType: FieldRule.nullable(),
    credentialHeaders: z.array(z.string()).openapi({
      description: 'Headers that are credentials besides those of the rules',
    }),
    methods: z.array(z.string()).openapi({ description: 'Methods that events are accepted by' }),
    eventCount: z.int().openapi({ description: 'At most five seconds old' }),
    eventCountIsLowerBound: z.boolean().openapi({
      description:
        'Whether there are more: at most 1,000 events since the last stored count are counted',
    }),
    lastEventAt: z.string().nullable(),
    createdAt: z.string(),
  })
  .openapi('FerryhookSource')

export function toSourceView(
  source: Source & Partial<SourceWithFigures>,
  publicUrl: string,
): z.infer<typeof SourceView> {
  const { sourceId, name, provider, status, eventCount, createdAt } = source
  return {
    id: sourceId,
    name,
    provider,
    url: `${publicUrl}/in/${sourceId}`,
    status,
    verifies: hasVerification(source),
    hasSigningSecret: source.signingSecret !== undefined,
    signingAlgorithm: source.signingAlgorithm ?? null,
    signingOptions: parsed<Record<string, unknown>>(source.signingOptions),
    dedup: parsed<FieldRule>(source.dedup),
    eventType: parsed<FieldRule>(source.eventType),
    credentialHeaders: source.credentialHeaders ?? [],
    methods: [...methodsOf(source)],
    eventCount,
    eventCountIsLowerBound: source.isLowerBound ?? false,
    lastEventAt: source.lastEventAt ?? null,
    createdAt,
  }
}

function parsed<T>(json: string | undefined): T | null {
  return json === undefined ? null : (JSON.parse(json) as T)
}
