/** Which versions may use a store: `STORE`/`VERSION` in `strongroom-server`. */
import * as z from 'zod'

export const StoreVersionItem = z.object({
  PK: z.literal('STORE'),
  SK: z.literal('VERSION'),
  /** Versions of Strongroom with a lower STORE_VERSION must not use the store. */
  version: z.int().nonnegative(),
  /** The version of Strongroom that set it, for messages. */
  writtenBy: z.string().max(100),
})
export type StoreVersionItem = z.infer<typeof StoreVersionItem>

export const STORE_ITEM = { PK: 'STORE', SK: 'VERSION' } as const
