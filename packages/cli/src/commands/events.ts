/** `strongroom events …`: what came to the sources of Ferryhook, and where it went. */
import { systemClock } from '@strongroom/kit/clock'
import { type Command, type CommandInput, UsageError } from '../command.ts'
import { accessIn, atFerryhook, ferryhookAt } from '../ferryhook/api.ts'
import { type Chosen, chosenIn, choosing } from '../ferryhook/chosen-events.ts'
import { eventLine, eventText } from '../ferryhook/event-text.ts'
import { allSources, findSource, isId } from '../ferryhook/find.ts'
import type { Delivery, Event, EventDetail, Page, Source } from '../ferryhook/views.ts'
import { columns, counted, printable } from '../for-people.ts'
import { forTerminal } from '../for-terminal.ts'
import type { Ask } from '../service-api.ts'

const MOST_OF_A_PAGE = 100

export const eventsList: Command = {
  name: 'events list',
  args: '[SOURCE]',
  summary: 'List the events of a source, or of all sources, newest first',
  options: { ...choosing, limit: { value: 'NUMBER', summary: 'How many (20)' }, ...atFerryhook },
  about: 'SOURCE is an id, or a name that only one source has.',
  async run(input) {
    const limit = limitIn(input)
    const now = systemClock.now()
    const chosen = chosenIn(input, now)
    const ask = ferryhookAt(accessIn(input))
    const [given] = input.args
    const sources = given === undefined ? await allSources(ask) : [await findSource(ask, given)]
    const found: Event[] = []
    // One more than is shown tells whether there are more.
    for (const { id } of sources) found.push(...(await newest(ask, id, chosen, limit + 1)))
    const all = found.toSorted((a, b) => Date.parse(b.receivedAt) - Date.parse(a.receivedAt))
    const events = all.slice(0, limit)
    input.output.result(listText(events, sources, now), events)
    if (all.length > limit) input.output.progress('There are more: --limit shows them')
  },
}

/** A page may be short, even empty, and there is more all the same. */
async function newest(ask: Ask, sourceId: string, chosen: Chosen, most: number): Promise<Event[]> {
  const found: Event[] = []
  let cursor: string | null = null
  do {
    const limit = String(Math.min(most - found.length, MOST_OF_A_PAGE))
    const query = new URLSearchParams({ ...chosen, limit, ...(cursor !== null && { cursor }) })
    const path: string = `/sources/${sourceId}/events?${query.toString()}`
    const page: Page<Event> = await ask<Page<Event>>('GET', path)
    found.push(...page.items)
    cursor = page.cursor
  } while (cursor !== null && found.length < most)
  return found
}

function listText(events: readonly Event[], sources: readonly Source[], now: number): string {
  if (events.length === 0) return 'There are no such events\n'
  const names = new Map(sources.map(({ id, name }) => [id, printable(name)]))
  const rows = events.map((event) => eventLine(event, names.get(event.sourceId) ?? '', now))
  return columns([['ID', 'RECEIVED', 'STATUS', 'SOURCE', 'DELIVERIES', 'BODY', 'TYPE'], ...rows])
}

function limitIn({ options }: CommandInput): number {
  const limit = String(options['limit'] ?? 20)
  if (/^[1-9]\d{0,3}$/.test(limit)) return Number(limit)
  throw new UsageError('--limit must be a number from 1 to 9999')
}

export const eventsShow: Command = {
  name: 'events show',
  args: 'EVENT',
  summary: 'Show an event: where it went, and every attempt',
  options: { body: { summary: 'Print the body instead, as it came' }, ...atFerryhook },
  about: `On a terminal, control characters of a body are shown and not obeyed; a body that is no text is
printed in base64. --json has everything, also headers, body and what the destinations answered.`,
  async run(input) {
    const { output, json, options } = input
    const id = eventIn(input)
    const event = await ferryhookAt(accessIn(input))<EventDetail>('GET', `/events/${id}`)
    if (options['body'] !== true || json) {
      return output.result(eventText(event, systemClock.now()), event)
    }
    if (event.encoding === 'base64') output.progress('The body is no text: this is base64')
    output.result(process.stdout.isTTY ? `${forTerminal(event.body).shown}\n` : event.body, event)
  },
}

export const eventsRetry = toWaiting(
  'retry',
  'Make the next attempt of an event now',
  'attempted now',
)
export const eventsCancel = toWaiting(
  'cancel',
  'Give up the deliveries of an event that wait',
  'given up',
)

const WAITS = ['runnable', 'retrying', 'held']

/** What is done to every delivery of an event that has not ended. */
function toWaiting(verb: 'retry' | 'cancel', summary: string, done: string): Command {
  return {
    name: `events ${verb}`,
    args: 'EVENT',
    summary,
    options: atFerryhook,
    async run(input) {
      const id = eventIn(input)
      const ask = ferryhookAt(accessIn(input))
      const { deliveries } = await ask<EventDetail>('GET', `/events/${id}`)
      const changed: Delivery[] = []
      for (const { connectionId } of deliveries.filter(({ state }) => WAITS.includes(state))) {
        changed.push(await ask('POST', `/events/${id}/deliveries/${connectionId}/${verb}`))
      }
      const none = 'No delivery of the event waits: "strongroom events replay" delivers it again\n'
      const verbs = changed.length === 1 ? 'is' : 'are'
      const some = `${counted(changed.length, 'delivery', 'deliveries')} ${verbs} ${done}\n`
      input.output.result(changed.length === 0 ? none : some, changed)
    },
  }
}

/** An event has no name. */
export function eventIn({ args: [given = ''] }: Pick<CommandInput, 'args'>): string {
  if (isId('evt', given)) return given
  throw new UsageError(
    'An event is named by its id, evt_ and 16 characters: see "strongroom events list"',
  )
}
