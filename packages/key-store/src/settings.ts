/** The key store has no settings; it uses the store and the KMS of the server. */
import type { ConfigTable } from '@strongroom/kit/config'

export const keyStoreSettings = {} satisfies ConfigTable
