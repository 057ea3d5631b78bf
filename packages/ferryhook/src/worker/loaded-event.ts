/** An event that a worker is delivering to one or more connections. */
import type { AttemptOutcome, TaskOutcome, SettleResult } from '../deliveries/settlement.ts'
import { MAX_OUTCOMES } from '../deliveries/settlement.ts'
import type { Event } from '../events/item.ts'
import type { ReceivedEvent } from '../filters/received-event.ts'
import type { HeaderFields } from '../outbound/headers.ts'
import { isReplay, type LeasedTask, type WorkerTask } from '../queue/tasks.ts'
import type { Stores } from '../stores.ts'

/** Bodies up to this size are held while an event is delivered; larger ones only during attempts. */
const MAX_HELD_BODY_BYTES = 4_096

export interface LoadedEvent {
  readonly eventType: string | undefined
  /** As filters and transforms see it, with its body; null if the body was deleted. */
  received(): Promise<ReceivedEvent | null>
  /** It was written elsewhere; undefined if its state is unknown. */
  changed(event: Event | undefined): void
  /** These tasks are not stored; the claimed route task of the event stands for all of them. */
  hold(tasks: readonly LeasedTask[]): void
  /**
   * Writes an outcome. The transactions of an event run one after the other, because they would
   * conflict, and outcomes that wait meanwhile share the next one.
   */
  settle(task: WorkerTask, outcome: AttemptOutcome): Promise<SettleResult>
  /** Stores the tasks that are not stored, unless this is the only one of them. */
  store(task: WorkerTask): Promise<void>
}

interface Entry {
  /** Undefined only stores. */
  settling: TaskOutcome | undefined
  resolve(result: SettleResult): void
  reject(error: unknown): void
}

export interface LoadedEventDeps {
  events: Pick<Stores['events'], 'getBodyForTask'>
  settlement: Pick<Stores['settlement'], 'settleAll'>
}

export function createLoadedEvent(
  { events, settlement }: LoadedEventDeps,
  event: Event,
  /** If it is known. */
  body?: Uint8Array,
): LoadedEvent {
  const isSmall = event.bodyBytes <= MAX_HELD_BODY_BYTES
  const heldBody = isSmall ? body : undefined
  const unstored = new Set<LeasedTask>()
  const waiting: Entry[] = []
  let current: Event | undefined = event
  let received: Promise<ReceivedEvent | null> | undefined
  let large: WeakRef<ReceivedEvent> | undefined
  let isWriting = false
  /** Whether a write that failed may have stored the tasks that are not known to be stored. */
  let isUncertain = false

  async function read(): Promise<ReceivedEvent | null> {
    const bytes = heldBody ?? (await events.getBodyForTask(event))
    if (!bytes) return null
    return {
      id: event.eventId,
      receivedAt: event.receivedAt,
      method: event.method,
      headers: JSON.parse(event.headers) as HeaderFields,
      query: event.query,
      body: bytes,
      contentType: event.contentType,
    }
  }

  /** Attempts that run at the same time share a large body; attempts that only wait do not hold it. */
  async function readLarge(): Promise<ReceivedEvent | null> {
    try {
      const loaded = await read()
      if (loaded) large = new WeakRef(loaded)
      return loaded
    } finally {
      received = undefined
    }
  }

  function nextBatch(): Entry[] {
    const end = waiting.findIndex(({ settling }) => !settling || !canShare(settling.task))
    return waiting.splice(0, Math.max(1, Math.min(end < 0 ? waiting.length : end, MAX_OUTCOMES)))
  }

  async function write(batch: readonly Entry[]): Promise<void> {
    const settlings = batch.flatMap(({ settling }) => settling ?? [])
    const isRouted = settlings.length === 0 || settlings.some(({ task }) => task.route)
    const settled = new Set(settlings.map(({ task }) => task))
    const siblings = isRouted ? [...unstored].filter((task) => !settled.has(task)) : []
    const written = await settlement.settleAll(settlings, { event: current, siblings })
    // Read again by the next write, if this one did not say how the event is.
    current = written.event
    if (isRouted) {
      // Also if the claim was lost: after a lost response, this write has stored them.
      for (const task of unstored) task.route = undefined
      unstored.clear()
    }
    const again: Entry[] = []
    for (const [index, entry] of batch.entries()) {
      const result = written.results[index] ?? 'settled'
      // Its own task, which an earlier write may have stored, can still have the lease.
      if (isRouted && isUncertain && result === 'lease_lost') again.push(entry)
      else entry.resolve(result)
    }
    if (isRouted) isUncertain = false
    waiting.unshift(...again)
  }

  async function writeAll(): Promise<void> {
    if (isWriting) return
    isWriting = true
    while (waiting.length > 0) {
      const batch = nextBatch()
      try {
        await write(batch)
      } catch (error) {
        current = undefined
        isUncertain = unstored.size > 0
        for (const { reject } of batch) reject(error)
      }
    }
    isWriting = false
  }

  function enqueue(settling?: TaskOutcome): Promise<SettleResult> {
    return new Promise((resolve, reject) => {
      waiting.push({ settling, resolve, reject })
      void writeAll()
    })
  }

  return {
    eventType: event.eventType,
    received() {
      if (isSmall) return (received ??= read())
      const loaded = large?.deref()
      return loaded ? Promise.resolve(loaded) : (received ??= readLarge())
    },
    changed: (after) => {
      current = after
    },
    hold(tasks) {
      for (const task of tasks) unstored.add(task)
    },
    settle: (task, outcome) => enqueue({ task, outcome }),
    async store(task) {
      if (task.route && unstored.size > 1) await enqueue()
    },
  }
}

/** Later attempts may have to extend the expiry of many earlier ones, which fills a transaction. */
function canShare(task: WorkerTask): boolean {
  return task.attemptNumber === 1 && !isReplay(task)
}
