/** `strongroom events replay`: delivers one event, or all matching events, again. */
import { setTimeout } from 'node:timers/promises'
import { systemClock } from '@strongroom/platform/clock'
import { type Command, type CommandInput, usageError } from '../command.ts'
import { parseAccess, ferryhookOptions, createFerryhookClient } from './api.ts'
import { parseEventFilter, eventFilterOptions } from './event-filter.ts'
import { findConnection, findSource, parseEventId } from './find.ts'
import { followReplay } from './follow-replay.ts'
import { outcomeText, progressText } from './text.ts'
import type { Delivery, Replay } from './views.ts'
import { pluralize } from '../output.ts'
import type { ApiClient } from '../api-client.ts'
import { stopSignal } from '../stop-signal.ts'

const FAILED = 1
/** The exit code that shells use for SIGINT. */
const INTERRUPTED = 130

/** All connections of the source unless given. */
interface Targets {
  connectionIds?: string[]
}

export const eventsReplay: Command = {
  name: 'events replay',
  kind: 'client',
  args: '[EVENT]',
  summary: 'Replay an event, or with --source all matching events',
  options: {
    source: { value: 'SOURCE', summary: 'Replay events of this source; requires --since' },
    ...eventFilterOptions,
    to: {
      value: 'CONNECTION',
      multiple: true,
      summary: 'Only to this connection; may be repeated',
    },
    'all-connections': {
      summary: 'With --status failed or retrying: replay to healthy connections as well',
    },
    'per-second': { value: 'N', summary: 'With --source: deliveries per second (50)' },
    'no-wait': { summary: 'With --source: return immediately' },
    'accept-unverified': { summary: 'Deliver an event whose verification failed' },
    ...ferryhookOptions,
  },
  about: `A replay uses the present filter and transform of its connections and a new signature; earlier
attempts remain visible. With --source the server replays from the oldest event to the newest and
continues after a restart. With --status failed it replays only the failed deliveries, and with
--status retrying it makes their next attempts now. Ctrl+C cancels it (exit code ${INTERRUPTED});
events replayed so far stay replayed. With --no-wait, "strongroom replays list" shows the progress.`,
  async run(input) {
    const wanted = parseReplay(input)
    const api = createFerryhookClient(parseAccess(input))
    const to = await findTargets(input, api)
    if ('eventId' in wanted) return replayOne(input, api, wanted.eventId, to)
    const { source, ...chosen } = wanted
    const { id: sourceId } = await findSource(api, source)
    return replayMany(input, api, { sourceId, ...chosen, ...to })
  },
}

async function replayOne(
  { options, output }: CommandInput,
  api: ApiClient,
  eventId: string,
  to: Targets,
): Promise<void> {
  const acceptUnverified = options['accept-unverified'] === true
  const body = { ...to, acceptUnverified }
  const path = `/events/${eventId}/replay`
  const made = await api<{ replayId: string; deliveries: Delivery[] }>('POST', path, body)
  const count = pluralize(made.deliveries.length, 'connection')
  output.result(`Replaying ${eventId} to ${count}\n`, made)
}

async function replayMany(
  { options, output }: CommandInput,
  api: ApiClient,
  wanted: object,
): Promise<number | void> {
  const isAwaited = options['no-wait'] !== true
  const stopping = new AbortController()
  const { signal } = stopping
  // Before the replay starts, so that Ctrl+C always cancels it.
  if (isAwaited) void stopSignal().then(() => stopping.abort())
  const begun = await api<Replay>('POST', '/replays', wanted)
  if (!isAwaited) return output.result(`${begun.id}\n`, begun)
  output.progress(`Running ${begun.id}: Ctrl+C cancels it`)
  let last = ''
  const replay = await followReplay(api, begun, {
    signal,
    pause: (ms) => setTimeout(ms, undefined, { signal }).catch(() => {}),
    onProgress(now) {
      const line = progressText(now)
      if (line !== last) output.progress(line)
      last = line
    },
  })
  output.result(outcomeText(replay), replay)
  if (replay.state === 'done') return 0
  return signal.aborted ? INTERRUPTED : FAILED
}

function parseReplay(input: CommandInput) {
  const { args, options } = input
  const { source, 'per-second': perSecond } = options
  const ofMany = [...Object.keys(eventFilterOptions), 'all-connections', 'per-second', 'no-wait']
  if (typeof source !== 'string') {
    const foreign = ofMany.find((option) => options[option] !== undefined)
    if (foreign !== undefined) throw usageError(`--${foreign} requires --source`)
    if (args.length > 0) return { eventId: parseEventId(input) }
    throw usageError('Nothing to replay: pass an EVENT, or --source with --since')
  }
  if (args.length > 0) throw usageError('Use either an EVENT or --source, not both')
  if (options['accept-unverified'] === true) {
    throw usageError('--accept-unverified applies to a single EVENT that you have inspected')
  }
  const chosen = parseEventFilter(input, systemClock.now())
  if (chosen.from === undefined) {
    throw usageError('--source requires a start time: add --since, such as --since 2h')
  }
  if (perSecond !== undefined && !/^[1-9]\d{0,2}$/.test(String(perSecond))) {
    throw usageError('--per-second must be a number from 1 to 500')
  }
  const isToAll = options['all-connections'] === true
  return {
    source,
    ...chosen,
    ...(isToAll && { allConnections: true }),
    ...(perSecond !== undefined && { perSecond: Number(perSecond) }),
  }
}

async function findTargets({ lists }: CommandInput, api: ApiClient): Promise<Targets> {
  const { to = [] } = lists
  if (to.length === 0) return {}
  const connectionIds: string[] = []
  for (const given of to) connectionIds.push((await findConnection(api, given)).id)
  return { connectionIds }
}
