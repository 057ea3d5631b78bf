/**
 * Reads due tasks and passes them on, each only once at a time. Shards are read independently, and
 * reading continues while earlier tasks are still running.
 */
import { type Clock, isRecent } from '@strongroom/platform/clock'
import type { Log } from '@strongroom/kit/log'
import type { Stores } from '../stores.ts'
import type { DueTask } from '../queue/tasks.ts'
import type { WorkerMetrics } from './metrics.ts'
import type { WorkerConfig } from './config.ts'

/** A failed task is not retried for this long. */
const RETRY_DELAY_MS = 5_000

export interface PollerDeps {
  stores: Pick<Stores, 'queue' | 'shards'>
  clock: Clock
  log: Log
  metrics: WorkerMetrics
  config: Pick<WorkerConfig, 'pageSize'>
  /** Resolves when the task is not due any more. */
  handle(task: DueTask): Promise<void>
  /** How many more tasks to read from a partition now. */
  capacity(partition: string): number
}

export interface Poller {
  /**
   * Reads the shard of a source or connection, or all shards, until nothing is due. A shard that is
   * already being read is read once more afterwards.
   */
  read(id?: string): Promise<void>
  /** Reads all shards now, even those being read, so that a slow task does not delay others. */
  poll(): Promise<void>
  /** Continues shards that stopped for lack of capacity. */
  resume(): void
  stop(): void
}

interface Shard {
  /** Sort keys of tasks that are running (undefined) or failed, and when they failed. */
  busy: Map<string, number | undefined>
  readers: number
  /** It was requested while being read. */
  isRequested: boolean
  /** Tasks that were read and are still due, until the dispatcher has claimed or routed them. */
  claiming: number
  /** Invalid items found by the last read. */
  damaged: number
}

export function createPoller(deps: PollerDeps): Poller {
  const { stores, clock, log, metrics, config } = deps
  const shards = new Map<number, Shard>()
  const starved = new Set<number>()
  let isStopped = false

  function shardOf(number: number): Shard {
    let shard = shards.get(number)
    if (!shard) {
      shard = { busy: new Map(), readers: 0, isRequested: false, claiming: 0, damaged: 0 }
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
      log.error('task failed, retrying', { kind: task.kind, error })
      shard.busy.set(task.SK, clock.now())
    }
  }

  /** Due tasks that are not running, and whether there may be more. */
  async function list(number: number, shard: Shard) {
    for (const [id, failedAt] of shard.busy) {
      if (failedAt !== undefined && !isRecent(clock, failedAt, RETRY_DELAY_MS))
        shard.busy.delete(id)
    }
    // Running and invalid items sort first, so read that many more.
    const limit =
      Math.min(config.pageSize, capacity(number, shard)) + shard.busy.size + shard.damaged
    const { tasks, damaged } = await stores.queue.listDue(number, { limit })
    if (damaged.length > shard.damaged) {
      log.warn('queue contains invalid items. Check the partition.', {
        shard: number,
        items: damaged.length,
      })
    }
    shard.damaged = damaged.length
    const fresh = tasks.filter((task) => !shard.busy.has(task.SK))
    return { fresh, hasMore: tasks.length + damaged.length >= limit }
  }

  async function readShard(number: number, { force }: { force: boolean }): Promise<void> {
    const shard = shardOf(number)
    if (shard.readers > 0 && !force) {
      shard.isRequested = true
      return
    }
    shard.readers += 1
    try {
      while (await readPage(number, shard));
    } finally {
      shard.readers -= 1
    }
  }

  /** True if there may be more due tasks. */
  async function readPage(number: number, shard: Shard): Promise<boolean> {
    if (isStopped) return false
    if (capacity(number, shard) <= 0) {
      starved.add(number)
      return false
    }
    shard.isRequested = false
    const { fresh, hasMore } = await list(number, shard)
    // Other kinds may take long, so they are not awaited.
    const isQuick = ({ kind }: DueTask) => kind === 'route' || kind === 'deliver'
    const slow = fresh.filter((task) => !isQuick(task))
    const quick = fresh.filter(isQuick)
    for (const task of slow) void handle(task, shard)
    shard.claiming += quick.length
    await Promise.all(quick.map((task) => handle(task, shard).finally(() => (shard.claiming -= 1))))
    return !isStopped && (shard.isRequested || (hasMore && quick.length > 0))
  }

  return {
    async read(id) {
      const numbers = id === undefined ? await allShards() : [await stores.shards.shardFor(id)]
      await Promise.all(numbers.map((number) => readShard(number, { force: false })))
    },
    async poll() {
      await Promise.all((await allShards()).map((number) => readShard(number, { force: true })))
    },
    resume,
    stop() {
      isStopped = true
    },
  }

  function resume(): void {
    for (const number of starved) {
      if (capacity(number, shardOf(number)) <= 0) continue
      starved.delete(number)
      // The next poll reads it again and logs a failure.
      readShard(number, { force: false }).catch(() => {})
    }
  }

  function capacity(number: number, { claiming }: Shard): number {
    return deps.capacity(`DUE#${number}`) - claiming
  }

  async function allShards(): Promise<number[]> {
    return Array.from({ length: await stores.shards.count() }, (_, number) => number)
  }
}
