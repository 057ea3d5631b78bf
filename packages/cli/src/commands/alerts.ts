/** `strongroom alerts …`: of what and how the owner of an account is told. */
import { alertKinds } from '@strongroom/ferryhook/items/alert-settings'
import { systemClock } from '@strongroom/kit/clock'
import { type Command, type CommandInput, UsageError } from '../command.ts'
import { accessIn, atFerryhook, ferryhookAt } from '../ferryhook/api.ts'
import { destinationHost } from '../ferryhook/destination.ts'
import { refuseNothing } from '../ferryhook/nothing-to-change.ts'
import { oneOf } from '../ferryhook/one-of.ts'
import { type Tested, tellTested } from '../ferryhook/tested.ts'
import type { Alerts } from '../ferryhook/views.ts'
import { columns, printable, relative } from '../for-people.ts'

export const alertsShow: Command = {
  name: 'alerts show',
  summary: 'Show how alerts of Ferryhook are told, and of what',
  options: atFerryhook,
  async run(input) {
    const alerts = await ferryhookAt(accessIn(input))<Alerts>('GET', '/alerts')
    input.output.result(columns(factsOf(alerts)), alerts)
  },
}

export const alertsSet: Command = {
  name: 'alerts set',
  summary: 'Choose how alerts are told: by a webhook, by mail, both or neither',
  options: {
    webhook: { value: 'URL', summary: 'Where to send them, signed as deliveries are; or none' },
    mail: { value: 'yes|no', summary: 'Whether by mail to the account, too' },
    kind: {
      value: 'KIND',
      multiple: true,
      summary: 'Only of this kind; may be given more than once; or all',
    },
    ...atFerryhook,
  },
  about: `Kinds: ${alertKinds.join(', ')}; all unless chosen.
What is not given stays as it is. The secret of a webhook that had none is printed, once.
Needs an API key with the permission admin.`,
  async run(input) {
    const chosen = chosenIn(input)
    refuseNothing('alerts set', chosen)
    const ask = ferryhookAt(accessIn(input))
    const before = await ask<Alerts>('GET', '/alerts')
    const { webhookUrl = before.webhookUrl, email = before.email } = chosen
    // Who never chose any wants all.
    const { kinds = before.updatedAt === null ? alertKinds : before.kinds } = chosen
    const body = { webhookUrl, email, kinds }
    const alerts = await ask<Alerts & { signingSecret?: string }>('PUT', '/alerts', body)
    const { signingSecret } = alerts
    const secret = signingSecret === undefined ? [] : [['secret', signingSecret]]
    if (secret.length > 0) input.output.progress('Keep the secret: it is not shown again')
    input.output.result(columns([...factsOf(alerts), ...secret]), alerts)
  },
}

export const alertsTest: Command = {
  name: 'alerts test',
  summary: 'Send the webhook of alerts one of the type ferryhook.test',
  options: atFerryhook,
  about: 'Exit code 1 unless it is taken. Needs an API key with the permission admin.',
  async run(input) {
    const ask = ferryhookAt(accessIn(input))
    return tellTested(input.output, await ask<Tested>('POST', '/alerts/test'))
  },
}

function chosenIn({ options, lists }: CommandInput) {
  const { webhook, mail } = options
  const { kind: kinds } = lists
  if (typeof webhook === 'string' && webhook !== 'none') destinationHost(webhook)
  if (mail !== undefined && mail !== 'yes' && mail !== 'no') {
    throw new UsageError('--mail must be yes or no')
  }
  return {
    webhookUrl: webhook === 'none' ? null : (webhook as string | undefined),
    email: mail === undefined ? undefined : mail === 'yes',
    kinds: kinds && kindsIn(kinds),
  }
}

function kindsIn(given: readonly string[]): readonly string[] {
  const kinds = given.map((each) => oneOf('kind', [...alertKinds, 'all'], each))
  return kinds.includes('all') ? alertKinds : kinds
}

function factsOf({ webhookUrl, email, kinds, failedAt, failure }: Alerts): string[][] {
  const failed = failedAt === null ? undefined : relative(failedAt, systemClock.now())
  return [
    ['webhook', webhookUrl === null ? 'none' : printable(webhookUrl)],
    ['mail', email ? 'yes' : 'no'],
    ['kinds', kinds.join(', ') || 'none'],
    ...(failed === undefined ? [] : [['failed', `${failed} (${printable(failure ?? 'unknown')})`]]),
  ]
}
