// The process of the attackers and their destination, with a lower priority than the server and the
// other tenants: on the machine that is measured they share two cores, which real attackers do not.

import { getPriority, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAccounts } from './api.ts'
import { attacks } from './attacks.ts'
import { openSink } from './sink.ts'

export interface AttackerCommands {
  /** Creates what the attack needs. */
  prepare(name: string): Promise<void>
  /** One round, which must succeed: an attack that the server rejects would measure nothing. */
  check(name: string): Promise<void>
  /** Parallel rounds. They may be rejected, by a rate limit for example: that is a defence. */
  attack(name: string): Promise<void>
  /** All attacks that are prepared, again and again. */
  mix(seconds: number): Promise<void>
}

export interface AttackerRequest {
  id: number
  command: keyof AttackerCommands
  argument: never
}

const PRIORITY_STEP = 10
setPriority(Math.min(19, getPriority() + PRIORITY_STEP))

const url = process.argv[2] ?? ''
const sink = await openSink()
const target = { url, sink, account: createAccounts(url, 'attacker', sink.url('/attack')) }
const rounds = new Map<string, () => Promise<unknown>>()

function attackNamed(name: string) {
  const attack = attacks.find((each) => each.name === name)
  if (!attack) throw new Error(`No such attack: ${name}`)
  return attack
}

function roundOf(name: string): () => Promise<unknown> {
  const round = rounds.get(name)
  if (!round) throw new Error(`Not prepared: ${name}`)
  return round
}

const commands: AttackerCommands = {
  async prepare(name) {
    rounds.set(name, await attackNamed(name).prepare(target))
  },
  async check(name) {
    await roundOf(name)()
  },
  async attack(name) {
    const { parallel } = attackNamed(name)
    await Promise.all(Array.from({ length: parallel }, () => attempt(roundOf(name))))
  },
  async mix(seconds) {
    const endsAt = performance.now() + seconds * 1000
    const running = [...rounds].flatMap(([name, round]) => {
      const { parallel, pauseMs } = attackNamed(name)
      return Array.from({ length: parallel }, () => repeatUntil(endsAt, pauseMs, round))
    })
    await Promise.all(running)
  },
}

async function repeatUntil(endsAt: number, pauseMs: number, round: () => Promise<unknown>) {
  while (performance.now() < endsAt) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other is the point
    await attempt(round)
    // oxlint-disable-next-line no-await-in-loop -- one after the other is the point
    await sleep(pauseMs)
  }
}

async function attempt(round: () => Promise<unknown>): Promise<void> {
  try {
    await round()
  } catch {
    // The figures show whether anybody noticed.
  }
}

process.on('message', ({ id, command, argument }: AttackerRequest) => {
  commands[command](argument).then(
    () => process.send?.({ id }),
    (error: unknown) => process.send?.({ id, problem: String(error) }),
  )
})
process.on('disconnect', () => process.exit())
process.send?.({ id: 0 })
