/** Ferryhook as a service of the server: the data layer, the routes, and what runs beside them. */
import { OpenAPIHono } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import type { Service } from '@strongroom/kit/service'
import type { SecretBox } from './accounts/secret-box.ts'
import { ferryhookError } from './errors.ts'
import { type FerryhookSettings, ferryhookSettings } from './settings.ts'
import { tables } from './table.ts'

export interface FerryhookNeeds {
  config: FerryhookSettings
  secretBox: SecretBox
}

export const ferryhookService: Service<FerryhookNeeds> = {
  name: 'ferryhook',
  title: 'Ferryhook',
  summary: 'Receive webhooks, verify, filter, transform and deliver them, and lose none',
  mount: '/ferryhook',
  tables,
  errors: ferryhookError,
  settings: ferryhookSettings,
  start() {
    return { routes: new OpenAPIHono<AppEnv>() }
  },
}
