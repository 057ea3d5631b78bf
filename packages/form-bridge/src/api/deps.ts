import type { Clock } from '@strongroom/kit/clock'
import type { AppEnv } from '@strongroom/kit/http/env'
import type { Context } from 'hono'
import type { SiteDesk } from '../administration/site-desk.ts'
import type { AgencyDesk } from '../agencies/agency-desk.ts'
import type { SiteGuard } from '../auth/site-guard.ts'
import type { Exchange } from '../handshake/exchange.ts'
import type { ProofBudget } from '../handshake/proof-budget.ts'
import type { Register } from '../handshake/register.ts'
import type { Callers } from '../limits/client-ids.ts'
import type { RateGuard } from '../limits/guard.ts'
import type { Publish } from '../releases/publish.ts'
import type { SiteAffairs } from '../sites/site-affairs.ts'
import type { DataLayer } from '../store/data-layer.ts'
import type { Deliver } from '../submissions/deliver.ts'
import type { DownloadTokens } from '../updates/download-token.ts'
import type { Latest } from '../updates/latest.ts'
import type { UpdateCheck } from '../updates/update-check.ts'
import type { Validate } from '../validation/validate.ts'
import type { Pager } from './cursors.ts'
import type { Permissions } from './permissions.ts'

/** What the routes are made from. */
export interface ApiDeps {
  clock: Clock
  permit: Permissions
  layer: DataLayer
  pager: Pager
  callers: Callers
  guard: RateGuard
  siteGuard: SiteGuard
  register: Register
  exchange: Exchange
  budget: Pick<ProofBudget, 'check'>
  validate: Validate
  siteAffairs: SiteAffairs
  siteDesk: SiteDesk
  agencyDesk: AgencyDesk
  deliver: Deliver
  /** Seals a destination that may be sent to, or throws. */
  sealDestination(
    site_id: string,
    destination: { url: string; secret?: string | undefined },
  ): Promise<string>
  latest: Latest
  updateCheck: UpdateCheck
  tokens: DownloadTokens
  publish: Publish
  /** The address of the API as people reach it, up to `/v1`. */
  baseOf(c: Context<AppEnv>): string
}
