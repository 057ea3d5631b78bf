/** The management API under `/v1`: builds its services and mounts their routes. */
import { OpenAPIHono } from '@hono/zod-openapi'
import type { AuditedWrite, AuditLog } from '@strongroom/kit/audit-log'
import type { AppEnv } from '@strongroom/kit/http/env'
import type { Log } from '@strongroom/kit/log'
import type { Operators } from '@strongroom/kit/operators'
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import type { SecretBox } from '@strongroom/kit/secret-box'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import type { Clock } from '@strongroom/platform/clock'
import { adminRoutes } from './accounts/admin/routes.ts'
import { createAdminService } from './accounts/admin/service.ts'
import { apiKeyRoutes } from './accounts/api-keys/routes.ts'
import { createApiKeyService } from './accounts/api-keys/service.ts'
import { auditRoutes } from './accounts/audit/routes.ts'
import { createAuthenticate } from './accounts/authentication.ts'
import { pageRoutes } from './accounts/page-routes.ts'
import { createProviders } from './accounts/oauth/providers.ts'
import { signInRoutes } from './accounts/oauth/routes.ts'
import { createSignInService } from './accounts/oauth/service.ts'
import { secondFactorRoutes } from './accounts/second-factor/routes.ts'
import { createSecondFactorService } from './accounts/second-factor/service.ts'
import { secondFactorSignInRoutes } from './accounts/second-factor/sign-in-routes.ts'
import { createAccessTokens } from './accounts/sessions/access-tokens.ts'
import type { PasswordHasher } from './accounts/sessions/password-hasher.ts'
import { createPasswordService } from './accounts/sessions/passwords.ts'
import { accountSessionRoutes } from './accounts/sessions/account-routes.ts'
import { sessionRoutes } from './accounts/sessions/routes.ts'
import { createSessionService } from './accounts/sessions/service.ts'
import { createSessionResponse } from './accounts/sessions/view.ts'
import { credentialRoutes } from './accounts/users/credential-routes.ts'
import { createCredentialService } from './accounts/users/credential-service.ts'
import { createEmailVerification } from './accounts/users/email-verification.ts'
import { accountRoutes } from './accounts/users/routes.ts'
import { createAccountService } from './accounts/users/service.ts'
import { createSignUp } from './accounts/users/signup.ts'
import type { Channels } from './alerts/channels.ts'
import { alertRoutes } from './alerts/routes.ts'
import { createAlertService } from './alerts/service.ts'
import { createAccountConnections } from './connections/account-connections.ts'
import { accountConnectionRoutes } from './connections/account-routes.ts'
import { createDestinationTest } from './connections/destination-test.ts'
import { createSourceDryRun } from './connections/dry-run.ts'
import { operatorConnectionRoutes } from './connections/operator-routes.ts'
import { connectionRoutes, connectionSecretRoutes } from './connections/routes.ts'
import { createConnectionService } from './connections/service.ts'
import { testRoutes } from './connections/test-routes.ts'
import { deliveryRoutes } from './deliveries/routes.ts'
import { createSentBodies } from './deliveries/sent-body.ts'
import { createDeliveryService } from './deliveries/service.ts'
import { createAccountEvents } from './events/account-events.ts'
import { accountEventRoutes } from './events/account-routes.ts'
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
import type { ReplayRunner } from './replays/runner.ts'
import { createReplayService } from './replays/service.ts'
import type { Sandbox } from './sandbox/sandbox.ts'
import type { WorkScheduler } from './sandbox/work-scheduler.ts'
import type { FerryhookSettings } from './settings.ts'
import type { SealedSecrets } from './signing/sealed-secrets.ts'
import { createSourceActivity } from './sources/activity.ts'
import { sourceRoutes } from './sources/routes.ts'
import { createSourceService } from './sources/service.ts'
import { createSendTestEvent, type ReceiveEvent } from './sources/test-event.ts'
import type { Stores } from './stores.ts'
import type { TestDestination } from './test-requests/destination.ts'
import { testRequestRoutes } from './test-requests/routes.ts'
import { createTestRequestService } from './test-requests/service.ts'
import { createFigures } from './usage/figures.ts'
import { usageRoutes } from './usage/routes.ts'
import { createOverview } from './usage/overview.ts'
import { createUsageService } from './usage/service.ts'
import type { StartTimer } from '@strongroom/platform/timers'

export type Api = ReturnType<typeof createApi>

