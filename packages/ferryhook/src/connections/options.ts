/** Options of a connection: their schemas, and how they are read from the stored item. */
import { checkHeader } from '@strongroom/kit/safe-fetch/request-headers'
import { SafeFetchError } from '@strongroom/kit/safe-fetch/error'
import { z } from '@hono/zod-openapi'
import type { Connection } from './item.ts'

const MAX_HEADERS = 20
const MAX_HEADER_LENGTH = 4_096

/** Ferryhook sets these itself. */
const reserved = /^(?:user-agent|content-type|webhook-.*|x-ferryhook-.*)$/

/** Seconds before each attempt, the first of which is usually 0. */
export const RetryDelays = z
  .array(
    z
      .number()
      .min(0)
      .max(7 * 86_400),
  )
  .min(1)
  .max(8)
  .openapi({
    description: 'Seconds before each attempt; defaults to eight attempts within 41 hours',
    example: [0, 30, 120, 900],
  })

/** Limits of a destination, for each worker process. */
export const ConnectionLimits = z.strictObject({
  concurrency: z.int().min(1).max(100).optional().openapi({ description: 'Concurrent attempts' }),
  perSecond: z.number().min(0.01).max(1_000).optional().openapi({
    description: 'Attempts per second',
  }),
})
export type ConnectionLimits = z.infer<typeof ConnectionLimits>

export const CustomHeadersInput = z
  .record(z.string().toLowerCase(), z.string().max(MAX_HEADER_LENGTH))
  .superRefine((headers, context) => {
    const names = Object.keys(headers)
    if (names.length > MAX_HEADERS) {
      context.addIssue({ code: 'custom', message: `Must have at most ${MAX_HEADERS} headers` })
    }
    for (const [name, value] of Object.entries(headers)) {
      const problem = headerProblem(name, value)
      if (problem !== undefined) {
        context.addIssue({ code: 'custom', path: [name], message: problem })
      }
    }
  })
  .openapi({
    type: 'object',
    additionalProperties: { type: 'string' },
    description:
      'Headers to send with each delivery, such as credentials. The values are not shown again.',
  })

/** Empty if the connection has no limits. */
export function limitsOf({ limits }: Pick<Connection, 'limits'>): ConnectionLimits {
  return limits === undefined ? {} : ConnectionLimits.parse(JSON.parse(limits))
}

function headerProblem(name: string, value: string): string | undefined {
  if (reserved.test(name)) return 'Is reserved for Ferryhook. Remove it.'
  try {
    checkHeader(name, value)
    return undefined
  } catch (error) {
    if (error instanceof SafeFetchError) return error.message
    throw error
  }
}
