/** The management API under `/v1`: builds its services and mounts their routes. */
import { OpenAPIHono } from '@hono/zod-openapi'
import type { AuditedChange } from '@strongroom/kit/audit-log'
import type { AppEnv } from '@strongroom/kit/http/env'
import { createInFlight } from '@strongroom/kit/in-flight'
import type { Log } from '@strongroom/kit/log'
import type { Operators } from '@strongroom/kit/operators'
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import type { Clock } from '@strongroom/platform/clock'
import { adminRoutes } from './accounts/admin/routes.ts'
import { createAdminService } from './accounts/admin/service.ts'
import { apiKeyRoutes } from './accounts/api-keys/routes.ts'
import { createApiKeyService } from './accounts/api-keys/service.ts'
import { auditRoutes } from './accounts/audit/routes.ts'
import { createAuthenticate } from './accounts/authentication.ts'
import { createProviders } from './accounts/oauth/providers.ts'
import { signInRoutes } from './accounts/oauth/routes.ts'
import { createSignInService } from './accounts/oauth/service.ts'
import { createAccessTokens } from './accounts/sessions/access-tokens.ts'
import type { PasswordHasher } from './accounts/sessions/password-hasher.ts'
import { createPasswordService } from './accounts/sessions/passwords.ts'
import { sessionRoutes } from './accounts/sessions/routes.ts'
import { createSessionService } from './accounts/sessions/service.ts'
import { createEmailVerification } from './accounts/users/email-verification.ts'
import { accountRoutes } from './accounts/users/routes.ts'
import { createAccountService } from './accounts/users/service.ts'
import { createSignUp } from './accounts/users/signup.ts'
import type { Channels } from './alerts/channels.ts'
import { alertRoutes } from './alerts/routes.ts'
import { createAlertService } from './alerts/service.ts'
import { createTestDestination } from './connections/destination-test.ts'
import { createSourceDryRun } from './connections/dry-run.ts'
import { connectionRoutes, connectionSecretRoutes } from './connections/routes.ts'
import { createConnectionService } from './connections/service.ts'
import { testRoutes } from './connections/test-routes.ts'
import { deliveryRoutes } from './deliveries/routes.ts'
import { createDeliveryService } from './deliveries/service.ts'
import { eventRoutes } from './events/routes.ts'
import { createEventService } from './events/service.ts'
import type { RotatingCursors } from './http/cursors.ts'
import { createPermissions, describeSecurity } from './http/permissions.ts'
import { createEnforceRateLimit, createIsWithinRateLimit } from './http/rate-limits.ts'
import { liveRoutes } from './live/routes.ts'
import { createLiveService } from './live/service.ts'
import type { LocalEvents } from './local-events.ts'
import type { Mailer } from './mail/mailer.ts'
import { replayRoutes } from './replays/routes.ts'
import { createReplayRunner } from './replays/runner.ts'
import { createReplayService } from './replays/service.ts'
import type { Sandbox } from './sandbox/sandbox.ts'
import type { WorkScheduler } from './sandbox/work-scheduler.ts'
import type { FerryhookSettings } from './settings.ts'
import type { SealedSecrets } from './signing/sealed-secrets.ts'
import { sourceRoutes } from './sources/routes.ts'
import { createSourceService } from './sources/service.ts'
import type { Stores } from './stores.ts'
import { usageRoutes } from './usage/routes.ts'
import { createUsageService } from './usage/service.ts'
import type { StartTimer } from '@strongroom/platform/timers'

export function createApi(deps: {
  stores: Stores
  /** Stores whose writes are recorded in the operators' audit log. */
  auditedStores(change: AuditedChange): Stores
  clock: Clock
  startTimer: StartTimer
  log: Log
  config: FerryhookSettings
  publicUrl: string
  secrets: ServerSecrets
  operators: Operators
  cursors: RotatingCursors
  sealedSecrets: SealedSecrets
  passwordHasher: PasswordHasher
  sandbox: Sandbox
  scheduler: WorkScheduler
  safeFetch: SafeFetch
  channels: Channels
  mailer: Mailer | undefined
  localEvents: LocalEvents
}) {
  const { stores, cursors, localEvents } = deps

  const tokens = createAccessTokens({ ...deps, issuer: deps.publicUrl })
  const authenticate = createAuthenticate({ ...deps, tokens })
  const permit = createPermissions({ ...deps, authenticate })
  const enforceRateLimit = createEnforceRateLimit(deps)
  const base = { ...deps, permit, enforceRateLimit }

  const signUp = createSignUp(deps)
  const sessions = createSessionService({ stores, tokens })
  const isWithinRateLimit = createIsWithinRateLimit(deps)
  const passwords = createPasswordService({ ...base, isWithinRateLimit, sessions })
  const emailVerification = createEmailVerification(deps)
  const sendsMail = deps.mailer !== undefined
  const providers = createProviders(deps.config)
  const signIn = createSignInService({ ...deps, signUp, providers, sendsMail })
  const accounts = createAccountService({ ...deps, passwords })
  const inFlight = createInFlight()
  const admin = createAdminService({ ...deps, inFlight })
  const auditedAdmin = (change: AuditedChange) =>
    createAdminService({ ...deps, inFlight, stores: deps.auditedStores(change) })

  const sources = createSourceService(deps)
  const connections = createConnectionService({ ...deps, sources })
  const sourceDryRun = createSourceDryRun({ ...deps, sources })
  const testDestination = createTestDestination({ ...deps, connections })
  const alertService = createAlertService({ ...deps, sendsMail })

  const eventService = createEventService(deps)
  const replayRunner = createReplayRunner({ ...deps, onReplayed: () => localEvents.workDue() })
  const events = { ...deps, eventService, localEvents }
  const live = createLiveService({ ...deps, authenticate })

  const routes = new OpenAPIHono<AppEnv>()
  describeSecurity(routes)
  routes.use('/v1/*', async (_, next) => {
    await cursors.refresh()
    await next()
  })
  // A route that matches first wins, so the order matters.
  for (const part of [
    sessionRoutes({ ...base, passwords, sessions, signUp, emailVerification }),
    accountRoutes({ ...base, accounts, passwords, emailVerification }),
    sourceRoutes({ ...base, sources }),
    connectionRoutes({ ...base, connections }),
    connectionSecretRoutes({ permit, connections }),
    testRoutes({ ...base, sourceDryRun, testDestination }),
    apiKeyRoutes({ permit, apiKeys: createApiKeyService(deps) }),
    auditRoutes(base),
    alertRoutes({ permit, alertService }),
    adminRoutes({ ...base, admin, auditedAdmin }),
    signInRoutes({ ...base, signIn, sessions }),
    eventRoutes({ ...base, eventService }),
    deliveryRoutes({ permit, deliveryService: createDeliveryService(events) }),
    replayRoutes({
      permit,
      replays: createReplayService({ ...events, onJobStarted: () => replayRunner.wake() }),
    }),
    usageRoutes({ permit, usageService: createUsageService(events) }),
    liveRoutes({ permit, live }),
  ]) {
    routes.route('/', part)
  }

  return {
    routes,
    replayRunner,
    live,
    /** Resolves when all mails that were started are sent or failed. */
    settled: async () => {
      await admin.settled()
      await emailVerification.settled()
    },
  }
}
