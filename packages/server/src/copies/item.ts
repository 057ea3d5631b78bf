/** The state of a copy in the store that it is made into: `COPY`/`TARGET` in `strongroom-server`. */
import * as z from 'zod'

const Progress = z.object({
  /** The key of the last item that was copied; not set before the first one and after the last one. */
  after: z.string().optional(),
  isDone: z.boolean(),
})

export const StoreCopyItem = z.object({
  PK: z.literal('COPY'),
  SK: z.literal('TARGET'),
  /** `copying`: the store is incomplete. `complete`: no server has started on it since. */
  state: z.enum(['copying', 'complete']),
  /** Which process may continue it. */
  run: z.string(),
  /** Where the items come from, and the KMS key that wraps their keys here. */
  source: z.string(),
  kmsArn: z.string(),
  startedAt: z.string(),
  /** By the name of the table. */
  tables: z.record(z.string(), Progress),
})
export type StoreCopyItem = z.infer<typeof StoreCopyItem>
export type TableProgress = z.infer<typeof Progress>

export const STORE_COPY = { PK: 'COPY', SK: 'TARGET' } as const
