/** Replays of many events in words, for people. */
import { columns, counted, printable, relative } from '../for-people.ts'
import type { Replay } from './views.ts'

export function progressText({ progress, events, deliveries }: Replay): string {
  const percent = Math.round(progress * 100)
  return `${percent} %: ${counted(events.matched, 'event')} found, ${replayed(deliveries)}`
}

export function outcomeText({ state, events, deliveries }: Replay): string {
  const leftOut = [
    deliveries.runOpen > 0 ? `${deliveries.runOpen} still under way` : '',
    events.unverified > 0 ? `${events.unverified} with a wrong signature` : '',
    events.gone > 0 ? `${events.gone} expired` : '',
  ].filter((each) => each !== '')
  return [
    state === 'cancelled' ? 'Cancelled before the end: ' : '',
    `${counted(events.matched, 'event')} found, ${replayed(deliveries)}\n`,
    leftOut.length === 0 ? '' : `Left out: ${leftOut.join(', ')}\n`,
  ].join('')
}

export function replaysText(replays: readonly Replay[], now: number): string {
  if (replays.length === 0) return 'There are no replays of the last 30 days\n'
  const head = ['ID', 'STARTED', 'SOURCE', 'STATUS', 'STATE', 'EVENTS', 'DELIVERIES']
  const rows = replays.map(
    ({ id, createdAt, sourceId, status, state, progress, events, deliveries }) => [
      id,
      relative(createdAt, now),
      sourceId,
      printable(status ?? 'any'),
      state === 'running' ? `running, ${Math.round(progress * 100)} %` : state,
      String(events.matched),
      String(deliveries.replayed),
    ],
  )
  return columns([head, ...rows])
}

function replayed({ replayed: number }: Replay['deliveries']): string {
  return `${counted(number, 'delivery', 'deliveries')} made again`
}
