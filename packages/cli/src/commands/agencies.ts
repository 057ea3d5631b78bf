/** `strongroom agencies …`: the agencies of Form-Bridge, through a server. */
import { createServiceClient, requiredServerOption } from '../api-client.ts'
import { type Command, usageError } from '../command.ts'
import { checkCommand } from '../form-bridge/check-command.ts'
import { listItems } from '../form-bridge/list-items.ts'
import { parseChoice, parseCount, parseId } from '../form-bridge/options.ts'
import { columns, escapeControls, parseDuration } from '../output.ts'

interface Agency {
  agency_id: string
  agency_name: string
  contact_email: string
  max_sites: number
  current_sites: number
  status: string
  created_at: string
}

interface AgencySite {
  site_id: string
  domain: string
  role: string
  outside_limit: boolean
}

interface JoinToken {
  id: string
  role: string
  uses: number
  max_uses: number
  expires_at: string
}

const STATUSES = ['active', 'suspended'] as const
const ROLES = ['owner', 'member', 'viewer'] as const

const agenciesList: Command = {
  name: 'agencies list',
  kind: 'client',
  summary: 'List the agencies of Form-Bridge, newest first',
  options: {
    status: { value: 'STATUS', summary: `One of ${STATUSES.join(', ')} (active)` },
    ...requiredServerOption,
  },
  async run(input) {
    const status = parseChoice('--status', STATUSES, input.options['status'] ?? 'active')
    const api = createServiceClient(input, 'form-bridge')
    const found = await listItems<Agency>(api, '/agencies', { status })
    const rows = found.map((agency) => [
      agency.agency_id,
      escapeControls(agency.agency_name),
      `${agency.current_sites} of ${agency.max_sites} sites`,
    ])
    input.output.result(columns(rows) || `There are no ${status} agencies\n`, found)
  },
}

const agenciesShow: Command = {
  name: 'agencies show',
  kind: 'client',
  args: 'AGENCY',
  summary: 'Show an agency: name, contact, site limit',
  options: requiredServerOption,
  async run(input) {
    const id = parseId('AGENCY', input.args[0])
    const api = createServiceClient(input, 'form-bridge')
    const agency = await api<Agency>('GET', `/agencies/${id}`)
    input.output.result(textOf(agency), agency)
  },
}

const agenciesAdd: Command = {
  name: 'agencies add',
  kind: 'client',
  args: 'NAME',
  summary: 'Create an agency and print its API key (shown once)',
  options: {
    email: { value: 'ADDRESS', summary: 'Contact address; required' },
    'max-sites': { value: 'NUMBER', summary: 'How many sites it may have; required' },
    ...requiredServerOption,
  },
  async run(input) {
    const contact_email = input.options['email']
    const max_sites = parseCount(input, 'max-sites')
    if (typeof contact_email !== 'string') throw usageError('Missing address: pass --email')
    if (max_sites === undefined) throw usageError('Missing limit: pass --max-sites, such as 100')
    const body = { agency_name: input.args[0], contact_email, max_sites }
    const api = createServiceClient(input, 'form-bridge')
    const created = await api<Agency & { api_key: string }>('POST', '/agencies', body)
    input.output.progress(`${created.agency_id} was created; its key is not shown again`)
    input.output.result(`${created.api_key}\n`, created)
  },
}

const agenciesChange: Command = {
  name: 'agencies change',
  kind: 'client',
  args: 'AGENCY',
  summary: "Update an agency's site limit or status",
  options: {
    'max-sites': { value: 'NUMBER', summary: 'How many sites it may have; removes none' },
    status: { value: 'STATUS', summary: `One of ${STATUSES.join(', ')}` },
    ...requiredServerOption,
  },
  async run(input) {
    const id = parseId('AGENCY', input.args[0])
    const max_sites = parseCount(input, 'max-sites')
    const given = input.options['status']
    const status = given === undefined ? undefined : parseChoice('--status', STATUSES, given)
    if (max_sites === undefined && status === undefined) {
      throw usageError('Nothing to change: pass --max-sites or --status')
    }
    const api = createServiceClient(input, 'form-bridge')
    const agency = await api<Agency>('PATCH', `/agencies/${id}`, {
      ...(max_sites !== undefined && { max_sites }),
      ...(status !== undefined && { status }),
    })
    input.output.result(textOf(agency), agency)
  },
}

const agenciesRotate: Command = {
  name: 'agencies rotate',
  kind: 'client',
  args: 'AGENCY',
  summary: "Replace an agency's API key and print the new one (shown once)",
  options: requiredServerOption,
  about: 'The old key stops working immediately. Requires an admin.',
  async run(input) {
    const agency_id = parseId('AGENCY', input.args[0])
    const api = createServiceClient(input, 'form-bridge')
    const { api_key } = await api<{ api_key: string }>('POST', `/agencies/${agency_id}/key`)
    input.output.result(`${api_key}\n`, { agency_id, api_key })
  },
}

