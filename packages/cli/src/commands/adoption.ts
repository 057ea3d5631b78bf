/** `strongroom adoption …`: which plugin versions sites run, through a server. */
import { createServiceClient, requiredServerOption } from '../api-client.ts'
import { type Command, usageError } from '../command.ts'
import { listItems } from '../form-bridge/list-items.ts'
import { parseCount } from '../form-bridge/options.ts'
import { columns, pluralize } from '../output.ts'

interface Adoption {
  date: string
  versions: Record<string, number>
}

interface InstalledSite {
  site_id: string
  domain: string
  current_version: string
  checked_at: string
}

const adoptionShow: Command = {
  name: 'adoption show',
  kind: 'client',
  summary: 'Show how many sites checked for updates on a day, by version',
  options: {
    date: { value: 'DATE', summary: 'Such as 2026-11-01, in UTC (today)' },
    ...requiredServerOption,
  },
  async run(input) {
    const { date } = input.options
    if (date !== undefined && !/^\d{4}-\d{2}-\d{2}$/.test(String(date))) {
      throw usageError('--date must be a day, such as 2026-11-01')
    }
    const api = createServiceClient(input, 'form-bridge')
    const path = date === undefined ? '/adoption' : `/adoption?date=${String(date)}`
    const found = await api<Adoption>('GET', path)
    const rows = Object.entries(found.versions).map(([version, sites]) => [
      version,
      pluralize(sites, 'site'),
    ])
    input.output.result(columns(rows) || `No site checked for updates on ${found.date}\n`, found)
  },
}

interface AdoptionDay extends Adoption {
  is_complete: boolean
}

const adoptionDays: Command = {
  name: 'adoption days',
  kind: 'client',
  summary: 'Show how many sites checked for updates on each of the last days, by version',
  options: {
    days: { value: 'NUMBER', summary: 'How many days, up to 90 (30)' },
    ...requiredServerOption,
  },
  async run(input) {
    const count = parseCount(input, 'days') ?? 30
    const api = createServiceClient(input, 'form-bridge')
    const { days } = await api<{ days: AdoptionDay[] }>('GET', `/adoption/days?days=${count}`)
    const rows = days.flatMap(({ date, versions }) =>
      Object.entries(versions).map(([version, sites]) => [date, version, pluralize(sites, 'site')]),
    )
    input.output.result(columns(rows) || 'No site checked for updates\n', days)
  },
}

const adoptionSites: Command = {
  name: 'adoption sites',
  kind: 'client',
  args: 'VERSION',
  summary: 'List the sites that have a version installed',
  options: requiredServerOption,
  async run(input) {
    const version = encodeURIComponent(input.args[0] ?? '')
    const api = createServiceClient(input, 'form-bridge')
    const found = await listItems<InstalledSite>(api, `/adoption/${version}/sites`)
    const rows = found.map(({ site_id, domain, checked_at }) => [
      site_id,
      domain,
      `checked ${checked_at}`,
    ])
    input.output.result(columns(rows) || 'No site has this version\n', found)
  },
}

export const commands: readonly Command[] = [adoptionShow, adoptionDays, adoptionSites]
