/** Composes the parts of Sealed. */
import { createAuditLog } from '@strongroom/kit/audit-log'
import { createOperators } from '@strongroom/kit/operators'
import type { RunningService, ServiceDeps } from '@strongroom/kit/service'
import { startBackgroundTimer, type StartTimer } from '@strongroom/platform/timers'
import { createClientLimit } from '@strongroom/kit/http/client-limit'
import { createDifficulty } from './abuse/difficulty.ts'
import { createQuota } from './abuse/quota.ts'
import { createAuditedApiTokens } from './api-tokens/audited.ts'
import { createApiTokens } from './api-tokens/service.ts'
import { createCleanupScheduler } from './cleanup/scheduler.ts'
import { startSweeper, sweep, type SweepResult } from './cleanup/sweep.ts'
import { createFigures } from './figures/store.ts'
import type { Brand } from './page/document.tsx'
import { createRequestService } from './requests/service.ts'
import { createRequestTokens } from './requests/token.ts'
import { createConstantTime, startWait, type StartWait } from './secrets/constant-time.ts'
import { createSecretService } from './secrets/service.ts'
import { createSecretStore } from './secrets/store.ts'
import { createTokens } from './secrets/token.ts'
import type { SealedNeeds } from './service.ts'
import { scanSettings, secretOptions, type SealedSettings } from './settings.ts'

const MEGABYTE = 1024 * 1024
const NO_SCANS = { quotaMb: 0, sweepMinutes: 0 }

/** Longer than a read of the embedded store takes. */
const MIN_RESPONSE_MS = 5

/** Tests move time by hand. */
export interface TimeOptions {
  startTimer: StartTimer
  startWait: StartWait
  /** When refusals are sent. */
  minResponseMs: number
}

export async function startSealed(
  deps: ServiceDeps & SealedNeeds,
  time: TimeOptions = {
    startTimer: startBackgroundTimer,
    startWait,
    minResponseMs: MIN_RESPONSE_MS,
  },
): Promise<RunningService> {
  const { db, clock, log, secrets, config, runsContinuously = true } = deps
  const { startTimer } = time
  // Before anything runs: a setting may be wrong.
  const options = secretOptions(config)
  const page = { ...(await toBrand(config)), options, requests: config.SEALED_REQUESTS }
  const figures = createFigures({ db, clock, startTimer, log })
  const store = createSecretStore({ db, clock, onExpired: () => figures.count('expired') })
  const tokens = createTokens({ secrets, clock })
  const apiTokens = createApiTokens({ db, clock })
  // Scans are the work of a process that runs on.
  const { quotaMb, sweepMinutes } = runsContinuously ? scanSettings(config) : NO_SCANS
  const quota = createQuota({ db, clock, maxBytes: quotaMb * MEGABYTE })
  const cleanup = createCleanupScheduler({ store, clock, startTimer, log })
  const sweeper =
    sweepMinutes > 0
      ? startSweeper({ db, store, quota, clock, startTimer, log, everyMinutes: sweepMinutes })
      : undefined
  const difficulty = createDifficulty({
    clock,
    base: config.SEALED_DIFFICULTY,
    busyCreations: config.SEALED_BUSY_CREATIONS,
  })
  const perDoubling = config.SEALED_DIFFICULTY_PER_DOUBLING
  const limit = (perMinute: number) => createClientLimit({ clock, limit: perMinute })
  const constantTime = createConstantTime({
    startWait: time.startWait,
    ms: time.minResponseMs,
  })
  const tokenLimits = {
    token: limit(config.SEALED_TOKEN_LIMIT),
    apiToken: limit(config.SEALED_API_TOKEN_LIMIT),
  }
  const secretService = createSecretService({
    store,
    tokens,
    apiTokens,
    difficulty,
    perDoubling,
    quota,
    cleanup,
    clock,
    figures,
    secretOptions: options,
  })
  const requestService =
    config.SEALED_REQUESTS === 'off'
      ? undefined
      : createRequestService({
          store,
          tokens,
          requestTokens: createRequestTokens({ secrets, clock }),
          apiTokens,
          difficulty,
          quota,
          clock,
          figures,
          needsApiToken: config.SEALED_REQUESTS === 'api-token',
          secretOptions: options,
        })
  const operators = createOperators(deps)
  const auditLog = createAuditLog({ db, clock })
  return {
    async loadRoutes() {
      const { sealedRoutes } = await import('./routes.ts')
      return sealedRoutes({
        secrets: {
          service: secretService,
          tokens,
          constantTime,
          limits: {
            ...tokenLimits,
            reveal: limit(config.SEALED_REVEAL_LIMIT),
            ack: limit(config.SEALED_REVEAL_LIMIT),
            burn: limit(config.SEALED_BURN_LIMIT),
            status: limit(config.SEALED_STATUS_LIMIT),
          },
        },
        requests: requestService && {
          service: requestService,
          limits: { ...tokenLimits, fill: limit(config.SEALED_TOKEN_LIMIT) },
          constantTime,
        },
        apiTokens: createAuditedApiTokens({ db, clock, auditLog }),
        figures: { figures, quota },
        operators,
        page,
      })
    },
    async flush() {
      await cleanup.flush()
      await Promise.all([figures.flush(), operators.settled()])
    },
    async close() {
      await cleanup.close()
      await sweeper?.close()
      await figures.flush()
    },
  }
}

async function toBrand({ SEALED_NAME: name, SEALED_LOGO: path }: SealedSettings): Promise<Brand> {
  if (path === undefined) return { name, logo: undefined }
  const { readLogo } = await import('./page/logo.ts')
  return { name, logo: readLogo(path) }
}

/** Ends the secrets that have ended by now, where no process runs to end them on time. */
export async function sweepSecrets(
  deps: Pick<ServiceDeps, 'db' | 'clock' | 'log'>,
): Promise<SweepResult> {
  const figures = createFigures({ ...deps, startTimer: startBackgroundTimer })
  const store = createSecretStore({ ...deps, onExpired: () => figures.count('expired') })
  const result = await sweep({ ...deps, store })
  await figures.flush()
  return result
}
