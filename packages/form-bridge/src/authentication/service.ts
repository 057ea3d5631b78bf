/** Authenticates the site that sends a request, then checks what the site may do. */
import { parseBearer } from '@strongroom/kit/bearer'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import { ApiError } from '@strongroom/kit/errors'
import type { AppEnv } from '@strongroom/kit/http/env'
import { rateLimitHeaders } from '@strongroom/kit/http/rate-limit-headers'
import type { Context } from 'hono'
import { isKey, sha256Hex } from '../credentials/keys.ts'
import type { SiteSecrets } from '../credentials/secrets.ts'
import { formBridgeError } from '../errors.ts'
import type { Caller, Callers } from '../limits/caller.ts'
import { rateLimited, type RateLimits } from '../limits/service.ts'
import type { Usage } from '../limits/usage.ts'
import type { AbuseDetector } from '../security/abuse.ts'
import type { SecurityEventLog } from '../security/event-log.ts'
import { parseSiteAddress } from '../sites/address.ts'
import type { Site } from '../sites/item.ts'
import { isoNow } from '../time.ts'
import {
  canonicalRequest,
  MAX_CLOCK_SKEW_SECONDS,
  parseSignatureHeaders,
  type RequestBytes,
  requestTarget,
  type SignatureHeaders,
  verifySignature,
} from './signature.ts'
import type { AuthenticationStore } from './store.ts'

export interface Authenticated {
  site: Site
  signed: boolean
  /** With keys that a rotation has replaced and that still work for their grace period. */
  inGrace: boolean
}

export const MAX_KEY_LENGTH = 200

/** What a site can do when its address has changed. */
const CHOICES = ['move', 'new_site', 'staging'] as const

export type Authenticate = ReturnType<typeof createAuthenticate>

/** Reads the table at every request, so a suspension or a rotation applies from the next one on. */
export function createAuthenticate(deps: {
  clock: Clock
  authentication: AuthenticationStore
  siteSecrets: Pick<SiteSecrets, 'decryptWebhookSecret'>
}) {
  const { clock, authentication, siteSecrets } = deps

  /** The current secret and, during the grace period of a rotation, the previous one. */
  function encryptedSecrets(site: Site): string[] {
    const { webhook_secret, previous_webhook_secret, previous_valid_until = '' } = site
    const inGrace = previous_webhook_secret !== undefined && previous_valid_until > isoNow(clock)
    return inGrace ? [webhook_secret, previous_webhook_secret] : [webhook_secret]
  }

  /** The encrypted secret that the signature was made with. */
  async function findSigningSecret(
    site: Site,
    text: string,
    signature: string,
  ): Promise<string | undefined> {
    for (const encrypted of encryptedSecrets(site)) {
      const secret = await siteSecrets.decryptWebhookSecret(site.site_id, encrypted)
      if (verifySignature(secret, text, signature)) return encrypted
    }
    return undefined
  }

  return {
    async signed(request: RequestBytes, headers: SignatureHeaders): Promise<Authenticated> {
      const server_time = epochSeconds(clock)
      if (Math.abs(server_time - headers.timestamp) > MAX_CLOCK_SKEW_SECONDS) {
        throw formBridgeError('timestamp_out_of_range', { data: { server_time } })
      }
      const site = await authentication.findSiteById(headers.site_id)
      const text = canonicalRequest(request, headers)
      const signedWith = site && (await findSigningSecret(site, text, headers.signature))
      if (!site || signedWith === undefined) throw unauthorized()
      // Last, so a caller without the secret cannot use up nonces of the site.
      if (!(await authentication.useNonce(headers))) throw formBridgeError('nonce_used')
      return { site, signed: true, inGrace: signedWith !== site.webhook_secret }
    },

    async bearer(key: string): Promise<Authenticated> {
      const known = isKey('live', key)
        ? await authentication.findSiteByApiKey(sha256Hex(key))
        : undefined
      if (!known) throw unauthorized()
      const { site, key: item } = known
      return { site, signed: false, inGrace: item.key_version < site.key_version }
    },
  }
}

function unauthorized() {
  return formBridgeError('unauthorized', { headers: { 'www-authenticate': 'Bearer' } })
}

export interface SiteRequirements {
  scope: 'api' | 'webhook' | 'update_check'
  /** An API key is not enough. */
  signature?: true
  /** Keys in their grace period are not enough. */
  currentKeys?: true
  /** Suspended sites are allowed too, so they can read their status. */
  suspended?: true
}

export type SiteAuthorization = ReturnType<typeof createSiteAuthorization>

