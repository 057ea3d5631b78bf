/** The versions of a key on a line of two years: when each was created, and how old the active one is. */
import { formatCount } from '../../parts/format.ts'
import type { ListedKey } from './api.ts'

const YEARS_SECONDS = 2 * 365 * 86_400
const WIDTH = 256
const EDGE = 2

export function VersionsTrack({ item, isOld }: { item: ListedKey; isOld: boolean }) {
  const versions = item.key?.versions ?? []
  const ages = versions.flatMap(({ ageSeconds, active }) =>
    ageSeconds === null ? [] : [{ x: place(ageSeconds), active }],
  )
  const active = ages.find((each) => each.active)
  const first = Math.min(WIDTH - EDGE, ...ages.map(({ x }) => x))
  const days = item.ageSeconds === null ? undefined : Math.floor(item.ageSeconds / 86_400)
  const look = item.problem !== undefined ? ' is-unreadable' : isOld ? ' is-old' : ''
  const age = days === undefined ? 'of unknown age' : `${formatCount(days, 'day')} old`
  return (
    <svg
      class={`versions${look}`}
      viewBox={`0 0 ${WIDTH} 16`}
      role="img"
      aria-label={`${formatCount(versions.length, 'version')}, the active one is ${age}`}
    >
      <line class="v-limit" x1={WIDTH / 2} x2={WIDTH / 2} y1="1" y2="15" />
      {active && (
        <>
          <line class="v-past" x1={first} x2={active.x} y1="8" y2="8" />
          <line class="v-now" x1={active.x} x2={WIDTH - EDGE} y1="8" y2="8" />
        </>
      )}
      {ages
        .filter((each) => !each.active)
        .map(({ x }, index) => (
          <circle class="v-off" cx={x} cy="8" r="3" key={index} />
        ))}
      {active && <circle class="v-on" cx={active.x} cy="8" r="4" />}
    </svg>
  )
}

function place(ageSeconds: number): number {
  const share = Math.min(1, ageSeconds / YEARS_SECONDS)
  return Math.max(6, WIDTH - EDGE - 4 - share * (WIDTH - 12))
}
