/**
 * Reads due tasks and passes them on, each only once at a time. Shards are read independently, and
 * reading continues while earlier tasks are still running. Tasks of many users share a shard, sorted
 * by due time: each user may have some of them running, and further ones are passed over, so that a
 * user with a large backlog does not delay the others.
 */
import { type Clock, isRecent } from '@strongroom/platform/clock'
import type { Item } from '@strongroom/kit/db'
import type { Log } from '@strongroom/kit/log'
import type { WorkScheduler } from '../sandbox/work-scheduler.ts'
import type { Stores } from '../stores.ts'
import type { DeliveryTask, DueTask, RouteTask } from '../queue/tasks.ts'
import type { WorkerMetrics } from './metrics.ts'
import type { WorkerConfig } from './config.ts'

/** A failed task is not retried for this long. */
const RETRY_DELAY_MS = 5_000
/** Tasks that a poll reads from a shard to find those of users without a backlog. */
const MAX_READ_AHEAD = 5_000
/** What it costs to start a task and to read a page of them, in units of the work scheduler. */
export const UNITS_PER_TASK = 3_000
const UNITS_PER_PAGE = 25_000
/** Further tasks of a backlog are read when there is room for this many, because each read costs CPU. */
const MIN_BACKLOG_READ = 16

export interface PollerDeps {
  stores: Pick<Stores, 'queue' | 'shards'>
  clock: Clock
  log: Log
  metrics: WorkerMetrics
  config: Pick<WorkerConfig, 'pageSize' | 'maxInFlight'>
  scheduler: Pick<WorkScheduler, 'run'>
  /** Resolves when the task is not due any more. */
  handle(task: DueTask): Promise<void>
  /** How many more tasks of a user to read from a partition now. */
  capacity(partition: string, userId: string): number
}

/** Something was stored in the shard of `id`; `task` if it is known what. */
export interface NewTasks {
  id: string
  task?: RouteTask | undefined
}

export interface Poller {
  /**
   * Reads the shard of new tasks, or all shards, until nothing is due. A shard that is already being
   * read is read once more afterwards.
   */
  read(added?: NewTasks): Promise<void>
  /** Reads all shards now, past the tasks of users without capacity. */
  poll(): Promise<void>
  /** Room for one more task of a user, until the returned function is called; undefined if there is none. */
  reserve(source: Pick<RouteTask, 'sourceId' | 'userId'>): Promise<(() => void) | undefined>
  /** Continues with users whose tasks were passed over for lack of capacity. */
  resume(): void
  stop(): void
}

interface Shard {
  partition: string
  number: number
  /** Sort keys of tasks that are running (undefined) or failed, and when they failed. */
  busy: Map<string, number | undefined>
  readers: number
  /** Whether one of the readers reads ahead. */
  isReadAhead: boolean
  /** It was requested while being read. */
  isRequested: boolean
  /** By user: tasks that were read and are still due, until they were claimed or routed. */
  claiming: Map<string, number>
  /** Users who have more due tasks than capacity. */
  backlogged: Set<string>
  /** Where the next poll continues after the first page, if the last one did not reach the end. */
  aheadFrom: Item | undefined
  /** Invalid items found by the last read. */
  damaged: number
}

/** `start`: until a user has no capacity. `ahead`: past the tasks of such users. */
type Reach = 'start' | 'ahead'

/** Other kinds may take long, and the dispatcher limits them itself. */
type QuickTask = RouteTask | DeliveryTask

function isQuick(task: DueTask): task is QuickTask {
  return task.kind === 'route' || task.kind === 'deliver'
}

/** An item as it is stored, whose task is running or has just failed. */
function isRunning({ SK }: Item, { busy }: Shard): boolean {
  return busy.has(SK as string)
}

/** The same for a user who has more due tasks than capacity. */
function isBacklogged({ kind, userId }: Item, { backlogged }: Shard): boolean {
  return (kind === 'route' || kind === 'deliver') && backlogged.has(userId as string)
}

