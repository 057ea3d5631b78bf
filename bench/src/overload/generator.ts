// The load generator in its own process, which is pinned to a core of its own. Sends webhooks either as fast
// as responses come (closed loop), or at a steady rate whatever the responses (open loop). Usage: <port> <path>.

import { setTimeout as pause } from 'node:timers/promises'
import { percentile } from '../ferryhook/latency.ts'
import { webhook } from '../ferryhook/webhook.ts'
import { Connection, type Response } from './connection.ts'

export interface LoadOrder {
  /** Requests per second; undefined for a closed loop. */
  rate?: number
  /** In use at the same time. */
  connections: number
  seconds: number
  /** At the beginning, not counted. */
  rampSeconds: number
}

export interface Load {
  /** Requests per second. */
  offered: number
  accepted: number
  refused: number
  /** From the scheduled time to the response, in milliseconds; of a closed loop from sending. */
  acceptedP50: number
  acceptedP99: number
  /** Undefined if nothing was refused. */
  refusedP99: number | undefined
  /** Refusals without a Retry-After. */
  withoutRetryAfter: number
  /** Requests that ended without a response, or had none when the run ended. */
  unanswered: number
  /** Other responses. */
  unexpected: number
  /** How late the generator itself was. */
  lagP99: number
}

/** Responses that come later do not count as responses. */
const GRACE_MS = 15_000
const BODIES = 500

const [port = '', path = ''] = process.argv.slice(2)
const requests = Array.from({ length: BODIES }, (_, number) => requestBytes(webhook(number)))

process.on('message', (order: LoadOrder) => {
  generate(order).then(
    (load) => process.send!(load),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    },
  )
})
process.on('disconnect', () => process.exit(0))
process.send!('ready')

function requestBytes(body: string): Buffer {
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

async function generate(order: LoadOrder): Promise<Load> {
  const recorder = new Recorder(order)
  const pool = new Pool(order.connections, recorder)
  const end = recorder.start + 1000 * order.seconds
  if (order.rate === undefined) {
    pool.refill = () => performance.now() < end
    for (let n = 0; n < order.connections; n++) pool.request(performance.now())
    await pause(1000 * order.seconds)
  } else {
    const interval = 1000 / order.rate
    let due = recorder.start
    for (let now = performance.now(); due < end; now = performance.now()) {
      for (; due <= now && due < end; due += interval) {
        recorder.offer(due, now)
        pool.request(due)
      }
      // A timer of a millisecond is the shortest.
      // oxlint-disable-next-line no-await-in-loop
      await pause(1)
    }
  }
  await pool.drain(GRACE_MS)
  return recorder.load()
}

/** What counts are the requests that were due after the ramp, and the responses between ramp and end. */
class Recorder {
  readonly start = performance.now()
  readonly #from: number
  readonly #end: number
  readonly #isOpenLoop: boolean
  readonly #accepted: number[] = []
  readonly #refused: number[] = []
  readonly #lags: number[] = []
  #offered = 0
  #acceptedInTime = 0
  #refusedInTime = 0
  #withoutRetryAfter = 0
  #unanswered = 0
  #unexpected = 0

  constructor({ rampSeconds, seconds, rate }: LoadOrder) {
    this.#from = this.start + 1000 * rampSeconds
    this.#end = this.start + 1000 * seconds
    this.#isOpenLoop = rate !== undefined
  }

  offer(due: number, now: number): void {
    if (due < this.#from) return
    this.#offered++
    this.#lags.push(now - due)
  }

  note(due: number, response: Response | undefined): void {
    const now = performance.now()
    const isInTime = now >= this.#from && now < this.#end
    if (response?.status === 200 && isInTime) this.#acceptedInTime++
    if (response?.status === 503 && isInTime) this.#refusedInTime++
    if (due < this.#from) return
    if (!this.#isOpenLoop) this.#offered++
    if (response === undefined) {
      this.#unanswered++
      // It waited at least this long.
      this.#accepted.push(now - due)
    } else if (response.status === 200) {
      this.#accepted.push(now - due)
    } else if (response.status === 503) {
      this.#refused.push(now - due)
      if (!response.hasRetryAfter) this.#withoutRetryAfter++
    } else this.#unexpected++
  }

  load(): Load {
    const seconds = (this.#end - this.#from) / 1000
    return {
      offered: this.#offered / seconds,
      accepted: this.#acceptedInTime / seconds,
      refused: this.#refusedInTime / seconds,
      acceptedP50: percentile(this.#accepted, 50),
      acceptedP99: percentile(this.#accepted, 99),
      refusedP99: this.#refused.length === 0 ? undefined : percentile(this.#refused, 99),
      withoutRetryAfter: this.#withoutRetryAfter,
      unanswered: this.#unanswered,
      unexpected: this.#unexpected,
      lagP99: this.#lags.length === 0 ? 0 : percentile(this.#lags, 99),
    }
  }
}

/** Opens connections as they are needed. Requests that find none wait, and their waiting counts. */
class Pool {
  /** Whether a connection sends another request after a response. */
  refill: () => boolean = () => false
  readonly #max: number
  readonly #recorder: Recorder
  readonly #all = new Set<Connection>()
  readonly #idle: Connection[] = []
  readonly #running = new Set<number[]>()
  #waiting: number[] = []
  #nextWaiting = 0
  #sent = 0

  constructor(max: number, recorder: Recorder) {
    this.#max = max
    this.#recorder = recorder
  }

  request(due: number): void {
    const connection = this.#free()
    if (connection === undefined) this.#waiting.push(due)
    else this.#send(connection, due)
  }

  async drain(ms: number): Promise<void> {
    const end = performance.now() + ms
    // oxlint-disable-next-line no-await-in-loop -- until all have a response
    while (this.#running.size > 0 && performance.now() < end) await pause(20)
    const unanswered = [...this.#running].flat()
    for (const connection of this.#all) connection.close()
    for (const due of unanswered) this.#recorder.note(due, undefined)
    for (const due of this.#waiting.slice(this.#nextWaiting)) this.#recorder.note(due, undefined)
  }

  #free(): Connection | undefined {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (idle.isOpen) return idle
    }
    if (this.#all.size >= this.#max) return undefined
    const connection = new Connection(Number(port), (closed) => this.#all.delete(closed))
    this.#all.add(connection)
    return connection
  }

  #send(connection: Connection, due: number): void {
    const running = [due]
    this.#running.add(running)
    connection.send(requests[this.#sent++ % BODIES]!, (response) => {
      this.#running.delete(running)
      this.#recorder.note(due, response)
      if (response !== undefined && connection.isOpen) this.#idle.push(connection)
      this.#next()
    })
  }

  #next(): void {
    if (this.refill()) return this.request(performance.now())
    const due = this.#waiting[this.#nextWaiting]
    if (due === undefined) return
    const connection = this.#free()
    if (connection === undefined) return
    this.#nextWaiting++
    if (this.#nextWaiting > 10_000) {
      this.#waiting = this.#waiting.slice(this.#nextWaiting)
      this.#nextWaiting = 0
    }
    this.#send(connection, due)
  }
}
