/** `strongroom sites …`: Form-Bridge's WordPress sites, through a server. */
import type { SiteDetails } from '@strongroom/form-bridge/sites/view'
import { ApiError } from '@strongroom/kit/errors'
import { type Command, type CommandInput, usageError } from '../command.ts'
import { createSiteAccess, type SiteAction, type SiteLine } from '../form-bridge/site-access.ts'
import { requiredServerOption } from '../api-client.ts'

const statuses = ['active', 'suspended', 'disabled'] as const

const sitesList: Command = {
  name: 'sites list',
  kind: 'client',
  summary: 'List the sites of Form-Bridge, newest first',
  options: {
    status: { value: 'STATUS', summary: `One of ${statuses.join(', ')} (active)` },
    search: { value: 'TEXT', summary: 'Only domains that contain it' },
    ...requiredServerOption,
  },
  async run(input) {
    const given = input.options['status'] ?? 'active'
    const status = statuses.find((each) => each === given)
    if (status === undefined) throw usageError(`--status must be one of ${statuses.join(', ')}`)
    const search = input.options['search']
    const found: SiteLine[] = []
    const text = typeof search === 'string' ? search : undefined
    for await (const page of createSiteAccess(input).pages(status, text)) found.push(...page)
    const lines = found.map(
      ({ site_id, domain, created_at }) => `${site_id}  ${domain}  since ${day(created_at)}\n`,
    )
    input.output.result(lines.join('') || `There are no ${status} sites\n`, found)
  },
}

const sitesShow: Command = {
  name: 'sites show',
  kind: 'client',
  args: 'SITE',
  summary: 'Show a site: status, version, agency, when it was last seen',
  options: requiredServerOption,
  async run(input) {
    const found = await createSiteAccess(input).show(parseSiteId(input))
    input.output.result(textOf(found), found)
  },
}

export const sitesSuspend = statusCommand(
  'suspend',
  'Suspend a site, starting with its next request',
)
export const sitesResume = statusCommand('resume', 'Resume a suspended site')
export const sitesDisable = statusCommand(
  'disable',
  'Disconnect a site permanently and release its domain',
)
export const sitesConfirm = statusCommand(
  'confirm',
  'Confirm the identity of a site that reconnected without its old key',
)

function statusCommand(action: SiteAction, summary: string): Command {
  return {
    name: `sites ${action}`,
    kind: 'client',
    args: 'SITE',
    summary,
    options: requiredServerOption,
    async run(input) {
      const acted = createSiteAccess(input).act(parseSiteId(input), action)
      const site = await acted.catch((error: unknown) => {
        throw toCliError(error, action)
      })
      input.output.result(`${site.domain} is ${site.status}\n`, site)
    },
  }
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

function parseSiteId({ args: [site = ''] }: CommandInput): string {
  if (/^site_[A-Za-z0-9_-]{16}$/.test(site)) return site
  throw usageError('SITE must be an id, site_ and 16 characters: see "strongroom sites list"')
}

function textOf(site: SiteDetails): string {
  const rows: [string, string][] = [
    ['site', site.site_id],
    ['domain', site.domain],
    ['status', site.status],
    ['environment', site.environment],
    ['plugin', site.installed_version ?? 'unknown'],
    ['agency', site.agencies.join(', ') || 'none'],
    ['destination', site.has_destination ? 'its own' : 'the general one'],
    [
      'confirmation',
      site.confirmation_needed ? 'needed: "strongroom sites confirm"' : 'not needed',
    ],
    ['connected', site.activated_at],
    ['last seen', site.last_seen],
    ['requests', String(site.request_count)],
    ['keys', `version ${site.key_version}`],
  ]
  return rows.map(([name, value]) => `${name.padEnd(12)}  ${value}\n`).join('')
}

function day(iso: string): string {
  return iso.slice(0, 10)
}

export const commands: readonly Command[] = [
  sitesList,
  sitesShow,
  sitesSuspend,
  sitesResume,
  sitesDisable,
  sitesConfirm,
]
