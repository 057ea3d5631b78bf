/**
 * Goes on with the replays that are due, a step at a time: chooses some events and writes that down,
 * replays them, and writes what came of it together with when to go on. Any number of runners share
 * the work; each delivery knows the replay that began it, so that a step done twice has no effect.
 */
import type { Clock } from '@strongroom/kit/clock'
import type { Log } from '@strongroom/kit/log'
import type { DataLayer } from '../db/data-layer.ts'
import { Refused } from '../db/refused.ts'
import type { Timers } from '../delivery/timers.ts'
import type { Replay, ReplayStep, ReplayTask } from '../items/replay.ts'
import { chooseStep } from './choose-step.ts'

const POLL_MS = 1_000
/** A step is a second's worth of deliveries; after this somebody else goes on with it. */
const LEASE_MS = 90_000
/** Each is some transactions. */
const AT_ONCE = 5

export interface ReplayRunner {
  start(): void
  /** There is a replay to begin with: once started, looks at once instead of at the next poll. */
  hint(): void
  /** Does what is due now: one step of each replay. */
  runOnce(): Promise<void>
  /** Ends the steps that have begun, and resolves. */
  close(): Promise<void>
}

export function createReplayRunner(deps: {
  layer: Pick<DataLayer, 'replays' | 'events' | 'connections' | 'deliveries' | 'stats'>
  clock: Clock
  timers: Timers
  log: Log
  /** Deliveries are due. */
  onReplayed(): void
}): ReplayRunner {
  const { layer, clock, timers, log } = deps
  const { replays } = layer
  let running: Promise<void> | undefined
  let isStarted = false
  let stopPolling = () => {}

  async function goOn(task: ReplayTask): Promise<void> {
    const startedAt = clock.now()
    const leased = await replays.claim(task, startedAt + LEASE_MS)
    if (!leased) return
    const replay = await withStep(leased)
    if (!replay?.step) return replays.end(leased)
    const connectionIds = await connectionsLeft(replay)
    if (connectionIds.length === 0) {
      await replays.cancel(replay.userId, replay.replayId)
      return replays.end(leased)
    }
    const results = await replayEvents({ ...replay, connectionIds }, replay.step)
    if (results.replayed > 0) deps.onReplayed()
    const tookMs = (results.replayed / replay.perSecond) * 1000
    await replays.advance(replay, leased, { results, nextAt: startedAt + Math.ceil(tookMs) })
  }

  /** With the step that was begun and not ended, or a new one; undefined if it is over. */
  async function withStep({ userId, replayId }: ReplayTask): Promise<Replay | undefined> {
    for (;;) {
      const replay = await replays.get(userId, replayId)
      if (replay?.state !== 'running') return undefined
      if (replay.step) return replay
      const begun = await replays.begin(replay, await chooseStep(replay, layer.events))
      // Otherwise it was cancelled meanwhile, or begun by one who lost its lease.
      if (begun) return begun
    }
  }

  /** To one that was deleted since, events that were delivered to it would only fail. */
  async function connectionsLeft({ sourceId, connectionIds }: Replay): Promise<string[]> {
    const there = await layer.connections.listBySource(sourceId)
    return connectionIds.filter((id) => there.some(({ connectionId }) => connectionId === id))
  }

  async function replayEvents(replay: Replay, { events }: ReplayStep) {
    const results = { replayed: 0, runOpen: 0, gone: 0 }
    for (let from = 0; from < events.length; from += AT_ONCE) {
      const some = events.slice(from, from + AT_ONCE)
      const outcomes = await Promise.all(some.map((event) => replayEvent(replay, event)))
      for (const outcome of outcomes.flat()) results[outcome] += 1
    }
    return results
  }

  /** One after the other: they would meet at the event. */
  async function replayEvent(
    { replayId, sourceId, userId, connectionIds }: Replay,
    { eventId, receivedAt }: ReplayStep['events'][number],
  ): Promise<('replayed' | 'runOpen' | 'gone')[]> {
    const outcomes: ('replayed' | 'runOpen')[] = []
    await layer.stats.touch({ sourceId, userId, receivedAt })
    for (const connectionId of connectionIds) {
      try {
        await layer.deliveries.replay(eventId, connectionId, { replayId })
        outcomes.push('replayed')
      } catch (error) {
        if (!(error instanceof Refused)) throw error
        if (error.reason === 'run_open') outcomes.push('runOpen')
        // Expired or deleted since it was chosen, for all connections alike.
        else if (error.reason === 'not_found') return ['gone']
        else throw error
      }
    }
    return outcomes
  }

  async function runDue(): Promise<void> {
    const due = await replays.listDue()
    await Promise.all(
      due.map((task) =>
        goOn(task).catch((error: unknown) => {
          // Its lease ends by itself, and then it is due again.
          log.error('A step of a replay failed and is tried again', { error })
        }),
      ),
    )
  }

  /** One at a time: a replay that is being gone on with is not due again. */
  function run(): Promise<void> {
    running ??= runDue().finally(() => (running = undefined))
    return running
  }

  function look(): void {
    if (!isStarted) return
    run().catch((error: unknown) => {
      log.error('Replays cannot be read: they are tried again', { error })
    })
  }

  function poll(): void {
    isStarted = true
    stopPolling = timers.after(POLL_MS, poll)
    look()
  }

  return {
    start: poll,
    hint: look,
    runOnce: run,
    async close() {
      isStarted = false
      stopPolling()
      await running?.catch(() => {})
    },
  }
}
