/**
 * Writes the figures of a process, once a minute: the whole hour so far, so a failed write loses nothing
 * that the next one does not write. Requests never wait for it.
 */
import { hostname } from 'node:os'
import type { Log } from '@strongroom/kit/log'
import { createLogThrottle } from '@strongroom/kit/log-throttle'
import type { Metrics } from '@strongroom/kit/metrics'
import { newId } from '@strongroom/kit/ids'
import type { Clock } from '@strongroom/platform/clock'
import type { StartTimer } from '@strongroom/platform/timers'
import {
  encodeHour,
  type FiguresItem,
  type HourValues,
  hourOf,
  MINUTES_PER_HOUR,
  RETENTION_SECONDS,
} from './item.ts'
import { createSampler } from './sampler.ts'
import type { FiguresStore } from './store.ts'

const MINUTE_MS = 60_000
const QUIET_MS = 3_600_000

export interface FiguresRecorder {
  /** Samples and writes now, without waiting for the minute. */
  flush(): Promise<void>
  /** Writes what is not written yet, and that the process ended. */
  close(): Promise<void>
}

export interface RecorderOptions {
  store: Pick<FiguresStore, 'put'>
  metrics: Pick<Metrics, 'registry'>
  role: FiguresItem['role']
  version: string
  clock: Clock
  startTimer: StartTimer
  log: Log
  /** What is known beyond metrics, such as the work that is due. Failures leave it out. */
  gauges?: () => Promise<Readonly<Record<string, number>>>
}

export function startFiguresRecorder(options: RecorderOptions): FiguresRecorder {
  const { store, metrics, role, version, clock, startTimer, log } = options
  const processId = newId('prc')
  const startedAt = new Date(clock.now()).toISOString()
  const sample = createSampler(metrics)
  const throttle = createLogThrottle({ clock, quietMs: QUIET_MS })
  let hour = ''
  let values: HourValues = { counts: {}, gauges: {} }
  let stopTimer = () => {}
  let running: Promise<void> | undefined
  /** What could not be written at the end of its hour is written with the next one. */
  let unwritten: FiguresItem | undefined
  let isClosed = false

  const logFailure = (message: string, error: unknown) =>
    throttle(message, (suppressed) => log.warn(message, { error, suppressed }))

  async function record(moment: number, endedAt?: string): Promise<void> {
    const { counts, gauges, dropped } = await sample(await readGauges())
    if (hourOf(moment) !== hour) {
      hour = hourOf(moment)
      values = { counts: {}, gauges: {} }
    }
    const minute = new Date(moment).getUTCMinutes()
    for (const [name, count] of counts) {
      const series = (values.counts[name] ??= Array.from({ length: MINUTES_PER_HOUR }, () => 0))
      series[minute] = (series[minute] ?? 0) + count
    }
    for (const [name, value] of gauges) {
      const series = (values.gauges[name] ??= Array.from({ length: MINUTES_PER_HOUR }, () => null))
      series[minute] = value
    }
    const encoded = encodeHour(values)
    const item: FiguresItem = {
      PK: 'FIGURES',
      SK: `${hour}#${processId}`,
      role,
      host: hostname().slice(0, 253),
      pid: process.pid,
      version,
      startedAt,
      writtenAt: new Date(clock.now()).toISOString(),
      ...(endedAt !== undefined && { endedAt }),
      dropped: dropped + encoded.dropped,
      figures: encoded.figures,
      expiresAt: Math.floor(moment / 1000) + RETENTION_SECONDS,
    }
    const late = unwritten?.SK === item.SK ? undefined : unwritten
    unwritten = late ?? item
    if (late) await store.put(late)
    unwritten = item
    await store.put(item)
    unwritten = undefined
  }

  async function readGauges(): Promise<Readonly<Record<string, number>>> {
    try {
      return (await options.gauges?.()) ?? {}
    } catch (error) {
      logFailure('figures of the services could not be read', error)
      return {}
    }
  }

  /** One after the other: two samples at the same time would count the same requests twice. */
  function enqueue(moment: number, endedAt?: string): Promise<void> {
    const before = running ?? Promise.resolve()
    running = before
      .then(() => record(moment, endedAt))
      .catch((error: unknown) => logFailure('figures could not be written', error))
    return running
  }

  function schedule(): void {
    if (isClosed) return
    const wait = MINUTE_MS - (clock.now() % MINUTE_MS)
    stopTimer = startTimer(wait, () => {
      // What was counted until now belongs to the minute that has just ended.
      void enqueue(clock.now() - 1).then(schedule)
    })
  }
  // The first item tells that the process runs.
  void enqueue(clock.now())
  schedule()

  return {
    flush: () => enqueue(clock.now()),
    async close() {
      isClosed = true
      stopTimer()
      await enqueue(clock.now(), new Date(clock.now()).toISOString())
    },
  }
}
