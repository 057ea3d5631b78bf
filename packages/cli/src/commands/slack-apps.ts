/** `strongroom slack app …`: the Slack apps of Two-key, on a running server. */
import { type Command, UsageError } from '../command.ts'
import { secondsOf } from '../duration.ts'
import { readSecret } from '../read-secret.ts'
import { atServer, twoKeyAt } from './slack-remote.ts'

interface App {
  name: string
  url: string
  upstream: { url: string; kind: string }
  signingSecrets: { createdAt: string; expiresAt: string | null }[]
}

export const slackApps: Command = {
  name: 'slack apps',
  summary: 'List the Slack apps that the server verifies requests of',
  options: atServer,
  async run(input) {
    const { items } = await twoKeyAt(input)<{ items: App[] }>('GET', '/apps')
    const lines = items.map(({ name, url, upstream }) => `${name}  ${url} → ${upstream.url}\n`)
    input.output.result(lines.join('') || 'There are no apps: add one\n', items)
  },
}

export const slackAppAdd: Command = {
  name: 'slack app add',
  args: 'NAME',
  summary: 'Add a Slack app and print the URL to point Slack at',
  options: {
    upstream: { value: 'URL', summary: 'Where verified requests are sent; needed' },
    ferryhook: { summary: 'The upstream is a source of Ferryhook' },
    'app-id': { value: 'ID', summary: 'The id of the app at Slack, A…: others are refused' },
    ...atServer,
  },
  about: `Asks for the signing secret, or reads it from standard input. The server sends to public
https addresses, and to others only by TWO_KEY_ALLOWED_NETWORKS and TWO_KEY_ALLOW_HTTP.`,
  async run(input) {
    const { upstream, ferryhook, 'app-id': appId } = input.options
    if (typeof upstream !== 'string')
      throw new UsageError('Say where verified requests go: --upstream https://…')
    const ask = twoKeyAt(input)
    const app = await ask<App>('POST', '/apps', {
      name: input.args[0],
      signingSecret: await readSecret('Signing secret: '),
      upstream: { url: upstream, kind: ferryhook === true ? 'ferryhook' : 'app' },
      ...(typeof appId === 'string' && { appId }),
    })
    input.output.result(`${app.url}\n`, app)
  },
}

export const slackAppRemove: Command = {
  name: 'slack app remove',
  args: 'NAME',
  summary: 'Remove a Slack app with its tokens',
  options: atServer,
  async run(input) {
    const name = input.args[0] ?? ''
    await twoKeyAt(input)('DELETE', `/apps/${encodeURIComponent(name)}`)
    input.output.result(`${name} is gone\n`, { name, removed: true })
  },
}

export const slackSecretRotate: Command = {
  name: 'slack secret rotate',
  args: 'NAME',
  summary: 'Give a Slack app a new signing secret',
  options: {
    overlap: {
      value: 'TIME',
      summary: 'How long the old one is honoured (1d); 0s ends it at once',
    },
    ...atServer,
  },
  about: 'Asks for the new secret, or reads it from standard input.',
  async run(input) {
    const overlapSeconds = secondsOf('overlap', String(input.options['overlap'] ?? '1d'))
    const name = input.args[0] ?? ''
    const ask = twoKeyAt(input)
    const signingSecret = await readSecret('New signing secret: ')
    const path = `/apps/${encodeURIComponent(name)}/signing-secrets`
    const app = await ask<App>('POST', path, { signingSecret, overlapSeconds })
    const count = app.signingSecrets.length
    const secrets = count === 1 ? 'signing secret' : 'signing secrets'
    input.output.result(`${name} has ${count} ${secrets} in force\n`, app)
  },
}
