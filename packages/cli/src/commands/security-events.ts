/** `strongroom security-events …`: what Form-Bridge refused or noticed, through a server. */
import { createServiceClient, requiredServerOption } from '../api-client.ts'
import { type Command, usageError } from '../command.ts'
import { listItems } from '../form-bridge/list-items.ts'
import {
  parseChoice,
  parseCount,
  parseId,
  parseSince,
  sinceOption,
} from '../form-bridge/options.ts'
import { columns, escapeControls } from '../output.ts'

interface SecurityEvent {
  event_type: string
  site_id: string
  domain?: string
  client_ip: string
  user_agent: string
  details: { reason?: string; repeated?: number }
  timestamp: string
}

const TYPES = ['auth_failure', 'rate_limit', 'suspicious_activity'] as const

const securityEventsList: Command = {
  name: 'security-events list',
  kind: 'client',
  summary: 'List security events of Form-Bridge, newest first',
  options: {
    type: { value: 'TYPE', summary: `One of ${TYPES.join(', ')} (auth_failure)` },
    site: { value: 'SITE', summary: 'Events of this site, of all types' },
    ...sinceOption,
    limit: { value: 'NUMBER', summary: 'At most this many (100)' },
    ...requiredServerOption,
  },
  async run(input) {
    const { type, site } = input.options
    if (type !== undefined && site !== undefined) {
      throw usageError('Use either --type or --site, not both')
    }
    const subject =
      site === undefined
        ? { type: parseChoice('--type', TYPES, type ?? 'auth_failure') }
        : { site_id: parseId('SITE', String(site)) }
    const limit = parseCount(input, 'limit') ?? 100
    if (limit === 0) throw usageError('--limit must be at least 1')
    const api = createServiceClient(input, 'form-bridge')
    const parameters = { ...subject, ...parseSince(input) }
    const found = await listItems<SecurityEvent>(api, '/security-events', parameters, limit)
    input.output.result(columns(found.map(rowOf)) || 'There are no such events\n', found)
  },
}

function rowOf({ timestamp, event_type, details, domain, site_id, client_ip }: SecurityEvent) {
  const { reason, repeated } = details
  return [
    timestamp,
    event_type,
    escapeControls(reason ?? ''),
    domain ?? site_id,
    client_ip,
    repeated === undefined ? '' : `and ${repeated} before it`,
  ]
}

export const commands: readonly Command[] = [securityEventsList]
