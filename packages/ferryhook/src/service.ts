/** Ferryhook as a service of the server. Its parts are loaded when it starts, not by every command. */
import type { SecretBox } from '@strongroom/kit/secret-box'
import type { Service } from '@strongroom/kit/service'
import { ferryhookError } from './errors.ts'
import { type FerryhookSettings, ferryhookSettings } from './settings.ts'
import { tables } from './tables.ts'

export interface FerryhookNeeds {
  config: FerryhookSettings
  secretBox: SecretBox
}

export const ferryhookService: Service<FerryhookNeeds> = {
  name: 'ferryhook',
  title: 'Ferryhook',
  summary: 'Receive webhooks, verify, filter, transform and deliver them, and lose none',
  mount: '/ferryhook',
  hasPage: true,
  tables,
  errors: ferryhookError,
  settings: ferryhookSettings,
  async start(deps) {
    const { startFerryhook } = await import('./start.ts')
    return startFerryhook(deps)
  },
  async startWorker(deps) {
    const { startFerryhookWorker } = await import('./start.ts')
    return startFerryhookWorker(deps)
  },
}
