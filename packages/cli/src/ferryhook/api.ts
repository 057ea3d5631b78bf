/** The API of Ferryhook, with the API key of one of its users. */
import { ApiError } from '@strongroom/kit/errors'
import { settings } from '@strongroom/server/settings'
import { type CommandInput, type CommandOption, usageError } from '../command.ts'
import { type ApiClient, serverUrl, createApiClient, STANDARD_SERVER } from '../api-client.ts'

export const ferryhookOptions: Readonly<Record<string, CommandOption>> = {
  server: {
    value: 'URL',
    summary: `Server URL; the API key is in FERRYHOOK_API_KEY (${STANDARD_SERVER})`,
  },
}

export interface Access {
  server: string
  key: string
}

export function parseAccess(input: Pick<CommandInput, 'options' | 'env'>): Access {
  const server = serverUrl(input)
  const { FERRYHOOK_API_KEY: key } = settings.parse(input.env)
  if (key !== undefined) return { server, key }
  throw usageError('No API key: set FERRYHOOK_API_KEY to one that "strongroom user add" prints')
}

export function createFerryhookClient({ server, key }: Access): ApiClient {
  const api = createApiClient({ server, service: 'ferryhook', token: key })
  return <T>(...request: Parameters<ApiClient>) =>
    api<T>(...request).catch((error: unknown) => {
      throw toCliError(error)
    })
}

type Data = Readonly<Record<string, unknown>>

/** Messages for the command line, where the server's are for programs. */
const MESSAGES: Readonly<Record<string, (data: Data) => string>> = {
  'ferryhook.unauthorized': () =>
    'The server rejects this API key: set FERRYHOOK_API_KEY to a valid one',
  'ferryhook.permission_required': ({ permission }) =>
    `This API key lacks permission: use one with the permission ${String(permission)}`,
  'ferryhook.plan_limit': ({ plan, sources, connectionsPerSource }) => {
    const ofSource = `${String(connectionsPerSource)} connections per source`
    const max = typeof sources === 'number' ? `${sources} sources` : ofSource
    return `The plan ${String(plan)} allows ${max}: remove one, or ask the operator for more`
  },
  'ferryhook.source_not_found': () => 'Source not found: see "strongroom sources list"',
  'ferryhook.connection_not_found': () => 'Connection not found: see "strongroom connections list"',
  'ferryhook.connection_changed': () =>
    'The connection was changed at the same time: check it and run the command again',
  'ferryhook.event_not_found': () => 'Event not found or expired: see "strongroom events list"',
  'ferryhook.replay_not_found': () => 'Replay not found: see "strongroom replays list"',
  'ferryhook.run_open': () =>
    'The event is still being delivered: wait, or attempt it now with "strongroom events retry"',
  'ferryhook.unverified_event': () =>
    'Verification of the event failed: an admin key can replay it with --accept-unverified',
  'ferryhook.no_connections': () =>
    'The source has no connection: see "strongroom connections add --help"',
  'ferryhook.no_alert_webhook': () =>
    'Alerts have no webhook: set one with "strongroom alerts set --webhook URL"',
  'ferryhook.no_secret': () =>
    'The source has no signing secret yet: set one with "strongroom sources change"',
  'request.rate_limited': () => 'Too many requests: try again in a minute',
}

function toCliError(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error
  const { code, status, data = {} } = error
  const message = MESSAGES[code]?.(data)
  return message === undefined ? error : new ApiError({ code, status, message }, { data })
}
