/** The filters of the audit log, which are in the address. */
import type { RefObject } from 'preact'
import { Icon } from '../../parts/icon.tsx'
import { shortId } from '../../parts/format.ts'
import { param, setQuery } from '../../router.ts'
import type { AuditEntry } from './api.ts'
import { actorName } from './audit-table.tsx'
import { actionGroups, actionWords } from './words.ts'

const DAY_MS = 86_400_000

export const LASTS = [
  { value: '24h', name: '24 hours', ms: DAY_MS },
  { value: '30d', name: '30 days', ms: 30 * DAY_MS },
  { value: '90d', name: '90 days', ms: 90 * DAY_MS },
  { value: '365d', name: '365 days', ms: 365 * DAY_MS },
] as const
export type Last = (typeof LASTS)[number]

export function Filters(props: {
  fieldRef: RefObject<HTMLSelectElement | null>
  entries: readonly AuditEntry[]
  names: ReadonlyMap<string, string>
  last: Last
}) {
  const { fieldRef, entries, names, last } = props
  const [who, action, target] = [param('who'), param('action'), param('target')]
  const actors = new Set([
    ...(who === undefined ? [] : [who]),
    ...entries.map(({ actor }) => actor),
  ])
  return (
    <form class="filters" role="search" aria-label="Filter the audit log">
      <select
        class="select filter-select"
        aria-label="What"
        ref={fieldRef}
        value={action ?? ''}
        onChange={(event) => setQuery({ action: event.currentTarget.value })}
      >
        <option value="">All actions</option>
        {actionGroups.map((group) => (
          <optgroup label={group.name} key={group.name}>
            <option value={group.pattern}>{group.name}: all</option>
            {group.actions.map((each) => (
              <option value={each} key={each}>
                {actionWords(each)}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
      <select
        class="select filter-select"
        aria-label="Who"
        value={who ?? ''}
        onChange={(event) => setQuery({ who: event.currentTarget.value })}
      >
        <option value="">Everybody</option>
        {[...actors].map((actor) => (
          <option value={actor} key={actor}>
            {actorName(actor, names)}
          </option>
        ))}
      </select>
      <select
        class="select filter-select"
        aria-label="When"
        value={last.value}
        onChange={(event) => setQuery({ last: event.currentTarget.value })}
      >
        {LASTS.map(({ value, name }) => (
          <option value={value} key={value}>
            Last {name}
          </option>
        ))}
      </select>
      {target !== undefined && (
        <span class="token">
          <span class="token-text">
            target <b>is</b> {names.get(target) ?? shortId(target)}
          </span>
          <button
            type="button"
            aria-label="Remove filter target"
            onClick={() => setQuery({ target: undefined })}
          >
            <Icon name="close" />
          </button>
        </span>
      )}
    </form>
  )
}
