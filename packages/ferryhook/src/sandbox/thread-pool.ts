/**
 * A few worker threads for what must not hold up the event loop, or must be stopped when it takes
 * too long. A thread does one job at a time; a thread that dies or hangs is replaced, and only the
 * job it had is lost.
 */
import { Worker } from 'node:worker_threads'
import { fairQueue, type QueueLimits } from './fair-queue.ts'

export interface ThreadPool<Job, Answer> {
  /** Owners take turns, and none gets more threads or places in the queue than is its share. */
  run(job: Job, owner?: string): Promise<Answer>
  close(): Promise<void>
}

export interface ThreadPoolOptions {
  /** The text of a `?thread` module, asked for with the first job. */
  code: () => Promise<string>
  threads: number
  threadsPerOwner: number
  queue: QueueLimits
  /** Milliseconds after which a thread with a job counts as hung. */
  patience: number
  after?: After
}

/** Does something after some milliseconds, unless it is called off. */
export type After = (milliseconds: number, act: () => void) => () => void

export type ThreadFailure = 'overloaded' | 'unresponsive' | 'crashed' | 'closed'

export class ThreadFailed extends Error {
  override readonly name = 'ThreadFailed'
  readonly failure: ThreadFailure

  constructor(failure: ThreadFailure, cause?: unknown) {
    super(`A job of a thread was not done: ${failure}`, { cause })
    this.failure = failure
  }
}

interface Task {
  job: unknown
  owner: string
  resolve(answer: unknown): void
  reject(error: ThreadFailed): void
}

interface Thread {
  worker: Worker
  isReady: boolean
  task?: Task | undefined
  stopWatch?: (() => void) | undefined
}

export function createThreadPool<Job, Answer>(options: ThreadPoolOptions): ThreadPool<Job, Answer> {
  const { after = afterTime, patience } = options
  const threads = new Set<Thread>()
  const queue = fairQueue<Task>(options.queue)
  let loading: Promise<string> | undefined
  let code = ''
  let isClosed = false

  function start(): Thread {
    const worker = new Worker(code, {
      eval: true,
      // Nothing of the server's: no settings, no flags.
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
      watch(thread)
    })
    return thread
  }

  function begin(thread: Thread, task: Task) {
    thread.task = task
    // Only a thread with a job keeps the process from ending.
    thread.worker.ref()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window, a thread
    thread.worker.postMessage(task.job)
    watch(thread)
  }

  function watch(thread: Thread) {
    if (!thread.isReady || !thread.task) return
    thread.stopWatch = after(patience, () => end(thread, 'unresponsive'))
  }

  function finish(thread: Thread, answer: unknown) {
    const { task } = thread
    thread.stopWatch?.()
    thread.task = undefined
    thread.worker.unref()
    task?.resolve(answer)
    next()
  }

  function end(thread: Thread, failure: ThreadFailure, cause?: unknown) {
    if (!threads.delete(thread)) return
    thread.stopWatch?.()
    thread.task?.reject(new ThreadFailed(failure, cause))
    void thread.worker.terminate()
    next()
  }

  function next() {
    for (;;) {
      const idle = [...threads].find(({ task }) => !task)
      if (isClosed || (!idle && threads.size >= options.threads)) return
      const task = queue.take((owner) => running(owner) < options.threadsPerOwner)
      if (!task) return
      begin(idle ?? start(), task)
    }
  }

  function running(owner: string): number {
    return [...threads].filter(({ task }) => task?.owner === owner).length
  }

  return {
    async run(job, owner = '') {
      loading ??= options.code()
      code = await loading
      if (isClosed) throw new ThreadFailed('closed')
      return new Promise<Answer>((resolve, reject) => {
        const task: Task = { job, owner, resolve, reject }
        if (!queue.add(owner, task)) reject(new ThreadFailed('overloaded'))
        next()
      })
    },

    async close() {
      isClosed = true
      const waiting = queue.takeAll()
      const ending = [...threads]
      threads.clear()
      for (const { task, stopWatch } of ending) {
        stopWatch?.()
        if (task) waiting.push(task)
      }
      for (const { reject } of waiting) reject(new ThreadFailed('closed'))
      await Promise.all(ending.map(({ worker }) => worker.terminate()))
    },
  }
}

const afterTime: After = (milliseconds, act) => {
  const timer = setTimeout(act, milliseconds)
  return () => clearTimeout(timer)
}
