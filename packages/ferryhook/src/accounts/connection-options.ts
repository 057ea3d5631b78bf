/** What the owner of a connection may set, checked, and read back from where it is stored. */
import { checkHeader } from '@strongroom/kit/safe-fetch/request-headers'
import { SafeFetchError } from '@strongroom/kit/safe-fetch/error'
import { z } from '@hono/zod-openapi'
import type { Connection } from '../items/connection.ts'

const MOST_HEADERS = 20
const LONGEST_HEADER = 4_096

/** They say who we are, and that the body is ours. */
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
    description: 'Seconds before each attempt; unless set, eight attempts in 41 hours',
    example: [0, 30, 120, 900],
  })

/** How much a destination is given at once, by each worker process. */
export const ConnectionLimits = z.strictObject({
  concurrency: z.int().min(1).max(100).optional().openapi({ description: 'Attempts at once' }),
  perSecond: z.number().min(0.01).max(1_000).optional().openapi({
    description: 'Attempts a second',
  }),
})
export type ConnectionLimits = z.infer<typeof ConnectionLimits>

export const CustomHeadersInput = z
  .record(z.string().toLowerCase(), z.string().max(LONGEST_HEADER))
  .superRefine((headers, context) => {
    const names = Object.keys(headers)
    if (names.length > MOST_HEADERS) {
      context.addIssue({ code: 'custom', message: `Are at most ${MOST_HEADERS} headers` })
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
    description: 'Headers to send along, such as credentials; their values are never shown again',
  })

/** Those of a connection; none if it has none. */
export function limitsOf({ limits }: Pick<Connection, 'limits'>): ConnectionLimits {
  return limits === undefined ? {} : ConnectionLimits.parse(JSON.parse(limits))
}

function headerProblem(name: string, value: string): string | undefined {
  if (reserved.test(name)) return 'Is a header of Ferryhook itself: leave it out'
  try {
    checkHeader(name, value)
    return undefined
  } catch (error) {
    if (error instanceof SafeFetchError) return error.message
    throw error
  }
}
