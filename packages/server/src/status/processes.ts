/** The servers and workers of a deployment, as their figures show them. */
import { decodeHour, type FiguresItem } from '../figures/item.ts'

/** They write every minute, so one that missed three has stopped or cannot reach the store. */
export const MISSING_AFTER_MS = 180_000

export interface ProcessStatus {
  role: FiguresItem['role']
  host: string
  pid: number
  version: string
  startedAt: number
  seenAt: number
  isMissing: boolean
  /** Deliveries that it has queued or is attempting. */
  inHand: number
}

/** Without those that ended, or that another one on the same machine has replaced. */
export function toProcesses(items: readonly FiguresItem[], now: number): ProcessStatus[] {
  return items
    .filter((item) => item.endedAt === undefined && !isReplaced(item, items))
    .map((item) => ({
      role: item.role,
      host: item.host,
      pid: item.pid,
      version: item.version,
      startedAt: Date.parse(item.startedAt),
      seenAt: Date.parse(item.writtenAt),
      isMissing: isMissing(item, now),
      inHand: isMissing(item, now) ? 0 : inHandOf(item),
    }))
    .toSorted((a, b) => Number(b.isMissing) - Number(a.isMissing) || a.startedAt - b.startedAt)
}

function isMissing({ writtenAt }: FiguresItem, now: number): boolean {
  return now - Date.parse(writtenAt) > MISSING_AFTER_MS
}

/** A supervisor restarts what crashed, with another process id. */
function isReplaced(item: FiguresItem, all: readonly FiguresItem[]): boolean {
  return all.some(
    ({ role, host, startedAt }) =>
      role === item.role && host === item.host && startedAt > item.writtenAt,
  )
}

function inHandOf(item: FiguresItem): number {
  const gauge = decodeHour(item).gauges['strongroom_ferryhook_deliveries_in_hand']
  return gauge?.findLast((value) => value !== null) ?? 0
}
