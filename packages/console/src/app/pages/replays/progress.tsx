/** How far a replay job is. */
import { formatPercent } from '../../parts/format.ts'
import type { Replay } from './api.ts'

export function ReplayProgress({ replay }: { replay: Replay }) {
  const { progress, state } = replay
  const percent = formatPercent(progress, 0)
  return (
    <div class="progress-line">
      <div
        class="progress"
        role="progressbar"
        aria-label={`Replay of ${replay.sourceName ?? replay.sourceId}`}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(progress * 100)}
      >
        <svg class="meter" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
          <rect
            class={state === 'cancelled' ? 'is-mute-fill' : undefined}
            width={progress * 100}
            height="8"
          />
        </svg>
      </div>
      <span class="num small">{percent}</span>
    </div>
  )
}

/** The filter of a job in words: "Failed events of type invoice.*". */
export function describeFilter({ status, type, header, body }: Replay): string {
  const kind =
    status === null
      ? 'All events'
      : `${status.charAt(0).toUpperCase()}${status.slice(1).replace('_', ' ')} events`
  const parts = [
    type !== null && `of type ${type}`,
    header !== null && `with the header ${header}`,
    body !== null && `that contain “${body}”`,
  ]
  return [kind, ...parts.filter(Boolean)].join(' ')
}
