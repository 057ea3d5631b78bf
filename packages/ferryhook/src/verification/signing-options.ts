/** `signingOptions` in requests and responses, documented from the schemas that check them. */
import { z } from '@hono/zod-openapi'
import { SigningScheme } from './schemes.ts'

interface JsonObject {
  properties: Record<string, { const?: string; enum?: string[] }>
}

/** One form for all algorithms that have the same options. */
function optionForms() {
  const forms = new Map<string, { names: string[]; properties: JsonObject['properties'] }>()
  for (const schema of SigningScheme.options) {
    const json = z.toJSONSchema(schema, { io: 'input' }) as unknown as JsonObject
    const { algorithm, ...properties } = json.properties
    const names = algorithm?.enum ?? [algorithm?.const ?? '']
    const key = JSON.stringify(properties)
    forms.set(key, { names: [...(forms.get(key)?.names ?? []), ...names], properties })
  }
  return [...forms.values()].map(({ names, properties }) => ({
    type: 'object' as const,
    title: names.join(', '),
    description: `For ${names.join(', ')}`,
    properties,
    additionalProperties: false,
  }))
}

/** Which form applies depends on `signingAlgorithm` and `provider`, so the service checks it. */
export const SigningOptions = z.record(z.string(), z.unknown()).openapi('FerryhookSigningOptions', {
  type: 'object',
  description:
    'Options of the signing algorithm. An option that the algorithm does not have is rejected.',
  additionalProperties: true,
  anyOf: optionForms(),
  example: { header: 'x-acme-signature', prefix: 'sha256=', encoding: 'hex' },
})
