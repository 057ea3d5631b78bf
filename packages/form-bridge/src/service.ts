/** Form-Bridge as a service of the server. Its parts are loaded when it starts, not by every command. */
import type { SecretBox } from '@strongroom/kit/secret-box'
import type { Service } from '@strongroom/kit/service'
import { formBridgeError } from './errors.ts'
import { type FormBridgeSettings, formBridgeSettings } from './settings.ts'
import { formBridgeTable } from './tables.ts'

export interface FormBridgeDeps {
  config: FormBridgeSettings
  secretBox: SecretBox
}

export const formBridgeService: Service<FormBridgeDeps> = {
  name: 'form-bridge',
  title: 'Form-Bridge',
  summary: 'Connect a fleet of WordPress sites: prove domains, sign requests, ship updates',
  mount: '/form-bridge',
  tables: [formBridgeTable],
  errors: formBridgeError,
  settings: formBridgeSettings,
  async start(deps) {
    const { startFormBridge } = await import('./start.ts')
    return startFormBridge(deps)
  },
}
