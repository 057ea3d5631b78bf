// Starts the process of the attackers and tells it what to do.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { AttackerCommands } from './attacker.ts'

const ATTACKER = fileURLToPath(new URL('attacker.js', import.meta.url))

export interface Attacker extends AttackerCommands {
  close(): Promise<void>
}

export async function startAttacker(url: string): Promise<Attacker> {
  const child = fork(ATTACKER, [url])
  const pending = new Map<number, (problem: string | undefined) => void>()
  let last = 0
  child.on('message', ({ id, problem }: { id: number; problem?: string }) => {
    pending.get(id)?.(problem)
    pending.delete(id)
  })
  child.on('exit', () => {
    for (const done of pending.values()) done('The attackers stopped')
  })
  await once(child, 'message')

  function call(command: keyof AttackerCommands, argument: string | number): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const id = ++last
      pending.set(id, (problem) => (problem === undefined ? resolve() : reject(new Error(problem))))
      child.send({ id, command, argument })
    })
  }

  return {
    prepare: (name) => call('prepare', name),
    check: (name) => call('check', name),
    attack: (name) => call('attack', name),
    mix: (seconds) => call('mix', seconds),
    async close() {
      const exit = once(child, 'exit')
      child.kill()
      await exit
    },
  }
}
