/** Sealed as a service of the server. Its parts are loaded when it starts, not by every command. */
import type { Service } from '@strongroom/kit/service'
import { sealedError } from './errors.ts'
import { type SealedSettings, sealedSettings } from './settings.ts'
import { secretsTable } from './tables.ts'

export interface SealedNeeds {
  config: SealedSettings
}

export const sealedService: Service<SealedNeeds> = {
  name: 'sealed',
  title: 'Sealed',
  summary: 'Hand a secret to one person, once; the server can never read it',
  mount: '/sealed',
  tables: [secretsTable],
  errors: sealedError,
  settings: sealedSettings,
  hasPage: true,
  originSetting: 'SEALED_ORIGIN',
  async start(deps) {
    const { startSealed } = await import('./start.ts')
    return startSealed(deps)
  },
}
