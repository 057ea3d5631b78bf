/**
 * A few worker threads for jobs that would block the event loop, or must be stopped when they take
 * too long. A thread runs one job at a time. A thread that dies or hangs is replaced, and only its
 * current job fails.
 */
import { Worker } from 'node:worker_threads'
import { startTimer as systemTimer, type StartTimer } from '@strongroom/platform/timers'
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
  startTimer?: StartTimer
}

export type ThreadFailure = 'overloaded' | 'unresponsive' | 'crashed' | 'closed'

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
  worker: Worker
  isReady: boolean
  task?: Task | undefined
  cancelTimeout?: (() => void) | undefined
}

export function createThreadPool<Job, Result>(options: ThreadPoolOptions): ThreadPool<Job, Result> {
  const { startTimer = systemTimer, timeoutMs } = options
  const threads = new Set<Thread>()
  const queue = createFairQueue<Task>(options.queue)
  let loading: Promise<string> | undefined
  let code = ''
  let isClosed = false

  function start(): Thread {
    const worker = new Worker(code, {
      eval: true,
      // Threads get none of the server's settings and flags.
      env: {},
      argv: [],
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    })
    const thread: Thread = { worker, isReady: false }
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
    thread.cancelTimeout = startTimer(timeoutMs, () => end(thread, 'unresponsive'))
  }

  function finish(thread: Thread, result: unknown) {
    const { task } = thread
    thread.cancelTimeout?.()
    thread.task = undefined
    thread.worker.unref()
    task?.resolve({ kind: 'done', result })
    runNext()
  }

  function end(thread: Thread, failure: ThreadFailure, cause?: unknown) {
    if (!threads.delete(thread)) return
    thread.cancelTimeout?.()
    thread.task?.resolve({ kind: 'failed', failure, cause })
    void thread.worker.terminate()
    runNext()
  }

  function runNext() {
    for (;;) {
      const idle = [...threads].find(({ task }) => !task)
      if (isClosed || (!idle && threads.size >= options.threads)) return
      const task = queue.take((owner) => runningJobs(owner) < options.threadsPerOwner)
      if (!task) return
      assign(idle ?? start(), task)
    }
  }

  function runningJobs(owner: string): number {
    return [...threads].filter(({ task }) => task?.owner === owner).length
  }

  return {
    async run(job, owner = '') {
      loading ??= options.code()
      code = await loading
      if (isClosed) return { kind: 'failed', failure: 'closed' }
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