export function createPoller(deps: PollerDeps): Poller {
  const { stores, clock, log, metrics, config } = deps
  const shards = new Map<number, Shard>()
  let isStopped = false

  function shardOf(number: number): Shard {
    let shard = shards.get(number)
    if (!shard) {
      shard = {
        partition: `DUE#${number}`,
        number,
        busy: new Map(),
        readers: 0,
        isReadAhead: false,
        isRequested: false,
        claiming: new Map(),
        backlogged: new Set(),
        aheadFrom: undefined,
        damaged: 0,
      }
      shards.set(number, shard)
    }
    return shard
  }

  function capacity({ partition, claiming }: Shard, userId: string): number {
    return deps.capacity(partition, userId) - (claiming.get(userId) ?? 0)
  }

  /** How many tasks of users with a backlog can run now. */
  function backlogCapacity(shard: Shard): number {
    let sum = 0
    for (const userId of shard.backlogged) sum += Math.max(0, capacity(shard, userId))
    return sum
  }

  /** Every attempt that ends makes more room, and asks again. */
  function canReadBacklog(shard: Shard): boolean {
    const enough = Math.min(MIN_BACKLOG_READ, Math.ceil(config.maxInFlight / 2))
    return shard.backlogged.size > 0 && backlogCapacity(shard) >= enough
  }

  /** Many tasks may be due at once, and reading the embedded store does not yield by itself. */
  function takeTurn(owner: string, units: number): Promise<void> {
    return deps.scheduler.run(owner, (budget) => budget.spend(units))
  }

  async function handle(task: DueTask, shard: Shard, turn?: () => Promise<void>): Promise<void> {
    shard.busy.set(task.SK, undefined)
    try {
      await turn?.()
      // The worker may have closed meanwhile; another one takes the task.
      if (isStopped) return
      await deps.handle(task)
      shard.busy.delete(task.SK)
    } catch (error) {
      metrics.taskFailed(task.kind)
      log.error('task failed, retrying', { kind: task.kind, error })
      shard.busy.set(task.SK, clock.now())
    }
  }

  async function claim(task: QuickTask, shard: Shard): Promise<void> {
    const { userId } = task
    countClaiming(shard, userId, 1)
    await handle(task, shard, () => takeTurn(userId, UNITS_PER_TASK))
    countClaiming(shard, userId, -1)
  }

  function countClaiming({ claiming }: Shard, userId: string, by: 1 | -1): void {
    const count = (claiming.get(userId) ?? 0) + by
    if (count > 0) claiming.set(userId, count)
    else claiming.delete(userId)
  }

  /** Starts the tasks of users with capacity. Returns those that their readers await. */
  function start(tasks: readonly DueTask[], shard: Shard): Promise<void>[] {
    const started: Promise<void>[] = []
    for (const task of tasks) {
      if (shard.busy.has(task.SK)) continue
      if (!isQuick(task)) {
        void handle(task, shard)
        continue
      }
      const { userId } = task
      // The tasks of one user are started in their order.
      if (shard.backlogged.has(userId)) continue
      if (capacity(shard, userId) > 0) started.push(claim(task, shard))
      else shard.backlogged.add(userId)
    }
    return started
  }

  async function list(shard: Shard, limit: number, after: Item | undefined) {
    for (const [id, failedAt] of shard.busy) {
      if (failedAt !== undefined && !isRecent(clock, failedAt, RETRY_DELAY_MS))
        shard.busy.delete(id)
    }
    // At the start, running and invalid items come first, so read that many more.
    const skipped = after ? 0 : shard.busy.size + shard.damaged
    const page = await stores.queue.listDue(shard.number, {
      limit: limit + skipped,
      after,
      isSkipped: (item) => isRunning(item, shard) || isBacklogged(item, shard),
    })
    const { damaged } = page
    if (damaged.length > shard.damaged) {
      log.warn('queue contains invalid items. Check the partition.', {
        shard: shard.number,
        items: damaged.length,
      })
    }
    if (!after) shard.damaged = damaged.length
    return page
  }

  /** Reads from the start of the shard. */
  async function readPages(shard: Shard, reach: Reach): Promise<Promise<void>[]> {
    const started: Promise<void>[] = []
    let limit = Math.min(config.pageSize, backlogCapacity(shard) || config.pageSize)
    let after: Item | undefined
    let read = 0
    shard.backlogged.clear()
    do {
      if (after) await takeTurn(shard.partition, UNITS_PER_PAGE)
      const { tasks, read: items, next } = await list(shard, limit, after)
      started.push(...start(tasks, shard))
      after = next
      read += items
      limit = config.pageSize
      if (after) markBacklogged(tasks, shard)
      const readsOn = reach === 'ahead' || shard.backlogged.size === 0
      if (isStopped || !readsOn || read >= MAX_READ_AHEAD) break
      if (reach === 'ahead' && after && shard.aheadFrom) {
        after = shard.aheadFrom
        shard.aheadFrom = undefined
      }
    } while (after)
    if (reach === 'ahead') shard.aheadFrom = after
    return started
  }

  /** Users of a page that is not the last, and who have no capacity left, may have more tasks. */
  function markBacklogged(tasks: readonly DueTask[], shard: Shard): void {
    for (const task of tasks) {
      if (isQuick(task) && capacity(shard, task.userId) <= 0) shard.backlogged.add(task.userId)
    }
  }

  /** Reading ahead takes long, so a poll leaves a shard to an earlier one that has not finished. */
  async function readAhead(shard: Shard): Promise<void> {
    if (isStopped || shard.isReadAhead) return
    shard.isReadAhead = true
    const started = await readWhileRequested(shard, 'ahead').finally(
      () => (shard.isReadAhead = false),
    )
    await finish(shard, started)
  }

  async function readShard(shard: Shard): Promise<void> {
    if (isStopped) return
    if (shard.readers > 0) {
      shard.isRequested = true
      return
    }
    await finish(shard, await readWhileRequested(shard, 'start'))
  }

  async function readWhileRequested(shard: Shard, reach: Reach): Promise<Promise<void>[]> {
    const started: Promise<void>[] = []
    let next = reach
    shard.readers += 1
    try {
      do {
        shard.isRequested = false
        started.push(...(await readPages(shard, next)))
        next = 'start'
        if (isStopped) break
      } while (shard.isRequested)
      return started
    } finally {
      shard.readers -= 1
    }
  }

  async function finish(shard: Shard, started: readonly Promise<void>[]): Promise<void> {
    // Others may read the shard meanwhile, so a slow task delays only its own user.
    await Promise.all(started)
    if (canReadBacklog(shard)) await readShard(shard)
  }

  return {
    async read(added) {
      if (!added) {
        await Promise.all((await allShards()).map((shard) => readShard(shard)))
        return
      }
      const { id, task } = added
      const shard = shardOf(await stores.shards.shardFor(id))
      // A read that is running may be past it, and a backlog may be before it.
      const isDelayed = shard.readers > 0 || shard.backlogged.size > 0
      if (task && isDelayed) await Promise.all(start([task], shard))
      else await readShard(shard)
    },
    async poll() {
      await Promise.all((await allShards()).map((shard) => readAhead(shard)))
    },
    async reserve({ sourceId, userId }) {
      const shard = shardOf(await stores.shards.shardFor(sourceId))
      // The tasks of one user are started in their order.
      if (isStopped || shard.backlogged.has(userId) || capacity(shard, userId) <= 0)
        return undefined
      countClaiming(shard, userId, 1)
      return () => countClaiming(shard, userId, -1)
    },
    resume() {
      for (const shard of shards.values()) {
        if (shard.readers > 0 || !canReadBacklog(shard)) continue
        // The next poll reads it again and logs a failure.
        readShard(shard).catch(() => {})
      }
    },
    stop() {
      isStopped = true
    },
  }

  async function allShards(): Promise<Shard[]> {
    return Array.from({ length: await stores.shards.count() }, (_, number) => shardOf(number))
  }
}
