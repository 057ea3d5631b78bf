/** The key store as a service of the server. */
import type { KmsKey } from '@strongroom/kit/kms'
import type { Service } from '@strongroom/kit/service'
import { keyStoreError } from './errors.ts'
import { keyStoreSettings } from './settings.ts'
import { branchKeysTable } from './tables.ts'

export interface KeyStoreNeeds {
  /** The key that wraps branch keys. */
  kmsKey: KmsKey
}

export const keyStoreService: Service<KeyStoreNeeds> = {
  name: 'key-store',
  title: 'Key store',
  summary: "Create, rotate and read branch keys by AWS's specification",
  mount: '/key-store',
  tables: [branchKeysTable],
  settings: keyStoreSettings,
  errors: keyStoreError,
  async start(deps) {
    const { startKeyStore } = await import('./start.ts')
    return startKeyStore(deps)
  },
  async createJobKinds(deps) {
    const { createKeyStoreJobs } = await import('./start.ts')
    return createKeyStoreJobs(deps)
  },
}
