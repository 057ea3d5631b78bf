/** Chooses the events that a replay goes on with. */
import { newId } from '@strongroom/kit/ids'
import type { DataLayer } from '../db/data-layer.ts'
import type { EventPosition } from '../db/events.ts'
import { searchFor } from '../events/search.ts'
import { type Event, isUnverified } from '../items/event.ts'
import { mostInStep, type Replay, type ReplayStep } from '../items/replay.ts'

/** A filter may leave out nearly everything: so many events are looked at in one step. */
const MOST_EXAMINED = 1_000
const READ_AT_ONCE = 100

/** A second's worth, so that whoever cancels does not wait long. */
export async function chooseStep(
  replay: Replay,
  events: Pick<DataLayer['events'], 'listFrom' | 'getBody'>,
): Promise<ReplayStep> {
  const { sourceId, to, connectionIds, perSecond } = replay
  const most = Math.max(1, Math.floor(Math.min(perSecond, mostInStep) / connectionIds.length))
  const search = searchFor(replay, events)
  const chosen: ReplayStep['events'] = []
  let last: Pick<Event, 'receivedAt' | 'eventId'> | undefined
  let [examined, unverified] = [0, 0]
  let from: EventPosition | undefined = replay.at ?? { receivedAt: replay.from }
  const isEnough = () =>
    chosen.length === most || examined >= MOST_EXAMINED || (search?.isSpent() ?? false)

  while (from && !isEnough()) {
    const page = await events.listFrom(sourceId, from, { to, limit: READ_AT_ONCE })
    from = page.next
    for (const event of page.items) {
      last = { receivedAt: event.receivedAt, eventId: event.eventId }
      examined += 1
      const isWanted = await matches(event)
      if (isWanted && isUnverified(event)) unverified += 1
      else if (isWanted) chosen.push(last)
      if (!isEnough()) continue
      if (event !== page.items.at(-1)) from = last
      break
    }
  }

  async function matches(event: Event): Promise<boolean> {
    if (replay.status !== undefined && event.status !== replay.status) return false
    return !search || search.matches(event)
  }

  return {
    stepId: newId('stp'),
    events: chosen,
    ...(last && { upTo: last }),
    examined,
    unverified,
    isLast: from === undefined,
  }
}
