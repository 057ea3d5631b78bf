/** `strongroom slack app …`: the Slack apps of Two-key, on a running server. */
import { type Command, usageError } from '../command.ts'
import { parseDuration } from '../output.ts'
import { readSecret } from '../input.ts'
import { requiredServerOption, createServiceClient } from '../api-client.ts'

interface App {
  name: string
  url: string
  upstream: { url: string; kind: string }
  signingSecrets: { createdAt: string; expiresAt: string | null }[]
}

export const slackApps: Command = {
  name: 'slack apps',
  kind: 'client',
  summary: 'List Slack apps',
  options: requiredServerOption,
  async run(input) {
    const { items } = await createServiceClient(input, 'two-key')<{ items: App[] }>('GET', '/apps')
    const lines = items.map(({ name, url, upstream }) => `${name}  ${url} → ${upstream.url}\n`)
    input.output.result(
      lines.join('') || 'There are no apps: add one with "strongroom slack app add"\n',
      items,
    )
  },
}

export const slackAppAdd: Command = {
  name: 'slack app add',
  kind: 'client',
  args: 'NAME',
  summary: 'Add a Slack app and print its request URL',
  options: {
    upstream: { value: 'URL', summary: 'Where verified requests are forwarded; required' },
    ferryhook: { summary: 'The upstream is a Ferryhook source' },
    'app-id': {
      value: 'ID',
      summary: "The app's id at Slack, A…; requests for other apps are rejected",
    },
    ...requiredServerOption,
  },
  about: `Asks for the signing secret, or reads it from standard input. The server forwards to public https
addresses; TWO_KEY_ALLOWED_NETWORKS and TWO_KEY_ALLOW_HTTP allow others.`,
  async run(input) {
    const { upstream, ferryhook, 'app-id': appId } = input.options
    if (typeof upstream !== 'string')
      throw usageError('Missing upstream: pass --upstream https://…')
    const api = createServiceClient(input, 'two-key')
    const app = await api<App>('POST', '/apps', {
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
  kind: 'client',
  args: 'NAME',
  summary: 'Remove a Slack app and its tokens',
  options: requiredServerOption,
  async run(input) {
    const name = input.args[0] ?? ''
    await createServiceClient(input, 'two-key')('DELETE', `/apps/${encodeURIComponent(name)}`)
    input.output.result(`${name} was removed\n`, { name, removed: true })
  },
}

export const slackSecretRotate: Command = {
  name: 'slack secret rotate',
  kind: 'client',
  args: 'NAME',
  summary: "Replace a Slack app's signing secret",
  options: {
    overlap: {
      value: 'TIME',
      summary: 'How long the old one stays valid, such as 24h; it ends immediately by default',
    },
    ...requiredServerOption,
  },
  about: `Asks for the new secret, or reads it from standard input. Without --overlap the old secret ends
immediately, as it must after a leak; other servers of the deployment follow within ten seconds.`,
  async run(input) {
    const overlapSeconds = parseDuration('overlap', String(input.options['overlap'] ?? '0s'))
    const name = input.args[0] ?? ''
    const api = createServiceClient(input, 'two-key')
    const signingSecret = await readSecret('New signing secret: ')
    const path = `/apps/${encodeURIComponent(name)}/signing-secrets`
    const app = await api<App>('POST', path, { signingSecret, overlapSeconds })
    input.output.result(secretLines(app), app)
  },
}

function secretLines({ name, signingSecrets }: App): string {
  const lines = signingSecrets.map(({ createdAt, expiresAt }, at) => {
    const which = at === 0 ? 'new secret' : `secret of ${createdAt}`
    return `  ${which}: valid ${expiresAt === null ? 'until it is rotated' : `until ${expiresAt}`}\n`
  })
  const older = signingSecrets.length > 1 ? '' : '  every older secret: no longer valid\n'
  return `Signing secrets of ${name}:\n${lines.join('')}${older}`
}
