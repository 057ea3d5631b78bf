/** What stands before every request of a site: who it is, whether it may, and how often. */
import type { AppEnv } from '@strongroom/kit/http/env'
import { rateLimitHeaders } from '@strongroom/kit/http/rate-limit-headers'
import { ApiError } from '@strongroom/kit/errors'
import type { Context } from 'hono'
import { formBridgeError } from '../errors.ts'
import type { Site } from '../items/site.ts'
import type { Caller, Callers } from '../limits/client-ids.ts'
import { type RateGuard, rateLimited } from '../limits/guard.ts'
import type { Usage } from '../limits/usage.ts'
import type { AbuseWatch } from '../security/abuse.ts'
import type { Journal } from '../security/journal.ts'
import { signatureIn } from '../signing/signed-request.ts'
import { siteAddress } from '../sites/domain.ts'
import type { createAuthentication } from '../store/authentication.ts'
import type { Authenticate, Authenticated } from './authenticate.ts'
import { targetOf } from './request-target.ts'

export interface SiteNeeds {
  scope: 'api' | 'webhook' | 'update_check'
  /** A key is not enough. */
  signature?: true
  /** Also while the site is suspended: to learn that it is. */
  suspended?: true
}

export const choices = ['move', 'new_site', 'staging'] as const

export type SiteGuard = ReturnType<typeof createSiteGuard>

export function createSiteGuard(deps: {
  authenticate: Authenticate
  authentication: Pick<ReturnType<typeof createAuthentication>, 'siteOfId'>
  callers: Callers
  guard: RateGuard
  usage: Usage
  journal: Journal
  abuse: AbuseWatch
}) {
  const { authenticate, authentication, callers, guard, usage, journal, abuse } = deps

  async function identify<E extends AppEnv>(c: Context<E>): Promise<Authenticated> {
    const header = (name: string) => c.req.header(name)
    if (header('x-fb-signature') !== undefined) {
      const headers = signatureIn(header)
      if (!headers) throw authenticate.unauthorized()
      const body = new Uint8Array(await c.req.arrayBuffer())
      return authenticate.signed({ method: c.req.method, target: targetOf(c), body }, headers)
    }
    const [, key] = /^Bearer (\S{1,200})$/i.exec(header('authorization') ?? '') ?? []
    if (key === undefined) throw authenticate.unauthorized()
    return authenticate.bearer(key)
  }

  /** The site that a request says it is from, whether it is or not. */
  async function namedIn<E extends AppEnv>(c: Context<E>) {
    const { site_id } = signatureIn((name) => c.req.header(name)) ?? {}
    const site = site_id === undefined ? undefined : await authentication.siteOfId(site_id)
    return site && nameOf(site)
  }

  /** Whoever guesses is written down; a clock that is wrong is no crime. */
  async function refused<E extends AppEnv>(
    error: unknown,
    c: Context<E>,
    caller: Caller,
  ): Promise<never> {
    if (error instanceof ApiError && error.status === 401) {
      const reason = error.code.slice('form-bridge.'.length)
      await journal.note({ event_type: 'auth_failure', reason, caller, site: await namedIn(c) })
      if (reason !== 'timestamp_out_of_range') await abuse.failed('api_abuse', caller.client_ip)
    }
    throw error
  }

  async function count<E extends AppEnv>(
    c: Context<E>,
    site: Site,
    scope: SiteNeeds['scope'],
    caller: Caller,
  ) {
    const decision = await guard.take({ scope, site_id: site.site_id })
    if (!decision.admitted) {
      await journal.note({ event_type: 'rate_limit', reason: scope, caller, site: nameOf(site) })
      await abuse.failed('api_abuse', site.site_id)
      throw rateLimited(scope, decision)
    }
    for (const [name, value] of Object.entries(rateLimitHeaders(decision))) c.header(name, value)
    await usage.note(scope, site, decision.remaining)
  }

  async function requireHome<E extends AppEnv>(
    c: Context<E>,
    site: Site,
    caller: Caller,
  ): Promise<void> {
    const given = c.req.header('x-fb-home')
    if (given === undefined) return
    // PHP sends the bytes of its texts, in UTF-8; here each byte of a header is a character.
    const home = siteAddress(Buffer.from(given, 'latin1').toString())?.domain
    if (home === site.domain) return
    const details = { home: home ?? 'unreadable' }
    await journal.note({
      event_type: 'suspicious_activity',
      reason: 'site_moved',
      caller,
      site: nameOf(site),
      details,
    })
    throw formBridgeError('site_moved', {
      data: { domain: site.domain, home: home ?? null, choices },
    })
  }

  return {
    /** Whether a request says who it is from at all. */
    isNamed: <E extends AppEnv>(c: Context<E>) =>
      c.req.header('x-fb-signature') !== undefined || c.req.header('authorization') !== undefined,

    async admit<E extends AppEnv>(c: Context<E>, needs: SiteNeeds): Promise<Authenticated> {
      const caller = await callers.of(c)
      const asked = await identify(c).catch((error: unknown) => refused(error, c, caller))
      const { site, signed } = asked
      if (needs.signature && !signed) throw formBridgeError('signature_required')
      if (site.status === 'disabled') throw formBridgeError('site_disabled')
      if (site.status === 'suspended' && !needs.suspended) throw formBridgeError('site_suspended')
      await count(c, site, needs.scope, caller)
      await requireHome(c, site, caller)
      return asked
    },
  }
}

const nameOf = ({ site_id, domain }: Site) => ({ site_id, domain })
