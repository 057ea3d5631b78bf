/** `strongroom events …`: the events of Ferryhook sources and their deliveries. */
import { systemClock } from '@strongroom/platform/clock'
import { type Command, type CommandInput, usageError } from '../command.ts'
import { parseAccess, ferryhookOptions, createFerryhookClient } from '../ferryhook/api.ts'
import { parseEventFilter, eventFilterOptions } from '../ferryhook/event-filter.ts'
import { eventLine, eventText } from '../ferryhook/text.ts'
import { findConnection, findSource, parseEventId } from '../ferryhook/find.ts'
import type { Delivery, EventDetail, ListedEvent, Page } from '../ferryhook/views.ts'
import { columns, pluralize, escapeControls, escapeForTerminal } from '../output.ts'
import type { ApiClient } from '../api-client.ts'
import { eventsReplay } from '../ferryhook/replay-command.ts'

const MAX_PAGE_SIZE = 100

const eventsList: Command = {
  name: 'events list',
  kind: 'client',
  args: '[SOURCE]',
  summary: 'List events of a source, or of all sources, newest first',
  options: {
    ...eventFilterOptions,
    connection: {
      value: 'CONNECTION',
      summary: 'Only events with a delivery to this connection',
    },
    limit: { value: 'NUMBER', summary: 'Maximum number (20)' },
    ...ferryhookOptions,
  },
  about: 'SOURCE and CONNECTION are ids, or unique names.',
  async run(input) {
    const limit = parseLimit(input)
    const now = systemClock.now()
    const chosen = parseEventFilter(input, now)
    const api = createFerryhookClient(parseAccess(input))
    const [source] = input.args
    const { connection } = input.options
    const places = {
      ...(source !== undefined && { source: (await findSource(api, source)).id }),
      ...(typeof connection === 'string' && {
        connection: (await findConnection(api, connection)).id,
      }),
    }
    // One more than the limit shows whether there are more.
    const found = await newest(api, { ...chosen, ...places }, limit + 1)
    const events = found.slice(0, limit)
    input.output.result(listText(events, now), events)
    if (found.length > limit) input.output.progress('There are more: --limit shows them')
  },
}

/** A page may be short or empty although more follow. */
async function newest(
  api: ApiClient,
  chosen: Record<string, string>,
  maxEvents: number,
): Promise<ListedEvent[]> {
  const found: ListedEvent[] = []
  let cursor: string | null = null
  do {
    const limit = String(Math.min(maxEvents - found.length, MAX_PAGE_SIZE))
    const query = new URLSearchParams({ ...chosen, limit, ...(cursor !== null && { cursor }) })
    const path: string = `/events?${query.toString()}`
    const page: Page<ListedEvent> = await api<Page<ListedEvent>>('GET', path)
    found.push(...page.items)
    cursor = page.cursor
  } while (cursor !== null && found.length < maxEvents)
  return found
}

function listText(events: readonly ListedEvent[], now: number): string {
  if (events.length === 0) return 'No matching events\n'
  const rows = events.map((event) => eventLine(event, escapeControls(event.sourceName), now))
  return columns([
    ['ID', 'RECEIVED', 'STATUS', 'SOURCE', 'TYPE', 'DELIVERIES', 'BODY', 'CONTENT'],
    ...rows,
  ])
}

function parseLimit({ options }: CommandInput): number {
  const limit = String(options['limit'] ?? 20)
  if (/^[1-9]\d{0,3}$/.test(limit)) return Number(limit)
  throw usageError('--limit must be a number from 1 to 9999')
}

const eventsShow: Command = {
  name: 'events show',
  kind: 'client',
  args: 'EVENT',
  summary: 'Show an event: deliveries and attempts',
  options: { body: { summary: 'Print the body instead' }, ...ferryhookOptions },
  about: `On a terminal, control characters of a body are shown as symbols; a binary body is printed in
base64. --json has everything, including headers, body and the responses of destinations.`,
  async run(input) {
    const { output, json, options } = input
    const id = parseEventId(input)
    const event = await createFerryhookClient(parseAccess(input))<EventDetail>(
      'GET',
      `/events/${id}`,
    )
    if (options['body'] !== true || json) {
      return output.result(eventText(event, systemClock.now()), event)
    }
    if (event.encoding === 'base64') output.progress('The body is binary: this is base64')
    output.result(
      process.stdout.isTTY ? `${escapeForTerminal(event.body).shown}\n` : event.body,
      event,
    )
  },
}

export const eventsRetry = pendingDeliveriesCommand(
  'retry',
  'Make the next attempt of an event now',
  'attempted now',
)
export const eventsCancel = pendingDeliveriesCommand(
  'cancel',
  "Cancel an event's pending deliveries",
  'cancelled',
)

const PENDING_STATES = ['runnable', 'retrying', 'held']

/** A command that acts on every pending delivery of an event. */
function pendingDeliveriesCommand(
  verb: 'retry' | 'cancel',
  summary: string,
  done: string,
): Command {
  return {
    name: `events ${verb}`,
    kind: 'client',
    args: 'EVENT',
    summary,
    options: ferryhookOptions,
    async run(input) {
      const id = parseEventId(input)
      const api = createFerryhookClient(parseAccess(input))
      const { deliveries } = await api<EventDetail>('GET', `/events/${id}`)
      const changed: Delivery[] = []
      for (const { connectionId } of deliveries.filter(({ state }) =>
        PENDING_STATES.includes(state),
      )) {
        changed.push(await api('POST', `/events/${id}/deliveries/${connectionId}/${verb}`))
      }
      const none =
        'The event has no pending deliveries: "strongroom events replay" delivers it again\n'
      const verbs = changed.length === 1 ? 'is' : 'are'
      const some = `${pluralize(changed.length, 'delivery', 'deliveries')} ${verbs} ${done}\n`
      input.output.result(changed.length === 0 ? none : some, changed)
    },
  }
}

export const commands: readonly Command[] = [
  eventsList,
  eventsShow,
  eventsReplay,
  eventsRetry,
  eventsCancel,
]
