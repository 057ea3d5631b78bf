/** `strongroom rate-limits …`: overrides of Form-Bridge's limits and request counts, through a server. */
import { createServiceClient, requiredServerOption } from '../api-client.ts'
import { type Command, type CommandInput, usageError } from '../command.ts'
import { listItems } from '../form-bridge/list-items.ts'
import { parseChoice, parseCount, parseSince, sinceOption } from '../form-bridge/options.ts'
import { columns } from '../output.ts'

interface Override {
  scope: string
  id: string
  limits: Record<string, number>
}

interface LimitState {
  limits: { name: string; limit: number; used: number }[]
  override: Record<string, number> | null
  is_slowed: boolean
}

interface Usage {
  total: number
  items: { start: string; requests: number }[]
}

const COUNTED = ['api', 'webhook', 'update_check', 'registration', 'key_exchange', 'validation']
const SCOPES = [
  ...COUNTED,
  'registration_domain',
  'validation_domain',
  'validation_share',
  'agency',
]
const WINDOWS = ['minute', 'minutes', 'hour', 'day'] as const

const rateLimitsList: Command = {
  name: 'rate-limits list',
  kind: 'client',
  summary: 'List rate limit overrides of Form-Bridge',
  options: requiredServerOption,
  async run(input) {
    const api = createServiceClient(input, 'form-bridge')
    const found = await listItems<Override>(api, '/rate-limits')
    const rows = found.map(({ scope, id, limits }) => [scope, id, limitsText(limits)])
    input.output.result(columns(rows) || 'There are no overrides\n', found)
  },
}

const rateLimitsShow: Command = {
  name: 'rate-limits show',
  kind: 'client',
  args: 'SCOPE ID',
  summary: 'Show the limits of a site or address, and how much of them is used',
  options: requiredServerOption,
  async run(input) {
    const api = createServiceClient(input, 'form-bridge')
    const state = await api<LimitState>('GET', pathOf(input, COUNTED))
    const rows = state.limits.map(({ name, limit, used }) => [
      name,
      `${used} of ${limit}`,
      state.override?.[name] === undefined ? '' : 'override',
    ])
    if (state.is_slowed) rows.push(['slowed', 'a quarter of the limits, because of abuse', ''])
    input.output.result(columns(rows), state)
  },
}

const rateLimitsSet: Command = {
  name: 'rate-limits set',
  kind: 'client',
  args: 'SCOPE ID',
  summary: 'Set the rate limits of a site, address, domain or agency',
  options: {
    minute: { value: 'NUMBER', summary: 'Requests per minute' },
    minutes: { value: 'NUMBER', summary: 'Registrations in five minutes' },
    hour: { value: 'NUMBER', summary: 'Requests per hour' },
    day: { value: 'NUMBER', summary: 'Requests per day' },
    ...requiredServerOption,
  },
  about: `SCOPE is one of ${SCOPES.slice(0, 5).join(', ')},
${SCOPES.slice(5).join(', ')}.
Limits that are not given stay at their defaults.`,
  async run(input) {
    const limits: Record<string, number> = {}
    for (const name of WINDOWS) {
      const limit = parseCount(input, name)
      if (limit !== undefined) limits[name] = limit
    }
    if (Object.keys(limits).length === 0) {
      throw usageError('No limit given: pass --minute, --minutes, --hour or --day')
    }
    const api = createServiceClient(input, 'form-bridge')
    const override = await api<Override>('PUT', pathOf(input, SCOPES), { limits })
    input.output.result(`${override.id}: ${limitsText(override.limits)}\n`, override)
  },
}

const rateLimitsRemove: Command = {
  name: 'rate-limits remove',
  kind: 'client',
  args: 'SCOPE ID',
  summary: 'Remove a rate limit override',
  options: requiredServerOption,
  async run(input) {
    const [scope = '', id = ''] = input.args
    const api = createServiceClient(input, 'form-bridge')
    await api('DELETE', pathOf(input, SCOPES))
    input.output.result(`The default limits apply to ${id}\n`, { scope, id, removed: true })
  },
}

const rateLimitsUsage: Command = {
  name: 'rate-limits usage',
  kind: 'client',
  args: 'SCOPE ID',
  summary: 'Show the requests of a site or address by minute',
  options: { ...sinceOption, ...requiredServerOption },
  about: `SCOPE is one of ${COUNTED.join(', ')}. ID is a site,
or an address as security events and registrations show it. Kept for 24 hours, registrations for 5
minutes; the last two minutes may be incomplete.`,
  async run(input) {
    const api = createServiceClient(input, 'form-bridge')
    const query = new URLSearchParams(parseSince(input))
    const usage = await api<Usage>('GET', `${pathOf(input, COUNTED)}/usage?${query.toString()}`)
    const rows = usage.items.map(({ start, requests }) => [start, String(requests)])
    const text =
      rows.length === 0 ? 'No requests\n' : columns([...rows, ['total', String(usage.total)]])
    input.output.result(text, usage)
  },
}

function pathOf({ args: [scope, id = ''] }: CommandInput, scopes: readonly string[]): string {
  return `/rate-limits/${parseChoice('SCOPE', scopes, scope)}/${encodeURIComponent(id)}`
}

function limitsText(limits: Record<string, number>): string {
  const unit = (name: string) => (name === 'minutes' ? 'five minutes' : name)
  return Object.entries(limits)
    .map(([name, limit]) => `${limit} per ${unit(name)}`)
    .join(', ')
}

export const commands: readonly Command[] = [
  rateLimitsList,
  rateLimitsShow,
  rateLimitsSet,
  rateLimitsRemove,
  rateLimitsUsage,
]
