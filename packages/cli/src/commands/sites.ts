/** `strongroom sites …`: Form-Bridge's WordPress sites, through a server. */
import type { HistoryEntry, SiteLine } from '@strongroom/form-bridge/sites/operator-view'
import type { SiteDetails } from '@strongroom/form-bridge/sites/view'
import { ApiError } from '@strongroom/kit/errors'
import { createServiceClient, requiredServerOption } from '../api-client.ts'
import { type Command, usageError } from '../command.ts'
import { readSecretOption, secretOptions } from '../ferryhook/signing-secret.ts'
import { checkCommand } from '../form-bridge/check-command.ts'
import { listItems } from '../form-bridge/list-items.ts'
import { parseChoice, parseCount, parseId } from '../form-bridge/options.ts'
import { columns, escapeControls } from '../output.ts'

type SiteAction = 'suspend' | 'resume' | 'disable' | 'confirm'

interface ApiKey {
  key_version: number
  state: string
  created_at: string
  last_used: string
  expires_at: string | null
}

interface UpdateCheck {
  current_version: string
  latest_version: string
  checked_at: string
}

interface ApprovedMove {
  site_id: string
  domain: string
  expires_at: string
}

const statuses = ['active', 'suspended', 'disabled'] as const
const listed = [...statuses, 'unconfirmed', 'all'] as const

const sitesList: Command = {
  name: 'sites list',
  kind: 'client',
  summary: 'List the sites of Form-Bridge, newest first',
  options: {
    status: { value: 'STATUS', summary: `One of ${listed.join(', ')} (active)` },
    search: { value: 'TEXT', summary: 'Only domains that contain it' },
    version: { value: 'VERSION', summary: 'Only sites that have this version of the plugin' },
    agency: { value: 'AGENCY', summary: 'Only sites of this agency' },
    'not-seen-days': { value: 'NUMBER', summary: 'Only sites that were not seen for so long' },
    ...requiredServerOption,
  },
  async run(input) {
    const status = parseChoice('--status', listed, input.options['status'] ?? 'active')
    const { search, version, agency } = input.options
    const days = parseCount(input, 'not-seen-days')
    const api = createServiceClient(input, 'form-bridge')
    const found = await listItems<SiteLine>(api, '/sites', {
      status,
      ...(typeof search === 'string' && { search }),
      ...(typeof version === 'string' && { version }),
      ...(typeof agency === 'string' && { agency_id: parseId('AGENCY', agency) }),
      ...(days !== undefined && { not_seen_days: String(days) }),
    })
    const rows = found.map((site) => [
      site.site_id,
      site.domain,
      site.confirmation_needed ? 'unconfirmed' : site.status,
      site.installed_version ?? '',
      site.agency ? escapeControls(site.agency.agency_name) : '',
      `seen ${day(site.last_seen)}`,
    ])
    const none = status === 'all' ? 'There are no sites\n' : `There are no ${status} sites\n`
    input.output.result(columns(rows) || none, found)
  },
}

const sitesShow: Command = {
  name: 'sites show',
  kind: 'client',
  args: 'SITE',
  summary: 'Show a site: status, version, agency, when it was last seen',
  options: requiredServerOption,
  async run(input) {
    const id = parseId('SITE', input.args[0])
    const api = createServiceClient(input, 'form-bridge')
    const found = await api<SiteDetails>('GET', `/sites/${id}`)
    input.output.result(textOf(found), found)
  },
}

const sitesKeys: Command = {
  name: 'sites keys',
  kind: 'client',
  args: 'SITE',
  summary: "List a site's API keys: version, state, last use",
  options: requiredServerOption,
  async run(input) {
    const id = parseId('SITE', input.args[0])
    const api = createServiceClient(input, 'form-bridge')
    const { items } = await api<{ items: ApiKey[] }>('GET', `/sites/${id}/api-keys`)
    const rows = items.map(({ key_version, state, last_used, expires_at }) => [
      `version ${key_version}`,
      state,
      `last used ${last_used}`,
      expires_at === null ? '' : `expires ${expires_at}`,
    ])
    input.output.result(columns(rows) || 'The site has no keys\n', items)
  },
}

const sitesUpdates: Command = {
  name: 'sites updates',
  kind: 'client',
  args: 'SITE',
  summary: "List a site's update checks of the last 90 days, newest first",
  options: requiredServerOption,
  async run(input) {
    const id = parseId('SITE', input.args[0])
    const api = createServiceClient(input, 'form-bridge')
    const found = await listItems<UpdateCheck>(api, `/sites/${id}/update-checks`)
    const rows = found.map(({ checked_at, current_version, latest_version }) => [
      checked_at,
      `has ${current_version}`,
      `newest ${latest_version}`,
    ])
    input.output.result(columns(rows) || 'The site has not checked for updates\n', found)
  },
}

const sitesHistory: Command = {
  name: 'sites history',
  kind: 'client',
  args: 'SITE',
  summary: 'List changes, security events and versions of a site, newest first',
  options: requiredServerOption,
  async run(input) {
    const id = parseId('SITE', input.args[0])
    const api = createServiceClient(input, 'form-bridge')
    const history = await api<{ items: HistoryEntry[]; is_complete: boolean }>(
      'GET',
      `/sites/${id}/history?limit=100`,
    )
    const rows = history.items.map((entry) => [entry.at, ...describeEntry(entry)])
    if (!history.is_complete) input.output.progress('There are older entries')
    input.output.result(columns(rows) || 'Nothing has happened to the site\n', history)
  },
}