const agenciesSites: Command = {
  name: 'agencies sites',
  kind: 'client',
  args: 'AGENCY',
  summary: "List an agency's sites and its role for each",
  options: requiredServerOption,
  async run(input) {
    const id = parseId('AGENCY', input.args[0])
    const api = createServiceClient(input, 'form-bridge')
    const found = await listItems<AgencySite>(api, `/agencies/${id}/sites`)
    const rows = found.map(({ site_id, domain, role, outside_limit }) => [
      site_id,
      domain,
      role,
      outside_limit ? 'does not count towards the limit' : '',
    ])
    input.output.result(columns(rows) || 'The agency has no sites\n', found)
  },
}

const agenciesRole: Command = {
  name: 'agencies role',
  kind: 'client',
  args: 'AGENCY SITE ROLE',
  summary: 'Set what an agency may do with a site: owner, member or viewer',
  options: requiredServerOption,
  about: `An owner sets the destination of its submissions, confirms and removes it. A member confirms it, a
viewer only reads it. Requires an admin.`,
  async run(input) {
    const agency = parseId('AGENCY', input.args[0])
    const site = parseId('SITE', input.args[1])
    const role = parseChoice('ROLE', ROLES, input.args[2])
    const api = createServiceClient(input, 'form-bridge')
    const path = `/agencies/${agency}/sites/${site}/role`
    const changed = await api<AgencySite>('PUT', path, { role })
    input.output.result(`The agency is ${changed.role} of ${changed.domain}\n`, changed)
  },
}

const agenciesTokens: Command = {
  name: 'agencies tokens',
  kind: 'client',
  args: 'AGENCY',
  summary: "List an agency's join tokens: id, role, uses, expiry",
  options: requiredServerOption,
  async run(input) {
    const id = parseId('AGENCY', input.args[0])
    const api = createServiceClient(input, 'form-bridge')
    const found = await listItems<JoinToken>(api, `/agencies/${id}/join-tokens`)
    const rows = found.map((token) => [
      token.id,
      token.role,
      `${token.uses} of ${token.max_uses} uses`,
      `expires ${token.expires_at}`,
    ])
    input.output.result(columns(rows) || 'The agency has no join tokens\n', found)
  },
}

const agenciesInvite: Command = {
  name: 'agencies invite',
  kind: 'client',
  args: 'AGENCY',
  summary: 'Create a join token of an agency and print it (shown once)',
  options: {
    role: { value: 'ROLE', summary: `One of ${ROLES.join(', ')} (owner)` },
    uses: { value: 'NUMBER', summary: 'How many sites can join with it (1)' },
    expires: { value: 'TIME', summary: 'How long it works, such as 7d (1d)' },
    ...requiredServerOption,
  },
  async run(input) {
    const id = parseId('AGENCY', input.args[0])
    const role = parseChoice('--role', ROLES, input.options['role'] ?? 'owner')
    const max_uses = parseCount(input, 'uses') ?? 1
    const expires_in = parseDuration('expires', String(input.options['expires'] ?? '1d'))
    const api = createServiceClient(input, 'form-bridge')
    const body = { role, max_uses, expires_in }
    const path = `/agencies/${id}/join-tokens`
    const created = await api<JoinToken & { token: string }>('POST', path, body)
    input.output.progress('The join token is not shown again')
    input.output.result(`${created.token}\n`, created)
  },
}

const agenciesRevoke: Command = {
  name: 'agencies revoke',
  kind: 'client',
  args: 'AGENCY TOKEN_ID',
  summary: 'Revoke a join token of an agency; sites that joined with it stay',
  options: requiredServerOption,
  async run(input) {
    const agency = parseId('AGENCY', input.args[0])
    const id = input.args[1] ?? ''
    if (!/^[0-9a-f]{64}$/.test(id)) {
      throw usageError('TOKEN_ID must be an id of 64 digits: see "strongroom agencies tokens"')
    }
    const api = createServiceClient(input, 'form-bridge')
    await api('DELETE', `/agencies/${agency}/join-tokens/${id}`)
    input.output.result('The join token is revoked\n', { id, revoked: true })
  },
}

function textOf(agency: Agency): string {
  return columns([
    ['agency', agency.agency_id],
    ['name', escapeControls(agency.agency_name)],
    ['contact', escapeControls(agency.contact_email)],
    ['status', agency.status],
    ['sites', `${agency.current_sites} of ${agency.max_sites}`],
    ['created', agency.created_at],
  ])
}

export const commands: readonly Command[] = [
  agenciesList,
  agenciesShow,
  agenciesAdd,
  agenciesChange,
  agenciesRotate,
  agenciesSites,
  agenciesRole,
  agenciesTokens,
  agenciesInvite,
  agenciesRevoke,
  checkCommand('agencies', 'AGENCY'),
]
