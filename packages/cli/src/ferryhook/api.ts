/** The API of Ferryhook, with the API key of one of its users. */
import { ApiError } from '@strongroom/kit/errors'
import { settings } from '@strongroom/server/settings'
import { type CommandInput, type CommandOption, UsageError } from '../command.ts'
import { type Ask, serverIn, serviceApi, STANDARD_SERVER } from '../service-api.ts'

export const atFerryhook: Readonly<Record<string, CommandOption>> = {
  server: {
    value: 'URL',
    summary: `Where Ferryhook is reached, with the API key in FERRYHOOK_API_KEY (${STANDARD_SERVER})`,
  },
}

export interface Access {
  server: string
  key: string
}

export function accessIn(input: Pick<CommandInput, 'options' | 'env'>): Access {
  const server = serverIn(input)
  const { FERRYHOOK_API_KEY: key } = settings.parse(input.env)
  if (key !== undefined) return { server, key }
  throw new UsageError(
    'This needs an API key of Ferryhook: set FERRYHOOK_API_KEY, "strongroom user add" makes one',
  )
}

export function ferryhookAt({ server, key }: Access): Ask {
  const ask = serviceApi({ server, service: 'ferryhook', token: key })
  return <T>(...request: Parameters<Ask>) =>
    ask<T>(...request).catch((error: unknown) => {
      throw inWords(error)
    })
}

type Data = Readonly<Record<string, unknown>>

/** Where the server speaks to a program: of what stands in `data`, or of what to send. */
const words: Readonly<Record<string, (data: Data) => string>> = {
  'ferryhook.unauthorized': () =>
    'The server does not take this API key: set FERRYHOOK_API_KEY to one that it has made',
  'ferryhook.permission_required': ({ permission }) =>
    `This API key may not do this: use one with the permission ${String(permission)}`,
  'ferryhook.plan_limit': ({ plan, sources, connectionsPerSource }) => {
    const ofSource = `${String(connectionsPerSource)} connections of a source`
    const most = typeof sources === 'number' ? `${sources} sources` : ofSource
    return `The plan ${String(plan)} allows ${most}: remove one, or ask the operator for more`
  },
  'ferryhook.source_not_found': () => 'There is no such source: see "strongroom sources list"',
  'ferryhook.connection_not_found': () =>
    'There is no such connection: see "strongroom connections list"',
  'ferryhook.event_not_found': () =>
    'There is no such event, or it has expired: see "strongroom events list"',
  'ferryhook.replay_not_found': () => 'There is no such replay: see "strongroom replays list"',
  'ferryhook.run_open': () =>
    'The event is still being delivered: wait, or hurry it with "strongroom events retry"',
  'ferryhook.unverified_event': () =>
    'The signature of the event was not right: who may vouch for it adds --accept-unverified',
  'ferryhook.no_connections': () =>
    'The source has no connection to deliver to: see "strongroom connections add --help"',
  'ferryhook.no_alert_webhook': () =>
    'There is no webhook for alerts: set one with "strongroom alerts set --webhook URL"',
  'ferryhook.no_secret': () =>
    'The source has no signing secret yet: give it one with "strongroom sources change"',
  'request.rate_limited': () => 'Too many requests: try again in a minute',
}

function inWords(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error
  const { code, status, data = {} } = error
  const message = words[code]?.(data)
  return message === undefined ? error : new ApiError({ code, status, message }, { data })
}