export function createSiteAuthorization(deps: {
  authenticate: Authenticate
  authentication: Pick<AuthenticationStore, 'findSiteById'>
  callers: Callers
  limits: RateLimits
  usage: Usage
  events: SecurityEventLog
  abuse: AbuseDetector
}) {
  const { authenticate, authentication, callers, limits, usage, events, abuse } = deps

  async function identify<E extends AppEnv>(c: Context<E>): Promise<Authenticated> {
    const header = (name: string) => c.req.header(name)
    if (header('x-fb-signature') !== undefined) {
      const headers = parseSignatureHeaders(header)
      if (!headers) throw unauthorized()
      const body = new Uint8Array(await c.req.arrayBuffer())
      return authenticate.signed({ method: c.req.method, target: requestTarget(c), body }, headers)
    }
    const key = parseBearer(header('authorization'), MAX_KEY_LENGTH)
    if (key === undefined) throw unauthorized()
    return authenticate.bearer(key)
  }

  /** The site that the headers name, whether the signature is valid or not. */
  async function findClaimedSite<E extends AppEnv>(c: Context<E>) {
    const { site_id } = parseSignatureHeaders((name) => c.req.header(name)) ?? {}
    const site = site_id === undefined ? undefined : await authentication.findSiteById(site_id)
    return site && nameOf(site)
  }

  async function identifyOrRecord<E extends AppEnv>(c: Context<E>, caller: Caller) {
    return identify(c).catch(async (error: unknown) => {
      await recordRefusal(error, c, caller)
      throw error
    })
  }

  /** Failed attempts count as abuse, except those of a site whose clock is wrong. */
  async function recordRefusal<E extends AppEnv>(error: unknown, c: Context<E>, caller: Caller) {
    if (!(error instanceof ApiError) || error.status !== 401) return
    const reason = error.code.slice('form-bridge.'.length)
    const site = await findClaimedSite(c)
    await events.record({ event_type: 'auth_failure', reason, caller, site })
    if (reason !== 'timestamp_out_of_range') {
      await abuse.recordFailure('api_abuse', caller.client_ip)
    }
  }

  async function requireWithinLimits<E extends AppEnv>(
    c: Context<E>,
    site: Site,
    scope: SiteRequirements['scope'],
    caller: Caller,
  ): Promise<void> {
    const decision = await limits.take({ scope, site_id: site.site_id })
    if (!decision.admitted) {
      await events.record({ event_type: 'rate_limit', reason: scope, caller, site: nameOf(site) })
      await abuse.recordFailure('api_abuse', site.site_id)
      throw rateLimited(scope, decision)
    }
    for (const [name, value] of Object.entries(rateLimitHeaders(decision))) c.header(name, value)
    await usage.record(scope, site, decision.remaining)
  }

  async function requireHome<E extends AppEnv>(
    c: Context<E>,
    site: Site,
    caller: Caller,
  ): Promise<void> {
    const header = c.req.header('x-fb-home')
    if (header === undefined) return
    // PHP sends UTF-8; Node decodes each byte of a header as one Latin-1 character.
    const home = parseSiteAddress(Buffer.from(header, 'latin1').toString())?.domain
    if (home === site.domain) return
    await events.record({
      event_type: 'suspicious_activity',
      reason: 'site_moved',
      caller,
      site: nameOf(site),
      details: { home: home ?? 'unreadable' },
    })
    throw formBridgeError('site_moved', {
      data: { domain: site.domain, home: home ?? null, choices: CHOICES },
    })
  }

  return {
    /** The site that signed the request; undefined without a signature. */
    async findSigner<E extends AppEnv>(c: Context<E>): Promise<Authenticated | undefined> {
      if (c.req.header('x-fb-signature') === undefined) return undefined
      return identifyOrRecord(c, await callers.fromRequest(c))
    },

    /** Whether the request has credentials, valid or not. */
    hasCredentials: <E extends AppEnv>(c: Context<E>) =>
      c.req.header('x-fb-signature') !== undefined || c.req.header('authorization') !== undefined,

    async authorizeSite<E extends AppEnv>(
      c: Context<E>,
      requirements: SiteRequirements,
    ): Promise<Authenticated> {
      const caller = await callers.fromRequest(c)
      const auth = await identifyOrRecord(c, caller)
      const { site, signed, inGrace } = auth
      if (requirements.signature && !signed) throw formBridgeError('signature_required')
      if (requirements.currentKeys && inGrace) throw formBridgeError('keys_replaced')
      if (site.status === 'disabled') throw formBridgeError('site_disabled')
      if (site.status === 'suspended' && !requirements.suspended) {
        throw formBridgeError('site_suspended')
      }
      await requireWithinLimits(c, site, requirements.scope, caller)
      await requireHome(c, site, caller)
      return auth
    },
  }
}

const nameOf = ({ site_id, domain }: Site) => ({ site_id, domain })
