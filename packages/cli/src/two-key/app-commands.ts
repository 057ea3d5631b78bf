/** `strongroom slack app …`: the Slack apps of Two-key, on a running server. */
import { type Command, type CommandInput, usageError } from '../command.ts'
import { parseDuration } from '../output.ts'
import { readSecret } from '../input.ts'
import { requiredServerOption, createServiceClient } from '../api-client.ts'

interface App {
  name: string
  url: string
  upstream: { url: string; kind: string }
  signingSecrets: { createdAt: string; expiresAt: string | null }[]
  policy: { channels?: Record<string, string> }
  installation: { clientId: string; installUrl: string; redirectUrl: string } | null
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

const KINDS = ['event', 'command', 'action', 'options', 'shortcut', 'view']
const POLICIES = ['strict', 'if-visible', 'skip']

export const slackAppChange: Command = {
  name: 'slack app change',
  kind: 'client',
  args: 'NAME',
  summary: "Change a Slack app's upstream, id, channel policy or installation",
  options: {
    upstream: { value: 'URL', summary: 'Where verified requests are forwarded' },
    ferryhook: { summary: 'The upstream is a Ferryhook source' },
    'app-id': { value: 'ID', summary: "The app's id at Slack, A…; none accepts any app" },
    channels: {
      value: 'POLICIES',
      summary: 'What an unknown channel means: event=if-visible,command=strict',
    },
    'client-id': {
      value: 'ID',
      summary: "The app's client id at Slack, so that workspaces can install it; none ends that",
    },
    scopes: { value: 'SCOPES', summary: "The app's own bot scopes: chat:write,commands" },
    ...requiredServerOption,
  },
  about: `What is not given stays as it is. Kinds of requests: ${KINDS.join(', ')}; policies:
${POLICIES.join(', ')}. With --client-id, asks for the client secret, or reads it from standard input, and
prints the link to install the app and the redirect URL to add at Slack.`,
  async run(input) {
    const name = input.args[0] ?? ''
    const path = `/apps/${encodeURIComponent(name)}`
    const api = createServiceClient(input, 'two-key')
    const change = await readChange(input.options, () => api<App>('GET', path))
    if (Object.keys(change).length === 0)
      throw usageError('Nothing to change: pass an option, such as --upstream https://…')
    const app = await api<App>('PATCH', path, change)
    const { installation } = app
    const lines = [
      `${name} was changed: ${app.url} → ${app.upstream.url}`,
      ...(installation
        ? [
            `Install it with      ${installation.installUrl}`,
            `Redirect URL at Slack ${installation.redirectUrl}`,
          ]
        : []),
    ]
    input.output.result(`${lines.join('\n')}\n`, app)
  },
}

async function readChange(
  options: CommandInput['options'],
  current: () => Promise<App>,
): Promise<Record<string, unknown>> {
  const text = (option: string) => {
    const value = options[option]
    return typeof value === 'string' ? value : undefined
  }
  const appId = text('app-id')
  const channels = text('channels')
  const upstream = text('upstream')
  const kind = options['ferryhook'] === true ? 'ferryhook' : undefined
  const policies = channels === undefined ? undefined : parsePolicies(channels)
  const hasInstallation = text('client-id') !== undefined || text('scopes') !== undefined
  const isPartial =
    policies !== undefined || (upstream === undefined) !== (kind === undefined) || hasInstallation
  const app = isPartial ? await current() : undefined
  const { policy = {} } = app ?? {}
  return {
    ...(appId !== undefined && { appId: appId === 'none' ? null : appId }),
    ...((upstream !== undefined || kind !== undefined) && {
      upstream: {
        url: upstream ?? app?.upstream.url,
        kind: kind ?? (upstream === undefined ? app?.upstream.kind : 'app'),
      },
    }),
    ...(policies && { policy: { ...policy, channels: { ...policy.channels, ...policies } } }),
    ...(hasInstallation && {
      installation: await readInstallation(text('client-id'), text('scopes'), app),
    }),
  }
}

async function readInstallation(
  clientId: string | undefined,
  scopes: string | undefined,
  app: App | undefined,
): Promise<object | null> {
  if (clientId === 'none') return null
  const known = clientId ?? app?.installation?.clientId
  if (known === undefined) throw usageError('Missing client id: pass --client-id ID')
  const list = scopes?.split(',').map((scope) => scope.trim())
  return {
    clientId: known,
    ...(clientId !== undefined && { clientSecret: await readSecret('Client secret: ') }),
    ...(list && { scopes: list.filter((scope) => scope !== '') }),
  }
}

function parsePolicies(text: string): Record<string, string> {
  const parts = text.split(',').map((part) => part.trim().split('='))
  for (const [kind = '', policy = '', ...more] of parts) {
    if (!KINDS.includes(kind) || !POLICIES.includes(policy) || more.length > 0) {
      throw usageError(
        `--channels takes pairs such as event=if-visible: kinds ${KINDS.join(', ')}; policies ${POLICIES.join(', ')}`,
      )
    }
  }
  return Object.fromEntries(parts) as Record<string, string>
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