function describeEntry(entry: HistoryEntry): string[] {
  if (entry.kind === 'version') return ['version', entry.version, '']
  if (entry.kind === 'security_event') {
    const { reason } = entry.details
    return [entry.event_type, typeof reason === 'string' ? escapeControls(reason) : '', '']
  }
  return [entry.action, escapeControls(entry.actor), escapeControls(entry.reason ?? '')]
}

const sitesSuspend = statusCommand('suspend', 'Suspend a site, starting with its next request')
const sitesResume = statusCommand('resume', 'Resume a suspended site')
const sitesDisable = statusCommand(
  'disable',
  'Disconnect a site permanently and release its domain',
)
const sitesConfirm = statusCommand(
  'confirm',
  'Confirm the identity of a site that reconnected without its old key',
)

function statusCommand(action: SiteAction, summary: string): Command {
  return {
    name: `sites ${action}`,
    kind: 'client',
    args: 'SITE',
    summary,
    options: {
      reason: { value: 'TEXT', summary: 'Why, for the audit log and the history of the site' },
      ...requiredServerOption,
    },
    async run(input) {
      const id = parseId('SITE', input.args[0])
      const { reason } = input.options
      const body = typeof reason === 'string' ? { reason } : undefined
      const api = createServiceClient(input, 'form-bridge')
      const acted = api<SiteDetails>('POST', `/sites/${id}/${action}`, body)
      const site = await acted.catch((error: unknown) => {
        throw toCliError(error, action)
      })
      input.output.result(`${site.domain} is ${site.status}\n`, site)
    },
  }
}

const sitesDestination: Command = {
  name: 'sites destination',
  kind: 'client',
  args: 'SITE [URL]',
  summary: "Set the destination of a site's submissions, or remove it",
  options: {
    remove: { summary: 'Remove it: submissions go to the default destination of the server' },
    ...secretOptions,
    ...requiredServerOption,
  },
  about: `Submissions are signed as Standard Webhooks with the signing secret, if one is given. Both are stored
encrypted and never shown. Requires an admin.`,
  async run(input) {
    const id = parseId('SITE', input.args[0])
    const url = input.args[1]
    const isRemoval = input.options['remove'] === true
    if (isRemoval === (url !== undefined)) throw usageError('Give a URL, or --remove')
    const secret = await readSecretOption(input)
    if (isRemoval && secret !== undefined) {
      throw usageError('--remove excludes a signing secret: omit one of them')
    }
    const api = createServiceClient(input, 'form-bridge')
    const path = `/sites/${id}/destination`
    const site = isRemoval
      ? await api<SiteDetails>('DELETE', path)
      : await api<SiteDetails>('PUT', path, { url, secret })
    input.output.result(`Destination of ${site.domain}: ${destinationOf(site)}\n`, site)
  },
}

const sitesMove: Command = {
  name: 'sites move',
  kind: 'client',
  args: 'SITE URL',
  summary: 'Let a site that has lost its secret move to another address',
  options: requiredServerOption,
  about: `For a day, the site at URL that proves its domain becomes this site, with its destination and agency
and with new keys. Check first who asks for it. Requires an admin. A site that still has its secret
moves without it.`,
  async run(input) {
    const id = parseId('SITE', input.args[0])
    const api = createServiceClient(input, 'form-bridge')
    const body = { site_url: input.args[1] }
    const move = await api<ApprovedMove>('PUT', `/sites/${id}/move`, body)
    input.output.result(`It may move to ${move.domain} until ${move.expires_at}\n`, move)
  },
}

/** The server's message refers to the data of the error; people need the status itself. */
function toCliError(error: unknown, action: SiteAction): unknown {
  if (!(error instanceof ApiError) || error.code !== 'form-bridge.wrong_status') return error
  const { code, status, data } = error
  const state = statuses.find((each) => each === data?.['status'])
  // A server of another version may omit it.
  if (state === undefined) return error
  const why = action === 'confirm' ? `it is ${state} and needs no confirmation` : `it is ${state}`
  return new ApiError({ code, status, message: `Cannot ${action} the site: ${why}` })
}

function textOf(site: SiteDetails): string {
  return columns([
    ['site', site.site_id],
    ['domain', site.domain],
    ['status', site.status],
    ['environment', site.environment],
    ['plugin', site.installed_version ?? 'unknown'],
    ['agency', site.agencies.join(', ') || 'none'],
    ['destination', destinationOf(site)],
    [
      'confirmation',
      site.confirmation_needed ? 'needed: "strongroom sites confirm"' : 'not needed',
    ],
    ['connected', site.activated_at],
    ['last seen', site.last_seen],
    ['requests', String(site.request_count)],
    ['keys', `version ${site.key_version}`],
  ])
}

function destinationOf(site: SiteDetails): string {
  if (site.has_destination) return 'its own'
  if (site.has_default_destination) return 'the default one of the server'
  return 'none: submissions wait on the site. Set one with "strongroom sites destination", or FORM_BRIDGE_DESTINATION for all sites.'
}

function day(iso: string): string {
  return iso.slice(0, 10)
}

export const commands: readonly Command[] = [
  sitesList,
  sitesShow,
  sitesKeys,
  sitesUpdates,
  sitesHistory,
  sitesSuspend,
  sitesResume,
  sitesDisable,
  sitesConfirm,
  sitesDestination,
  sitesMove,
  checkCommand('sites', 'SITE'),
]