export function createApi(deps: {
  stores: Stores
  /** Stores whose writes are recorded in the operators' audit log. */
  auditedStores(change: AuditedWrite): Stores
  auditLog: Pick<AuditLog, 'around'>
  clock: Clock
  startTimer: StartTimer
  log: Log
  config: FerryhookSettings
  publicUrl: string
  secrets: ServerSecrets
  secretBox: SecretBox
  operators: Operators
  cursors: RotatingCursors
  sealedSecrets: SealedSecrets
  passwordHasher: PasswordHasher
  sandbox: Sandbox
  scheduler: WorkScheduler
  safeFetch: SafeFetch
  testDestination: TestDestination
  channels: Channels
  mailer: Mailer | undefined
  localEvents: LocalEvents
  replayRunner: Pick<ReplayRunner, 'wake'>
  receiveEvent: ReceiveEvent
}) {
  const { stores, cursors, localEvents } = deps

  const tokens = createAccessTokens({ ...deps, issuer: deps.publicUrl })
  const authenticate = createAuthenticate({ ...deps, tokens })
  const permit = createPermissions({ ...deps, authenticate })
  const enforceRateLimit = createEnforceRateLimit(deps)
  const figures = createFigures(deps)
  const base = { ...deps, permit, enforceRateLimit, figures }

  const signUp = createSignUp(deps)
  const sessions = createSessionService({ stores, tokens })
  const isWithinRateLimit = createIsWithinRateLimit(deps)
  const passwords = createPasswordService({ ...base, isWithinRateLimit, sessions })
  const emailVerification = createEmailVerification(deps)
  const sendsMail = deps.mailer !== undefined
  const providers = createProviders(deps.config)
  const signIn = createSignInService({ ...deps, signUp, providers, sendsMail })
  const credentials = createCredentialService(deps)
  const respond = createSessionResponse({ ...base, credentials })
  const secondFactors = createSecondFactorService({ ...deps, passwords, sessions })
  const accounts = createAccountService({ ...deps, passwords })
  const admin = createAdminService(deps)

  const sources = createSourceService(deps)
  const sendTestEvent = createSendTestEvent({ ...deps, sources })
  const connections = createConnectionService({ ...deps, sources })
  const sourceDryRun = createSourceDryRun({ ...deps, sources })
  const destinationTest = createDestinationTest({ ...deps, connections })
  const testRequests = createTestRequestService({ ...deps, connections })
  const alertService = createAlertService({ ...deps, sendsMail })

  const eventService = createEventService(deps)
  const accountEvents = createAccountEvents(deps)
  const accountConnections = createAccountConnections({ ...deps, accountEvents })
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
    pageRoutes(),
    sessionRoutes({
      ...base,
      respond,
      secondFactors,
      passwords,
      sessions,
      signUp,
      emailVerification,
    }),
    secondFactorSignInRoutes({ ...base, respond, secondFactors }),
    secondFactorRoutes({ permit, secondFactors }),
    accountSessionRoutes({ permit, sessions }),
    credentialRoutes({ permit, credentials }),
    accountRoutes({ ...base, accounts, passwords, emailVerification }),
    sourceRoutes({ ...base, sources, activity: createSourceActivity(deps), sendTestEvent }),
    connectionRoutes({ ...base, connections }),
    accountConnectionRoutes({ permit, accountConnections }),
    connectionSecretRoutes({ permit, connections }),
    testRoutes({ ...base, sourceDryRun, destinationTest }),
    testRequestRoutes({ permit, testRequests }),
    apiKeyRoutes({ permit, apiKeys: createApiKeyService(deps) }),
    auditRoutes(base),
    alertRoutes({ permit, alertService }),
    adminRoutes({ ...base, admin }),
    operatorConnectionRoutes({ permit, admin }),
    signInRoutes({ ...base, signIn, sessions, secondFactors, sendsMail }),
    // Before the routes of one event, whose id would match /counts and /stream.
    accountEventRoutes({ permit, accountEvents }),
    liveRoutes({ permit, live }),
    eventRoutes({ ...base, eventService }),
    deliveryRoutes({
      permit,
      deliveryService: createDeliveryService(events),
      sentBodies: createSentBodies(events),
    }),
    replayRoutes({
      permit,
      replays: createReplayService({ ...events, onJobStarted: () => deps.replayRunner.wake() }),
    }),
    usageRoutes({
      permit,
      usageService: createUsageService({ ...deps, figures }),
      getOverview: createOverview({ ...events, figures }),
    }),
  ]) {
    routes.route('/', part)
  }

  return {
    routes,
    live,
    /** Resolves when all mails that were started are sent or failed. */
    settled: async () => {
      await admin.settled()
      await emailVerification.settled()
    },
  }
}
