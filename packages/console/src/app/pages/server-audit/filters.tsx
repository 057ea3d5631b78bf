/** The filters of the audit log, which are in the address. */
import type { RefObject } from 'preact'
import { Icon } from '../../parts/icon.tsx'
import { param, setQuery } from '../../router.ts'

const DAY_MS = 86_400_000

export const LASTS = [
  { value: '24h', name: '24 hours', ms: DAY_MS },
  { value: '30d', name: '30 days', ms: 30 * DAY_MS },
  { value: '90d', name: '90 days', ms: 90 * DAY_MS },
  { value: '365d', name: '365 days', ms: 365 * DAY_MS },
] as const
type Last = (typeof LASTS)[number]

export function chosenLast(): Last {
  return LASTS.find(({ value }) => value === param('last')) ?? LASTS[1]
}

const NAMES = { who: 'who', action: 'action', target: 'target' } as const
type Name = keyof typeof NAMES

/** `action:server.operator.added`, `who:operator:ann`, or an action, an actor or a target by itself. */
function parseFilter(text: string): { name: Name; value: string } | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  const [, named, rest] = /^(who|action|target):(.+)$/.exec(trimmed) ?? []
  if (named !== undefined && rest !== undefined) return { name: named as Name, value: rest.trim() }
  if (/^(?:operator|local):/.test(trimmed)) return { name: 'who', value: trimmed }
  const isAction = /^(?:server|kms|sealed|ferryhook|form-bridge|key-store|two-key)\.[\w.-]+$/
  return { name: isAction.test(trimmed) ? 'action' : 'target', value: trimmed }
}

export function Filters({ fieldRef }: { fieldRef: RefObject<HTMLInputElement | null> }) {
  const apply = () => {
    const input = fieldRef.current
    const filter = parseFilter(input?.value ?? '')
    if (!input || !filter) return
    input.value = ''
    setQuery({ [filter.name]: filter.value })
  }
  return (
    <form
      class="filters filters-wrap"
      role="search"
      aria-label="Filter the audit log"
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
    >
      <div class="query">
        <Icon name="search" />
        {(Object.keys(NAMES) as Name[]).map((name) => {
          const value = param(name)
          return (
            value !== undefined && (
              <span class="token" key={name}>
                <span class="token-text">
                  {name} <b>is</b> {value}
                </span>
                <button
                  type="button"
                  aria-label={`Remove filter ${name}`}
                  onClick={() => setQuery({ [name]: undefined })}
                >
                  <Icon name="close" />
                </button>
              </span>
            )
          )
        })}
        <input
          ref={fieldRef}
          type="text"
          aria-label="Add a filter"
          placeholder="Filter by who, action or target, such as operator:ann"
        />
        <kbd>/</kbd>
      </div>
      <select
        class="select filter-select"
        aria-label="When"
        value={chosenLast().value}
        onChange={(event) => setQuery({ last: event.currentTarget.value })}
      >
        {LASTS.map(({ value, name }) => (
          <option value={value} key={value}>
            Last {name}
          </option>
        ))}
      </select>
    </form>
  )
}
