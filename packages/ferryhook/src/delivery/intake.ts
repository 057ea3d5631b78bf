/**
 * Reads what is due and hands it out, each task once at a time. Shards are read independently of each
 * other, and reading goes on while what was handed out is still being done.
 */
import { type Clock, isRecent } from '@strongroom/kit/clock'
import type { Log } from '@strongroom/kit/log'
import type { DataLayer } from '../db/data-layer.ts'
import type { DueTask } from '../items/task.ts'
import type { WorkerMetrics } from './metrics.ts'
import type { WorkerSettings } from './settings.ts'

/** A task that failed is left alone for so long. */
const REST_MS = 5_000

export interface IntakeDeps {
  db: Pick<DataLayer, 'dueWork' | 'dueShards'>
  clock: Clock
  log: Log
  metrics: WorkerMetrics
  settings: Pick<WorkerSettings, 'page'>
  /** Resolves when the task is no longer due: taken, moved or done. */
  handle(task: DueTask): Promise<void>
  /** How many more tasks may be taken now from a partition. */
  vacancies(from: string): number
}

export interface Intake {
  /**
   * Reads the shard of a source or connection, or all, until nothing is left to take. A shard that is
   * being read already is read once more after that.
   */
  read(id?: string): Promise<void>
  /** Reads all shards now, whatever else is going on: a task that takes long holds up no other. */
  readAnyway(): Promise<void>
  /** Goes on where there was no vacancy. */
  resume(): void
  stop(): void
}

interface Shard {
  /** Tasks that are being handled, or rest after a failure, and since when. */
  busy: Map<string, number | undefined>
  readers: number
  /** Somebody asked while it was being read. */
  again: boolean
  /** Tasks that are due until what is done with them is written. */
  beingTaken: number
  /** What is no task of ours, as often as it was seen last. */
  damaged: number
}

export function createIntake(deps: IntakeDeps): Intake {
  const { db, clock, log, metrics, settings } = deps
  const shards = new Map<number, Shard>()
  const starved = new Set<number>()
  let isStopped = false

  function shardOf(number: number): Shard {
    let shard = shards.get(number)
    if (!shard) {
      shard = { busy: new Map(), readers: 0, again: false, beingTaken: 0, damaged: 0 }
      shards.set(number, shard)
    }
    return shard
  }

  async function handle(task: DueTask, shard: Shard): Promise<void> {
    shard.busy.set(task.SK, undefined)
    try {
      await deps.handle(task)
      shard.busy.delete(task.SK)
    } catch (error) {
      metrics.taskFailed(task.kind)
      log.error('A task failed and is tried again', { kind: task.kind, error })
      shard.busy.set(task.SK, clock.now())
    }
  }

  /** Those that are due and not in hand; whether there may be more. */
  async function list(number: number, shard: Shard) {
    for (const [id, failedAt] of shard.busy) {
      if (failedAt !== undefined && !isRecent(clock, failedAt, REST_MS)) shard.busy.delete(id)
    }
    // What is in hand or of no use stands in front, and must not hide the rest.
    const limit =
      Math.min(settings.page, vacancies(number, shard)) + shard.busy.size + shard.damaged
    const { tasks, damaged } = await db.dueWork.listDue(number, { limit })
    if (damaged.length > shard.damaged) {
      log.warn('Items among the due work are no tasks: look at the partition', {
        shard: number,
        items: damaged.length,
      })
    }
    shard.damaged = damaged.length
    const fresh = tasks.filter((task) => !shard.busy.has(task.SK))
    return { fresh, more: tasks.length + damaged.length >= limit }
  }

  async function readShard(number: number, anyway: boolean): Promise<void> {
    const shard = shardOf(number)
    if (shard.readers > 0 && !anyway) {
      shard.again = true
      return
    }
    shard.readers += 1
    try {
      for (let more = true; more;) more = await readPage(number, shard)
    } finally {
      shard.readers -= 1
    }
  }

  /** True if there may be more to take. */
  async function readPage(number: number, shard: Shard): Promise<boolean> {
    if (isStopped) return false
    if (vacancies(number, shard) <= 0) {
      starved.add(number)
      return false
    }
    shard.again = false
    const { fresh, more } = await list(number, shard)
    // The others may take a while, and nobody waits for their end.
    const isQuick = ({ kind }: DueTask) => kind === 'route' || kind === 'deliver'
    const slow = fresh.filter((task) => !isQuick(task))
    const quick = fresh.filter(isQuick)
    for (const task of slow) void handle(task, shard)
    shard.beingTaken += quick.length
    await Promise.all(
      quick.map((task) => handle(task, shard).finally(() => (shard.beingTaken -= 1))),
    )
    return !isStopped && (shard.again || (more && quick.length > 0))
  }

  return {
    async read(id) {
      const wanted = id === undefined ? await all() : [await db.dueShards.of(id)]
      await Promise.all(wanted.map((number) => readShard(number, false)))
    },
    async readAnyway() {
      await Promise.all((await all()).map((number) => readShard(number, true)))
    },
    resume,
    stop() {
      isStopped = true
    },
  }

  function resume(): void {
    for (const number of starved) {
      if (vacancies(number, shardOf(number)) <= 0) continue
      starved.delete(number)
      // What cannot be read now is read with the next poll, which tells of it.
      readShard(number, false).catch(() => {})
    }
  }

  function vacancies(number: number, { beingTaken }: Shard): number {
    return deps.vacancies(`DUE#${number}`) - beingTaken
  }

  async function all(): Promise<number[]> {
    return Array.from({ length: await db.dueShards.count() }, (_, number) => number)
  }
}
