/** Sealed as a service of the server: hand a secret over, once. */
import { createOperators } from '@strongroom/kit/operators'
import type { RunningService, Service, ServiceDeps } from '@strongroom/kit/service'
import { createClientLimit } from './client-limits.ts'
import { createDifficulty } from './difficulty.ts'
import { sealedError } from './errors.ts'
import { evenAnswers } from './even-answers.ts'
import { pageRoutes } from './page/routes.tsx'
import { createQuota } from './quota.ts'
import { createReducer } from './reducer.ts'
import { sealedRoutes } from './routes.ts'
import { createSealed } from './service.ts'
import { sealedSettings, type SealedSettings, tableReads } from './settings.ts'
import { createSecretStore } from './store.ts'
import { keepSweeping } from './sweeping.ts'
import { secretsTable } from './table.ts'
import { systemTimers, type Timers } from './timers.ts'
import { createTokens } from './token.ts'

interface SealedNeeds {
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
  start: (deps) => startSealed(deps, systemTimers, REFUSAL_MS),
}

const MEGABYTE = 1024 * 1024

/** When whoever has no right to a secret is answered: later than the embedded store needs to look. */
const REFUSAL_MS = 5

export function startSealed(
  deps: ServiceDeps & SealedNeeds,
  timers: Timers,
  refusalMs = 0,
): RunningService {
  const { db, clock, log, secrets, config } = deps
  const store = createSecretStore({ db, clock })
  const tokens = createTokens({ secrets, clock })
  const { quotaMb, sweepMinutes } = tableReads(config)
  const quota = createQuota({ db, clock, bytes: quotaMb * MEGABYTE })
  const reducer = createReducer({ store, clock, timers, log })
  const sweeping =
    sweepMinutes > 0
      ? keepSweeping({ db, store, quota, clock, timers, log, everyMinutes: sweepMinutes })
      : undefined
  const difficulty = createDifficulty({
    clock,
    base: config.SEALED_DIFFICULTY,
    busy: config.SEALED_BUSY_CREATIONS,
  })
  const perDoubling = config.SEALED_DIFFICULTY_PER_DOUBLING
  const sealed = createSealed({ store, tokens, difficulty, perDoubling, quota, reducer, clock })
  const limit = (perMinute: number) => createClientLimit({ clock, limit: perMinute })
  const { routes, plainRoutes } = sealedRoutes({
    sealed,
    tokens,
    operators: createOperators({ db, clock }),
    even: evenAnswers({ timers, ms: refusalMs }),
    limits: {
      token: limit(config.SEALED_TOKEN_LIMIT),
      operatorToken: limit(config.SEALED_OPERATOR_TOKEN_LIMIT),
      reveal: limit(config.SEALED_REVEAL_LIMIT),
      ack: limit(config.SEALED_REVEAL_LIMIT),
      burn: limit(config.SEALED_BURN_LIMIT),
      status: limit(config.SEALED_STATUS_LIMIT),
    },
  })
  routes.route('/', pageRoutes())
  return {
    routes,
    plainRoutes,
    async close() {
      await reducer.close()
      await sweeping?.close()
    },
  }
}
