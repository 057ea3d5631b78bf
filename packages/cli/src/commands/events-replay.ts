/** `strongroom events replay`: one event, or all that a filter finds, delivered again. */
import { setTimeout } from 'node:timers/promises'
import { systemClock } from '@strongroom/kit/clock'
import { type Command, type CommandInput, UsageError } from '../command.ts'
import { accessIn, atFerryhook, ferryhookAt } from '../ferryhook/api.ts'
import { chosenIn, choosing } from '../ferryhook/chosen-events.ts'
import { findConnection, findSource } from '../ferryhook/find.ts'
import { followReplay } from '../ferryhook/follow-replay.ts'
import { outcomeText, progressText } from '../ferryhook/replay-text.ts'
import type { Delivery, Replay } from '../ferryhook/views.ts'
import { counted } from '../for-people.ts'
import type { Ask } from '../service-api.ts'
import { stopSignal } from '../stop-signal.ts'
import { eventIn } from './events.ts'

const FAILED = 1
/** What shells expect of a process that Ctrl+C has ended. */
const INTERRUPTED = 130

/** All connections of the source unless given. */
interface Targets {
  connectionIds?: string[]
}

export const eventsReplay: Command = {
  name: 'events replay',
  args: '[EVENT]',
  summary: 'Deliver an event again, or with --source all that are chosen',
  options: {
    source: { value: 'SOURCE', summary: 'Replay the events of this source; needs --since' },
    ...choosing,
    to: {
      value: 'CONNECTION',
      multiple: true,
      summary: 'Only to this connection; may be given more than once',
    },
    'per-second': { value: 'N', summary: 'With --source: how many deliveries a second (50)' },
    'no-wait': { summary: 'With --source: do not wait until it is done' },
    'accept-unverified': { summary: 'Deliver an event although its signature was not right' },
    ...atFerryhook,
  },
  about: `An event is filtered and transformed as its connections say now, and signed anew; the attempts before
stay on record. With --source the server works from the oldest event to the newest, also if it is
started again meanwhile; Ctrl+C cancels that (exit code ${INTERRUPTED}), and what was replayed stays so. With
--no-wait "strongroom replays list" tells how far it is.`,
  async run(input) {
    const wanted = wantedIn(input)
    const ask = ferryhookAt(accessIn(input))
    const to = await connectionsIn(input, ask)
    if ('eventId' in wanted) return replayOne(input, ask, wanted.eventId, to)
    const { source, ...chosen } = wanted
    const { id: sourceId } = await findSource(ask, source)
    return replayMany(input, ask, { sourceId, ...chosen, ...to })
  },
}

async function replayOne(
  { options, output }: CommandInput,
  ask: Ask,
  eventId: string,
  to: Targets,
): Promise<void> {
  const acceptUnverified = options['accept-unverified'] === true
  const body = { ...to, acceptUnverified }
  const path = `/events/${eventId}/replay`
  const made = await ask<{ replayId: string; deliveries: Delivery[] }>('POST', path, body)
  const count = counted(made.deliveries.length, 'connection')
  output.result(`${eventId} is on its way to ${count} again\n`, made)
}

async function replayMany(
  { options, output }: CommandInput,
  ask: Ask,
  wanted: object,
): Promise<number | void> {
  const isAwaited = options['no-wait'] !== true
  const stopping = new AbortController()
  const { signal } = stopping
  // Before it begins: there must be no moment at which Ctrl+C leaves it behind.
  if (isAwaited) void stopSignal().then(() => stopping.abort())
  const begun = await ask<Replay>('POST', '/replays', wanted)
  if (!isAwaited) return output.result(`${begun.id}\n`, begun)
  output.progress(`${begun.id} is under way: Ctrl+C cancels it`)
  let last = ''
  const replay = await followReplay(ask, begun, {
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

function wantedIn(input: CommandInput) {
  const { args, options } = input
  const { source, 'per-second': perSecond } = options
  const ofMany = [...Object.keys(choosing), 'per-second', 'no-wait']
  if (typeof source !== 'string') {
    const foreign = ofMany.find((option) => options[option] !== undefined)
    if (foreign !== undefined) throw new UsageError(`--${foreign} goes with --source`)
    if (args.length > 0) return { eventId: eventIn(input) }
    throw new UsageError('Say what to replay: give an EVENT, or --source with --since')
  }
  if (args.length > 0) throw new UsageError('Give either an EVENT or --source, not both')
  if (options['accept-unverified'] === true) {
    throw new UsageError('--accept-unverified is for one EVENT: somebody must have looked at it')
  }
  const chosen = chosenIn(input, systemClock.now())
  if (chosen.from === undefined) {
    throw new UsageError('--source takes a beginning: add --since, such as --since 2h')
  }
  if (perSecond !== undefined && !/^[1-9]\d{0,2}$/.test(String(perSecond))) {
    throw new UsageError('--per-second must be a number from 1 to 500')
  }
  return { source, ...chosen, ...(perSecond !== undefined && { perSecond: Number(perSecond) }) }
}

async function connectionsIn({ lists }: CommandInput, ask: Ask): Promise<Targets> {
  const { to = [] } = lists
  if (to.length === 0) return {}
  const connectionIds: string[] = []
  for (const given of to) connectionIds.push((await findConnection(ask, given)).id)
  return { connectionIds }
}
