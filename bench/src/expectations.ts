// The first paragraph of docs/performance.md: what a user can expect, in plain words.

import { availableParallelism, cpus } from 'node:os'
import { whole } from './report.ts'
import type { Expectations, Result } from './result.ts'

export function expectationLines(results: readonly Result[]): string[] {
  const all: Expectations = Object.assign({}, ...results.map(({ expectations }) => expectations))
  const sentences = [
    ferryhook(all),
    sealed(all),
    overload(all),
    start(all),
    idle(all),
    disk(all),
  ].filter((sentence) => sentence !== undefined)
  if (sentences.length === 0) return []
  const [cpu] = cpus()
  const model = cpu === undefined || cpu.model.trim() === '' ? '' : ` (${cpu.model.trim()})`
  const where = `These figures are from a machine with ${availableParallelism()} cores${model}; a server of your own will differ.`
  return [[...sentences, where].join(' '), '']
}

function ferryhook({
  webhooksReceivedPerCpuSecond: received,
  webhooksReceivedAndDeliveredPerCpuSecond: delivered,
}: Expectations): string | undefined {
  if (received === undefined || delivered === undefined) return undefined
  return `With one core, Ferryhook receives about ${rounded(received)} webhooks of 1 KB per second, each on disk before the sender gets its response, or receives and delivers about ${rounded(delivered)}.`
}

function sealed({
  secretsCreatedPerCpuSecond: created,
  secretsReadPerCpuSecond: read,
}: Expectations): string | undefined {
  if (created === undefined || read === undefined) return undefined
  return `Sealed creates about ${rounded(created)} secrets of 1 KB per second with one core, or opens ${rounded(read)}.`
}

function overload({
  saturationPerSecond: saturation,
  overloadP99Ms: accepted,
  refusalP99Ms: refused,
}: Expectations): string | undefined {
  if (saturation === undefined || accepted === undefined) return undefined
  const others =
    refused === undefined
      ? 'none is refused'
      : `the others are refused within ${duration(refused)} and told when to retry`
  return `If senders offer five times what a server can take (here ${rounded(saturation)} per second), 99 % of the accepted webhooks get their response within ${duration(accepted)}; ${others}.`
}

function start({ secondStartMs: ms }: Expectations): string | undefined {
  return ms === undefined ? undefined : `A server starts in ${duration(ms)}.`
}

function idle({ idleCpuPercent: cpu, idleMemoryMb: memory }: Expectations): string | undefined {
  if (cpu === undefined || memory === undefined) return undefined
  return `While idle, it uses ${whole(memory)} MB of memory and ${cpu.toFixed(1)} % of a core.`
}

function disk({ kilobytesPerEvent: kilobytes }: Expectations): string | undefined {
  if (kilobytes === undefined) return undefined
  return `A million delivered webhooks take ${kilobytes.toFixed(1)} GB on disk.`
}

/** Two digits: more would promise too much. */
function rounded(value: number): string {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1)
  return whole(Math.round(value / step) * step)
}

function duration(ms: number): string {
  return ms < 1000 ? `${rounded(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}
