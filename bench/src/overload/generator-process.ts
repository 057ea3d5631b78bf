// The parent's side of the load generator.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { pinned } from './cores.ts'
import type { Load, LoadOrder } from './generator.ts'

const GENERATOR = fileURLToPath(new URL('overload/generator.js', import.meta.url))

export class Generator {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(url: string, path: string, core: number): Promise<Generator> {
    const { port } = new URL(url)
    const [program, ...args] = pinned(core, [process.execPath, GENERATOR, port, path])
    const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    await answerOf(child)
    return new Generator(child)
  }

  async run(order: LoadOrder): Promise<Load> {
    const answer = answerOf(this.#child)
    this.#child.send(order)
    return (await answer) as Load
  }

  async close(): Promise<void> {
    const exit = once(this.#child, 'exit')
    this.#child.disconnect()
    await exit
  }
}

function answerOf(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => {
      reject(new Error(`The load generator ended with code ${code}`))
    }
    child.once('exit', onExit)
    child.once('message', (message) => {
      child.off('exit', onExit)
      resolve(message)
    })
  })
}
