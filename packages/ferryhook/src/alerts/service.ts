/** Alert settings of a user. */
import { retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { toConflict } from '../storage/write-rejected.ts'
import type { Clock } from '@strongroom/platform/clock'
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import { describeChanges, origin, asText } from '../accounts/audit/changes.ts'
import { toAccountError, type Principal } from '../accounts/authentication.ts'
import { ferryhookError } from '../errors.ts'
import { checkDestination } from '../outbound/destination-url.ts'
import type { SendResult } from '../outbound/exchange.ts'
import type { SealedSecrets } from '../signing/sealed-secrets.ts'
import { newSecretList, newSigningSecret } from '../signing/secret-list.ts'
import { rotateOrThrow } from '../sources/signing.ts'
import type { Stores } from '../stores.ts'
import { testAlertMessage } from './alert.ts'
import type { Channels } from './channels.ts'
import type { AlertSettings } from './item.ts'
import type { AlertSettingsInput } from './store.ts'

export interface AlertInput {
  kinds: AlertSettings['kinds']
  webhookUrl: string | null
  email: boolean
}

const MAX_UPDATE_ATTEMPTS = 20

/** What the audit log shows of a change. */
const audited = { kinds: asText, webhookUrl: origin, email: asText } as const

export function createAlertService(deps: {
  stores: Pick<Stores, 'alertSettings' | 'audit'>
  sealedSecrets: Pick<SealedSecrets, 'alertSecrets' | 'sealAlertSecrets'>
  safeFetch: Pick<SafeFetch, 'check'>
  channels: Pick<Channels, 'webhook'>
  /** Whether this server can send mail. */
  sendsMail: boolean
  clock: Clock
}) {
  const { stores, sealedSecrets, safeFetch, channels, clock } = deps
  const settings = stores.alertSettings

  /** `decide` gets the current settings, and is called again after a concurrent change. */
  async function update(
    { user: { userId }, actor }: Principal,
    action: 'alerts.changed' | 'alerts.secret_rotated',
    decide: (expected: AlertSettings | null) => Promise<AlertSettingsInput>,
  ): Promise<AlertSettings> {
    return retryOnConflict(
      async () => {
        const expected = await settings.get(userId)
        const input = await decide(expected)
        const changes = describeChanges<AlertSettingsInput>(expected, input, audited)
        const by = { actor, action, changes }
        return settings
          .put(userId, input, { expected, by })
          .catch(toAccountError)
          .catch(toConflict('alerts_changed'))
      },
      { maxAttempts: MAX_UPDATE_ATTEMPTS },
    )
  }

  return {
    canEmail: deps.sendsMail,

    get: ({ user }: Principal): Promise<AlertSettings | null> => settings.get(user.userId),

    /** Returns the signing secret if it is a new one. */
    async change(
      principal: Principal,
      { webhookUrl, kinds, email }: AlertInput,
    ): Promise<{ settings: AlertSettings; signingSecret: string | undefined }> {
      if (email && !deps.sendsMail) throw ferryhookError('mail_not_configured')
      if (webhookUrl !== null) checkDestination(safeFetch, webhookUrl, 'body.webhookUrl')
      let newSecret: string | undefined
      const changed = await update(principal, 'alerts.changed', async (expected) => {
        newSecret = undefined
        const common = { kinds: [...new Set(kinds)], email }
        if (webhookUrl === null) return common
        const existing = expected?.signingSecret
        if (existing !== undefined) return { ...common, webhookUrl, signingSecret: existing }
        newSecret = newSigningSecret()
        const list = newSecretList(newSecret, clock.now())
        const signingSecret = await sealedSecrets.sealAlertSecrets(principal.user.userId, list)
        return { ...common, webhookUrl, signingSecret }
      })
      return { settings: changed, signingSecret: newSecret }
    },

    async rotateSecret(
      principal: Principal,
      { overlapSeconds }: { overlapSeconds: number },
    ): Promise<string> {
      const secret = newSigningSecret()
      await update(principal, 'alerts.secret_rotated', async (expected) => {
        if (expected?.signingSecret === undefined) throw ferryhookError('no_alert_webhook')
        const list = await sealedSecrets.alertSecrets(expected)
        const rotated = rotateOrThrow(list, secret, { now: clock.now(), overlapSeconds })
        const signingSecret = await sealedSecrets.sealAlertSecrets(expected.userId, rotated)
        const { kinds, email, webhookUrl } = expected
        return { kinds, email, ...(webhookUrl !== undefined && { webhookUrl }), signingSecret }
      })
      return secret
    },

    /** Sends a test alert to the webhook and returns the response. */
    async test({ user: { userId }, actor }: Principal): Promise<SendResult> {
      const expected = await settings.get(userId)
      // Before it is sent, like every outgoing request.
      if (expected?.webhookUrl !== undefined) {
        await stores.audit.add({ userId, actor, action: 'alerts.tested' })
      }
      const result =
        expected && (await channels.webhook(expected, testAlertMessage(userId, clock.now())))
      if (!result) throw ferryhookError('no_alert_webhook')
      return result
    },
  }
}

export type AlertService = ReturnType<typeof createAlertService>
