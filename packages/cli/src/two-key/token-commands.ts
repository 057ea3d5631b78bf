/** `strongroom slack token …` and `decisions`: the workspaces of an app, and the latest decisions. */
import { type Command, usageError } from '../command.ts'
import { readSecret } from '../input.ts'
import { requiredServerOption, createServiceClient } from '../api-client.ts'

export const slackTokenSet: Command = {
  name: 'slack token set',
  kind: 'client',
  args: 'APP TEAM',
  summary: "Store a workspace's bot token, encrypted",
  options: requiredServerOption,
  about: `Asks for the token, or reads it from standard input. The server checks it with Slack before it stores
it. TEAM is the id of the workspace (T…), or of the organisation (E…).`,
  async run(input) {
    const path = pathOf(input.args)
    const api = createServiceClient(input, 'two-key')
    const token = await readSecret('Bot token: ')
    const stored = await api<{ team: string; missingScopes: string[] }>('PUT', path, { token })
    const missing =
      stored.missingScopes.length === 0
        ? ''
        : `It lacks the scopes ${stored.missingScopes.join(', ')}: requests from some conversations cannot be verified\n`
    input.output.result(`The token of ${stored.team} was stored\n${missing}`, stored)
  },
}

export const slackTokens: Command = {
  name: 'slack tokens',
  kind: 'client',
  args: 'APP',
  summary: 'List workspaces with a stored token',
  options: requiredServerOption,
  async run(input) {
    const app = encodeURIComponent(input.args[0] ?? '')
    const { items } = await createServiceClient(input, 'two-key')<{
      items: { team: string; installedAt: string }[]
    }>('GET', `/apps/${app}/tokens`)
    const lines = items.map(({ team, installedAt }) => `${team}  since ${installedAt}\n`)
    input.output.result(
      lines.join('') || 'There are no tokens: set one with "strongroom slack token set"\n',
      items,
    )
  },
}

export const slackTokenRemove: Command = {
  name: 'slack token remove',
  kind: 'client',
  args: 'APP TEAM',
  summary: "Delete a workspace's bot token; its requests are then refused",
  options: requiredServerOption,
  async run(input) {
    await createServiceClient(input, 'two-key')('DELETE', pathOf(input.args))
    const [app, team] = input.args
    input.output.result(`The token of ${team} was removed\n`, { app, team, removed: true })
  },
}

interface DecisionLine {
  at: string
  outcome: string
  code: string
  type: string | null
  channel: string | null
  missingScopes: string[]
  ids: Record<string, unknown> | null
}

export const slackDecisions: Command = {
  name: 'slack decisions',
  kind: 'client',
  args: 'APP',
  summary: "Show the server's latest decisions about an app",
  options: { limit: { value: 'NUMBER', summary: 'Maximum number (50)' }, ...requiredServerOption },
  async run(input) {
    const limit = String(input.options['limit'] ?? 50)
    if (!/^\d{1,3}$/.test(limit)) throw usageError('--limit must be a number up to 200')
    const app = encodeURIComponent(input.args[0] ?? '')
    const { items } = await createServiceClient(input, 'two-key')<{ items: DecisionLine[] }>(
      'GET',
      `/apps/${app}/decisions?limit=${limit}`,
    )
    const lines = items.map(decisionLine)
    input.output.result(
      lines.map((line) => `${line}\n`).join('') || 'There are no decisions yet\n',
      items,
    )
  },
}

function decisionLine(decision: DecisionLine): string {
  const { at, outcome, code, type, channel, missingScopes, ids } = decision
  const named = Object.entries(ids ?? {}).map(([kind, id]) => `${kind} ${String(id)}`)
  const notes = [
    ...named,
    ...(channel === 'unseen' ? ['channel: unseen'] : []),
    ...(missingScopes.length > 0 ? [`missing scopes: ${missingScopes.join(' ')}`] : []),
  ]
  return `${at}  ${outcome} (${code})  ${type ?? '-'}  ${notes.join(', ')}`.trimEnd()
}

function pathOf([app = '', team]: readonly string[]): string {
  if (team === undefined) throw usageError('Missing workspace: pass APP and TEAM')
  return `/apps/${encodeURIComponent(app)}/tokens/${encodeURIComponent(team)}`
}
