/** How a user is alerted, as the user sets it. */
import type { Clock } from '@strongroom/kit/clock'
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import { again } from '../accounts/again.ts'
import type { Audit } from '../accounts/audit-trail.ts'
import { checkDestination } from '../accounts/check-destination.ts'
import type { KeptSecrets } from '../accounts/kept-secrets.ts'
import { rotatedList } from '../accounts/source-signing.ts'
import { asUserGone } from '../accounts/user-gone.ts'
import type { Principal } from '../auth/principal.ts'
import type { AlertChoice } from '../db/alert-settings.ts'
import type { DataLayer } from '../db/data-layer.ts'
import type { Exchange } from '../delivery/exchange.ts'
import { ferryhookError } from '../errors.ts'
import type { AlertSettings } from '../items/alert-settings.ts'
import { firstSecret } from '../signing/secret-list.ts'
import { newSigningSecret } from '../signing/webhook-secret.ts'
import type { Channels } from './channels.ts'
import { testTelling } from './telling.ts'

export interface AlertInput {
  kinds: AlertSettings['kinds']
  webhookUrl: string | null
  email: boolean
}

export function createAlertBook(deps: {
  layer: Pick<DataLayer, 'alertSettings'>
  kept: Pick<KeptSecrets, 'alertSecrets' | 'sealAlertSecrets'>
  safeFetch: Pick<SafeFetch, 'check'>
  channels: Pick<Channels, 'webhook'>
  /** Whether this server sends any. */
  sendsMail: boolean
  clock: Clock
  audit: Audit
}) {
  const { layer, kept, safeFetch, channels, clock, audit } = deps
  const settings = layer.alertSettings

  /** `decide` sees them as they are; it is asked again if somebody else changes them meanwhile. */
  async function update(
    { user: { userId }, actor }: Principal,
    action: 'alerts.changed' | 'alerts.secret_rotated',
    decide: (seen: AlertSettings | null) => Promise<AlertChoice>,
  ): Promise<AlertSettings> {
    return again('alerts_changed', async () => {
      const seen = await settings.get(userId)
      const by = { actor, action }
      return settings.put(userId, await decide(seen), { seen, by }).catch(asUserGone)
    })
  }

  return {
    get: ({ user }: Principal): Promise<AlertSettings | null> => settings.get(user.userId),

    /** With the secret of the webhook, if it is a new one. */
    async change(
      principal: Principal,
      { webhookUrl, kinds, email }: AlertInput,
    ): Promise<{ settings: AlertSettings; signingSecret: string | undefined }> {
      if (email && !deps.sendsMail) throw ferryhookError('mail_not_configured')
      if (webhookUrl !== null) checkDestination(safeFetch, webhookUrl, 'body.webhookUrl')
      let made: string | undefined
      const changed = await update(principal, 'alerts.changed', async (seen) => {
        made = undefined
        const common = { kinds: [...new Set(kinds)], email }
        if (webhookUrl === null) return common
        const known = seen?.signingSecret
        if (known !== undefined) return { ...common, webhookUrl, signingSecret: known }
        made = newSigningSecret()
        const list = firstSecret(made, clock.now())
        const signingSecret = await kept.sealAlertSecrets(principal.user.userId, list)
        return { ...common, webhookUrl, signingSecret }
      })
      return { settings: changed, signingSecret: made }
    },

    async rotateSecret(
      principal: Principal,
      { overlapSeconds }: { overlapSeconds: number },
    ): Promise<string> {
      const secret = newSigningSecret()
      await update(principal, 'alerts.secret_rotated', async (seen) => {
        if (seen?.signingSecret === undefined) throw ferryhookError('no_alert_webhook')
        const list = await kept.alertSecrets(seen)
        const rotated = rotatedList(list, secret, { now: clock.now(), overlapSeconds })
        const signingSecret = await kept.sealAlertSecrets(seen.userId, rotated)
        const { kinds, email, webhookUrl } = seen
        return { kinds, email, ...(webhookUrl !== undefined && { webhookUrl }), signingSecret }
      })
      return secret
    },

    /** Sends one to the webhook now, and tells how it was answered. */
    async test({ user: { userId }, actor }: Principal): Promise<Exchange> {
      const seen = await settings.get(userId)
      // Before it is sent, like all that leaves the server.
      if (seen?.webhookUrl !== undefined) await audit(userId, actor, 'alerts.tested')
      const made = seen && (await channels.webhook(seen, testTelling(userId, clock.now())))
      if (!made) throw ferryhookError('no_alert_webhook')
      return made
    },
  }
}

export type AlertBook = ReturnType<typeof createAlertBook>
