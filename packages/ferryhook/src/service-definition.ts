/** Ferryhook as a service of the server: the data layer, the routes, and what runs beside them. */
import { createOperators } from '@strongroom/kit/operators'
import { createSafeFetch } from '@strongroom/kit/safe-fetch'
import type { RunningService, Service, ServiceDeps } from '@strongroom/kit/service'
import { createKeptSecrets } from './accounts/kept-secrets.ts'
import type { Notices } from './accounts/notices.ts'
import type { SecretBox } from './accounts/secret-box.ts'
import { composeApi } from './api/compose.ts'
import { openCursors } from './api/cursors.ts'
import { apiRoutes } from './api/routes.ts'
import { createDataLayer } from './db/data-layer.ts'
import { ferryhookError } from './errors.ts'
import { createPasswords, type Passwords } from './sandbox/passwords.ts'
import { createSandbox } from './sandbox/sandbox.ts'
import { destinationPolicy, type FerryhookSettings, ferryhookSettings } from './settings.ts'
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
  start: (deps) => startFerryhook(deps),
}

/** Tests hash passwords more cheaply. */
export async function startFerryhook(
  deps: ServiceDeps & FerryhookNeeds,
  { passwords = createPasswords() }: { passwords?: Passwords } = {},
): Promise<RunningService> {
  const cursors = await openCursors(deps.secrets)
  const layer = createDataLayer({ ...deps, cursors })
  const kept = createKeptSecrets(deps.secretBox)
  const sandbox = createSandbox()
  const safeFetch = createSafeFetch(destinationPolicy(deps.config))
  const notices: Notices = {
    sourceChanged: () => {},
    userChanged: () => {},
    workDue: () => {},
  }
  const operators = createOperators(deps)
  const api = composeApi({
    ...deps,
    layer,
    operators,
    kept,
    passwords,
    sandbox,
    safeFetch,
    notices,
  })

  return {
    routes: apiRoutes({ ...api, cursors }),
    async close() {
      await Promise.all([passwords.close(), sandbox.close(), safeFetch.close()])
    },
  }
}
