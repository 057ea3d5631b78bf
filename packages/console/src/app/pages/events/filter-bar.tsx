/** The filter: what is chosen as tokens, a field for more, and the time. */
import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { copyText } from '../../parts/copy.tsx'
import { formatExact } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { query, setQuery } from '../../router.ts'
import { showToast } from '../../shell/toasts.tsx'
import { parseFilter, parseInput, type Period, PERIODS, TAB_STATUSES } from './filter.ts'

export interface Named {
  id: string
  name: string
}

async function copyLink(): Promise<void> {
  if (await copyText(location.href)) showToast({ text: 'Copied the link' })
}

export function FilterBar(props: {
  sources: readonly Named[]
  field: RefObject<HTMLInputElement | null>
}) {
  const filter = parseFilter(query.value)
  const text = useSignal('')
  const problem = useSignal(false)
  const nameOfSource = (id: string) => props.sources.find((each) => each.id === id)?.name ?? id
  const tokens: { name: string; verb: string; value: string }[] = []
  if (filter.source.length > 0)
    tokens.push({ name: 'source', verb: 'is', value: filter.source.map(nameOfSource).join(', ') })
  if (filter.status.length > 1)
    tokens.push({ name: 'status', verb: 'is', value: filter.status.join(', ') })
  for (const name of ['connection', 'type', 'header', 'q'] as const) {
    const value = filter[name]
    if (value === undefined) continue
    tokens.push({ name, verb: name === 'q' || name === 'header' ? 'contains' : 'is', value })
  }
  const submit = () => {
    if (text.value.trim() === '') return
    const parsed = parseInput(text.value, props.sources)
    problem.value = parsed === undefined
    if (!parsed) return
    const merged = Object.fromEntries(
      Object.entries(parsed).map(([name, value]) => {
        const before = name === 'source' ? filter.source : name === 'status' ? filter.status : []
        return [name, [...new Set([...before, value])].join(',')]
      }),
    )
    text.value = ''
    setQuery({ ...merged, event: undefined })
  }
  const range =
    filter.from === undefined
      ? PERIODS[filter.last].label
      : `${formatExact(Date.parse(filter.from), { withMs: false })} – ${filter.to ? formatExact(Date.parse(filter.to), { withMs: false }) : 'now'}`
  return (
    <form
      class="filters"
      role="search"
      aria-label="Filter events"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <div class="query">
        <Icon name="search" />
        {tokens.map(({ name, verb, value }) => (
          <span class="token" key={name}>
            <button
              type="button"
              title="Edit"
              onClick={() => {
                text.value = name === 'q' ? value : `${name}:${value}`
                setQuery({ [name]: undefined })
                props.field.current?.focus()
              }}
            >
              {name === 'q' ? 'body' : name} <b>{verb}</b> <bdi>{value}</bdi>
            </button>
            <button
              type="button"
              aria-label={`Remove filter ${name === 'q' ? 'body' : name}`}
              onClick={() => setQuery({ [name]: undefined })}
            >
              <Icon name="close" />
            </button>
          </span>
        ))}
        <input
          type="text"
          ref={props.field}
          aria-label="Add a filter"
          aria-invalid={problem.value || undefined}
          placeholder="Add a filter or search text"
          list="event-filters"
          maxLength={200}
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value
            problem.value = false
          }}
        />
        <datalist id="event-filters">
          {props.sources.map(({ id, name }) => (
            <option value={`source:${name}`} key={id} />
          ))}
          {TAB_STATUSES.map((status) => (
            <option value={`status:${status}`} key={status} />
          ))}
          <option value="header:" />
          <option value="type:" />
        </datalist>
        <kbd>/</kbd>
      </div>
      {problem.value && (
        <span class="small" role="alert">
          There is no such source or status
        </span>
      )}
      {filter.from !== undefined && (
        <span class="token">
          <button type="button">
            <Icon name="clock" /> {range}
          </button>
          <button
            type="button"
            aria-label="Remove filter time"
            onClick={() => setQuery({ from: undefined, to: undefined })}
          >
            <Icon name="close" />
          </button>
        </span>
      )}
      <select
        class="select"
        aria-label="Time"
        value={filter.last}
        onChange={(event) =>
          setQuery({ last: event.currentTarget.value, from: undefined, to: undefined })
        }
      >
        {(Object.keys(PERIODS) as Period[]).map((period) => (
          <option value={period} key={period}>
            {PERIODS[period].label}
          </option>
        ))}
      </select>
      <button
        class="hide-small button button-icon button-plain"
        type="button"
        aria-label="Copy a link to this view"
        title="Copy a link to this view"
        onClick={() => void copyLink()}
      >
        <Icon name="link" />
      </button>
    </form>
  )
}
