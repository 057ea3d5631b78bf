import type { Clock } from '@strongroom/kit/clock'
import type { Accounts } from '../accounts/account.ts'
import type { Administration } from '../accounts/administration.ts'
import type { KeyRing } from '../accounts/api-keys.ts'
import type { ConnectionBook } from '../accounts/connections.ts'
import type { Credentials } from '../accounts/credentials.ts'
import type { KeptSecrets } from '../accounts/kept-secrets.ts'
import type { SignUp } from '../accounts/signup.ts'
import type { SourceBook } from '../accounts/sources.ts'
import type { Trials } from '../accounts/trials.ts'
import type { AlertBook } from '../alerts/alert-book.ts'
import type { Authenticate } from '../auth/authenticate.ts'
import type { RateGuard } from '../auth/rate-guard.ts'
import type { Sessions } from '../auth/sessions.ts'
import type { SignIn } from '../auth/sign-in.ts'
import type { DataLayer } from '../db/data-layer.ts'
import type { Letters } from '../mail/letters.ts'
import type { Permissions } from './permissions.ts'

/** What the routes are made from. */
export interface ApiDeps {
  authenticate: Authenticate
  permit: Permissions
  layer: DataLayer
  clock: Clock
  publicUrl: string
  rateGuard: RateGuard
  sessions: Sessions
  signUp: SignUp
  signIn: SignIn
  credentials: Credentials
  accounts: Accounts
  administration: Administration
  keyRing: KeyRing
  kept: KeptSecrets
  sources: SourceBook
  connections: ConnectionBook
  trials: Trials
  alertBook: AlertBook
  letters: Letters
}
