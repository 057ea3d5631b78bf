/** Two-key as a service of the server. Its code is loaded when it starts. */
import type { SecretBox } from '@strongroom/kit/secret-box'
import type { Service } from '@strongroom/kit/service'
import { twoKeyError } from './errors.ts'
import { type TwoKeySettings, twoKeySettings } from './settings.ts'
import { cacheTable, dedupeTable, tokensTable } from './tables.ts'

export interface TwoKeyNeeds {
  config: TwoKeySettings
  secretBox: SecretBox
}

export const twoKeyService: Service<TwoKeyNeeds> = {
  name: 'two-key',
  title: 'Two-key',
  summary: 'Accept a Slack request only if it is signed and its team, user and channel exist',
  mount: '/two-key',
  tables: [cacheTable, tokensTable, dedupeTable],
  errors: twoKeyError,
  settings: twoKeySettings,
  async start(deps) {
    const { startTwoKey } = await import('./start.ts')
    return startTwoKey(deps)
  },
}
