// Latency from sending an event to its delivery: one event at a time without other load, and at a steady
// rate that does not wait for deliveries.

import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import type { Caller } from '../http/call.ts'
import type { Sink } from './sink.ts'
import { webhook } from './webhook.ts'

export interface Latency {
  /** Events each second. */
  rate: number
  p50: number
  p99: number
}

export interface Way {
  caller: Caller
  path: string
  sink: Sink
}

const IDLE_MS = 20

export async function idleLatency({ caller, path, sink }: Way, count: number): Promise<number[]> {
  const times: number[] = []
  for (let number = 0; number < count; number++) {
    sink.forget()
    const sent = performance.now()
    // oxlint-disable-next-line no-await-in-loop -- one after the other is what idle means
    await Promise.all([send(caller, path, number), sink.until(1)])
    times.push((sink.timeOf(number) ?? Number.NaN) - sent)
    // oxlint-disable-next-line no-await-in-loop
    await pause(IDLE_MS)
  }
  return times
}

export async function latencyAt(way: Way, rate: number, seconds: number): Promise<Latency> {
  const { caller, path, sink } = way
  const count = Math.round(rate * seconds)
  const sent: number[] = []
  const answers: Promise<void>[] = []
  sink.forget()
  const start = performance.now()
  for (let number = 0; number < count; number++) {
    const due = start + (1000 * number) / rate
    // oxlint-disable-next-line no-await-in-loop -- each at its time
    if (due > performance.now()) await pause(due - performance.now())
    // Measured from the scheduled time, so that a delayed sender does not hide latency.
    sent.push(due)
    answers.push(send(caller, path, number))
  }
  await Promise.all(answers)
  await sink.until(count)
  const times = sent.map((from, number) => (sink.timeOf(number) ?? Number.NaN) - from)
  return { rate, p50: percentile(times, 50), p99: percentile(times, 99) }
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))]!
}

async function send(caller: Caller, path: string, number: number): Promise<void> {
  const { status } = await caller.post({ path, body: webhook(number) })
  if (status !== 200) throw new Error(`Ferryhook answered ${status}`)
}
