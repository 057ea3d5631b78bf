/** `strongroom alerts …`: how and about what a Ferryhook user is notified. */
import { alertKinds } from '@strongroom/ferryhook/alerts/kinds'
import { systemClock } from '@strongroom/platform/clock'
import { type Command, type CommandInput, usageError } from '../command.ts'
import { parseAccess, ferryhookOptions, createFerryhookClient } from '../ferryhook/api.ts'
import { destinationHost, requireChange, requireOneOf } from '../ferryhook/options.ts'
import { type TestResult, printTestResult } from '../ferryhook/text.ts'
import type { Alerts } from '../ferryhook/views.ts'
import { columns, escapeControls, formatRelative } from '../output.ts'
import { alertsRotate } from '../ferryhook/rotate-commands.ts'

const alertsShow: Command = {
  name: 'alerts show',
  kind: 'client',
  summary: 'Show alert settings',
  options: ferryhookOptions,
  async run(input) {
    const alerts = await createFerryhookClient(parseAccess(input))<Alerts>('GET', '/alerts')
    input.output.result(columns(settingsRows(alerts)), alerts)
  },
}

const alertsSet: Command = {
  name: 'alerts set',
  kind: 'client',
  summary: 'Send alerts by webhook, mail, both or neither',
  options: {
    webhook: { value: 'URL', summary: 'Webhook URL, signed like deliveries; or none' },
    mail: { value: 'yes|no', summary: "Also send mail to the account's address" },
    kind: {
      value: 'KIND',
      multiple: true,
      summary: 'Only alerts of this kind; may be repeated; or all',
    },
    ...ferryhookOptions,
  },
  about: `Kinds: ${alertKinds.join(', ')}; all by default. Options that you omit stay unchanged.
Prints the signing secret of a new webhook (shown once).
Requires an API key with the permission admin.`,
  async run(input) {
    const chosen = parseAlertSettings(input)
    requireChange('alerts set', chosen)
    const api = createFerryhookClient(parseAccess(input))
    const before = await api<Alerts>('GET', '/alerts')
    const { webhookUrl = before.webhookUrl, email = before.email } = chosen
    // An account without alert settings gets all kinds.
    const { kinds = before.updatedAt === null ? alertKinds : before.kinds } = chosen
    const body = { webhookUrl, email, kinds }
    const alerts = await api<Alerts & { signingSecret?: string }>('PUT', '/alerts', body)
    const { signingSecret } = alerts
    const secret = signingSecret === undefined ? [] : [['secret', signingSecret]]
    if (secret.length > 0) input.output.progress('Store the secret: it is not shown again')
    input.output.result(columns([...settingsRows(alerts), ...secret]), alerts)
  },
}

const alertsTest: Command = {
  name: 'alerts test',
  kind: 'client',
  summary: 'Send a test alert to the webhook',
  options: ferryhookOptions,
  about:
    'Exits with 1 unless the destination accepts it. Requires an API key with the permission admin.',
  async run(input) {
    const api = createFerryhookClient(parseAccess(input))
    return printTestResult(input.output, await api<TestResult>('POST', '/alerts/test'))
  },
}

function parseAlertSettings({ options, lists }: CommandInput) {
  const { webhook, mail } = options
  const { kind: kinds } = lists
  if (typeof webhook === 'string' && webhook !== 'none') destinationHost(webhook)
  if (mail !== undefined && mail !== 'yes' && mail !== 'no') {
    throw usageError('--mail must be yes or no')
  }
  return {
    webhookUrl: webhook === 'none' ? null : (webhook as string | undefined),
    email: mail === undefined ? undefined : mail === 'yes',
    kinds: kinds && parseKinds(kinds),
  }
}

function parseKinds(given: readonly string[]): readonly string[] {
  const kinds = given.map((each) => requireOneOf('kind', [...alertKinds, 'all'], each))
  return kinds.includes('all') ? alertKinds : kinds
}

function settingsRows({ webhookUrl, email, kinds, failedAt, failure }: Alerts): string[][] {
  const failed = failedAt === null ? undefined : formatRelative(failedAt, systemClock.now())
  return [
    ['webhook', webhookUrl === null ? 'none' : escapeControls(webhookUrl)],
    ['mail', email ? 'yes' : 'no'],
    ['kinds', kinds.join(', ') || 'none'],
    ...(failed === undefined
      ? []
      : [['failed', `${failed} (${escapeControls(failure ?? 'unknown')})`]]),
  ]
}

export const commands: readonly Command[] = [alertsShow, alertsSet, alertsTest, alertsRotate]
