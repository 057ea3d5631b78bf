/**
 * A few worker threads for jobs that would block the event loop, or must be stopped when they take
 * too long. A thread runs one job at a time. A thread that dies or hangs is replaced, and only its
 * current job fails.
 */
import { Worker } from 'node:worker_threads'
import type { Clock } from '@strongroom/platform/clock'
import { startTimer as systemTimer, type StartTimer } from '@strongroom/platform/timers'
import { type BackOffOptions, createBackOff } from './back-off.ts'
import { createFairQueue, type QueueLimits } from './fair-queue.ts'

export interface ThreadPool<Job, Result> {
  /** Owners take turns, and none gets more than its share of threads and queue places. */
  run(job: Job, owner?: string): Promise<JobResult<Result>>
  close(): Promise<void>
}

export interface ThreadPoolOptions {
  /** Loads the text of a `?thread` module, with the first job. */
  code: () => Promise<string>
  threads: number
  threadsPerOwner: number
  queue: QueueLimits
  /** A thread that takes longer for a job counts as hung. */
  timeoutMs: number
  /** Additional threads while others are occupied by one job for longer than `slowMs`. */
  spare?: { threads: number; slowMs: number }
  /** For owners whose threads were killed. All suspects together never occupy all threads. */
  backOff?: BackOffOptions & { clock: Clock }
  startTimer?: StartTimer
  /** Tests replace threads. */
  startThread?: (code: string) => ThreadHandle
}

/** What the pool uses of a worker thread. */
export type ThreadHandle = Pick<Worker, 'on' | 'postMessage' | 'ref' | 'unref' | 'terminate'>

export type ThreadFailure = 'overloaded' | 'backed_off' | 'unresponsive' | 'crashed' | 'closed'

/** `failed`: the thread could not run the job, or was stopped. */
export type JobResult<Result> =
  | { kind: 'done'; result: Result }
  | { kind: 'failed'; failure: ThreadFailure; cause?: unknown }

interface Task {
  job: unknown
  owner: string
  resolve(result: JobResult<unknown>): void
}

interface Thread {
  worker: ThreadHandle
  isReady: boolean
  /** Whether its job has run for long. */
  isSlow: boolean
  task?: Task | undefined
  cancelTimeout?: (() => void) | undefined
}

export function createThreadPool<Job, Result>(options: ThreadPoolOptions): ThreadPool<Job, Result> {
  const { startTimer = systemTimer, timeoutMs, spare, startThread = startWorker } = options
  const backOff = options.backOff && createBackOff(options.backOff.clock, options.backOff)
  const threads = new Set<Thread>()
  const queue = createFairQueue<Task>(options.queue)
  let loading: Promise<string> | undefined
  let code = ''
  let isClosed = false

  function start(): Thread {
    const worker = startThread(code)
    const thread: Thread = { worker, isReady: false, isSlow: false }
    threads.add(thread)
    let cause: unknown
    worker.on('error', (error) => (cause = error))
    worker.on('exit', () => end(thread, 'crashed', cause))
    worker.on('message', (message: unknown) => {
      if (thread.isReady) return finish(thread, message)
      thread.isReady = true
      startTimeout(thread)
    })
    return thread
  }

  function assign(thread: Thread, task: Task) {
    thread.task = task
    // Only a thread with a job keeps the process alive.
    thread.worker.ref()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window, a thread
    thread.worker.postMessage(task.job)
    startTimeout(thread)
  }

  function startTimeout(thread: Thread) {
    if (!thread.isReady || !thread.task) return
    const cancelEnd = startTimer(timeoutMs, () => end(thread, 'unresponsive'))
    const cancelSlow = spare && startTimer(spare.slowMs, () => markSlow(thread))
    thread.cancelTimeout = () => {
      cancelEnd()
      cancelSlow?.()
    }
  }

  function markSlow(thread: Thread) {
    thread.isSlow = true
    runNext()
  }

  function finish(thread: Thread, result: unknown) {
    const { task } = thread
    thread.cancelTimeout?.()
    thread.task = undefined
    thread.isSlow = false
    thread.worker.unref()
    task?.resolve({ kind: 'done', result })
    runNext()
    if (!thread.task && threads.size > options.threads) end(thread, 'closed')
  }

  function end(thread: Thread, failure: ThreadFailure, cause?: unknown) {
    if (!threads.delete(thread)) return
    thread.cancelTimeout?.()
    const { task } = thread
    task?.resolve({ kind: 'failed', failure, cause })
    void thread.worker.terminate()
    // A thread that never became ready says nothing about the job.
    if (task && backOff && thread.isReady) {
      backOff.report(task.owner)
      for (const { resolve } of queue.takeAllOf(task.owner)) {
        resolve({ kind: 'failed', failure: 'backed_off' })
      }
    }
    runNext()
  }

  function runNext() {
    for (;;) {
      const idle = [...threads].find(({ task }) => !task)
      if (isClosed || (!idle && threads.size >= maxThreads())) return
      const task = queue.take(canRun)
      if (!task) return
      assign(idle ?? start(), task)
    }
  }

  function maxThreads(): number {
    const slow = [...threads].filter(({ isSlow }) => isSlow).length
    return options.threads + Math.min(slow, spare?.threads ?? 0)
  }

  function canRun(owner: string): boolean {
    const running = [...threads].flatMap(({ task }) => (task ? [task.owner] : []))
    if (running.filter((each) => each === owner).length >= options.threadsPerOwner) return false
    if (!backOff?.isSuspect(owner)) return true
    const suspects = running.filter((each) => backOff.isSuspect(each)).length
    return suspects < Math.max(1, options.threads - 1)
  }

  return {
    async run(job, owner = '') {
      loading ??= options.code()
      code = await loading
      if (isClosed) return { kind: 'failed', failure: 'closed' }
      if (backOff?.isBackedOff(owner)) return { kind: 'failed', failure: 'backed_off' }
      return new Promise<JobResult<Result>>((resolve) => {
        const task: Task = { job, owner, resolve: resolve as Task['resolve'] }
        if (!queue.add(owner, task)) resolve({ kind: 'failed', failure: 'overloaded' })
        runNext()
      })
    },

    async close() {
      isClosed = true
      const unfinished = queue.takeAll()
      const ending = [...threads]
      threads.clear()
      for (const { task, cancelTimeout } of ending) {
        cancelTimeout?.()
        if (task) unfinished.push(task)
      }
      for (const { resolve } of unfinished) resolve({ kind: 'failed', failure: 'closed' })
      await Promise.all(ending.map(({ worker }) => worker.terminate()))
    },
  }
}

function startWorker(code: string): ThreadHandle {
  return new Worker(code, {
    eval: true,
    // Threads get none of the server's settings and flags.
    env: {},
    argv: [],
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
  })
}
