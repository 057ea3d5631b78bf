// The parent's side of a worker process.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Case } from './cases.ts'
import type { Measurement } from './measure.ts'
import type { SystemName } from './systems/open.ts'
import type { Opened, Order } from './worker.ts'

const WORKER = fileURLToPath(new URL('worker.js', import.meta.url))

export class WorkerProcess {
  readonly name: SystemName
  readonly opened: Opened
  readonly #child: ChildProcess

  private constructor(name: SystemName, child: ChildProcess, opened: Opened) {
    this.name = name
    this.#child = child
    this.opened = opened
  }

  /** Opens a system on a directory for `count` items, which may still have to be loaded. */
  static async start(name: SystemName, directory: string, count: number): Promise<WorkerProcess> {
    const child = fork(WORKER, [name, directory, `${count}`])
    return new WorkerProcess(name, child, (await answerOf(child)) as Opened)
  }

  async load(count: number): Promise<void> {
    await this.#ask({ do: 'load', count })
  }

  /** Undefined if the system lacks the operation. */
  async measure(
    what: Case,
    concurrency: number,
    milliseconds: number,
  ): Promise<Measurement | undefined> {
    const order: Order = { do: 'measure', what, concurrency, milliseconds }
    return (await this.#ask(order)) as Measurement | undefined
  }

  async memoryMb(): Promise<number> {
    return (await this.#ask({ do: 'memory' })) as number
  }

  async close(): Promise<void> {
    if (!this.opened.available) {
      this.#child.disconnect()
      return
    }
    const exit = once(this.#child, 'exit')
    await this.#ask({ do: 'close' })
    await exit
  }

  #ask(order: Order): Promise<unknown> {
    const answer = answerOf(this.#child)
    this.#child.send(order)
    return answer
  }
}

function answerOf(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => {
      reject(new Error(`A worker ended with code ${code}`))
    }
    child.once('exit', onExit)
    child.once('message', (message: { answer?: unknown; error?: string }) => {
      child.off('exit', onExit)
      if (message.error === undefined) resolve(message.answer)
      else reject(new Error(message.error))
    })
  })
}
