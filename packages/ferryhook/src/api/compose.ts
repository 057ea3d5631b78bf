/** Puts together what the routes of the management API need. */
import type { Clock } from '@strongroom/kit/clock'
import type { Log } from '@strongroom/kit/log'
import type { Operators } from '@strongroom/kit/operators'
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import { createAccounts } from '../accounts/account.ts'
import { createAdministration } from '../accounts/administration.ts'
import { createKeyRing } from '../accounts/api-keys.ts'
import { createAuditTrail } from '../accounts/audit-trail.ts'
import { createConnectionBook } from '../accounts/connections.ts'
import { createCredentials } from '../accounts/credentials.ts'
import type { KeptSecrets } from '../accounts/kept-secrets.ts'
import type { Notices } from '../accounts/notices.ts'
import { createSignUp } from '../accounts/signup.ts'
import { createSourceBook } from '../accounts/sources.ts'
import { createTrials } from '../accounts/trials.ts'
import { createAlertBook } from '../alerts/alert-book.ts'
import type { Channels } from '../alerts/channels.ts'
import { createAccessTokens } from '../auth/access-tokens.ts'
import { createAuthenticate } from '../auth/authenticate.ts'
import { providersOf } from '../auth/providers.ts'
import { createRateGuard } from '../auth/rate-guard.ts'
import { createSessions } from '../auth/sessions.ts'
import { createSignIn } from '../auth/sign-in.ts'
import type { DataLayer } from '../db/data-layer.ts'
import { createLetters } from '../mail/letters.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { Passwords } from '../sandbox/passwords.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { FerryhookSettings } from '../settings.ts'
import type { ApiDeps } from './deps.ts'
import { createPermissions } from './permissions.ts'

export interface ComposedFrom {
  layer: DataLayer
  clock: Clock
  secrets: ServerSecrets
  operators: Operators
  publicUrl: string
  config: FerryhookSettings
  kept: KeptSecrets
  passwords: Passwords
  sandbox: Sandbox
  safeFetch: SafeFetch
  notices: Notices
  log: Log
  channels: Channels
  mailer: Mailer | undefined
}

export function composeApi(given: ComposedFrom): ApiDeps {
  const { layer, publicUrl, kept, clock } = given
  const tokens = createAccessTokens({ ...given, issuer: publicUrl })
  const sessions = createSessions({ layer, tokens })
  const authenticate = createAuthenticate({ ...given, tokens })
  const permit = createPermissions({ ...given, authenticate })
  const audit = createAuditTrail(layer)
  const rateGuard = createRateGuard(given)
  const signUp = createSignUp(given)
  const signIn = createSignIn({ ...given, signUp, providers: providersOf(given.config) })
  const credentials = createCredentials({ ...given, sessions, rateGuard })
  const sources = createSourceBook(given)
  const connections = createConnectionBook({ ...given, audit, sources })
  const administration = createAdministration(given)
  return {
    authenticate,
    permit,
    layer,
    clock,
    publicUrl,
    rateGuard,
    sessions,
    signUp,
    signIn,
    credentials,
    kept,
    sources,
    connections,
    accounts: createAccounts({ ...given, credentials, audit }),
    administration,
    alertBook: createAlertBook({ ...given, audit, sendsMail: given.mailer !== undefined }),
    letters: createLetters({ ...given, administration }),
    keyRing: createKeyRing(given),
    trials: createTrials({ ...given, audit, sources, connections }),
  }
}
