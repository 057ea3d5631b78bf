/** The key store has no settings of its own: store and KMS are the server's. */
import type { ConfigTable } from '@strongroom/kit/config'

export const keyStoreSettings = {} satisfies ConfigTable
